#include <algorithm>
#include <cmath>
#include <map>
#include <tessera.hpp>
#include <vector>

using tessera::Input, tessera::Output;

namespace {

// Rows first .. last - 1 of the matrix, compressed; columns are numbers of cells. In one block of bytes: this, then the beginnings of the rows,
// then columns, then values.
struct Head {
  long first, rows, entries;
};

struct Rows {
  const Head *head;
  const long *begin, *column;
  const double *value;
  explicit Rows(const Input &a) {
    const auto bytes = a.bytes();
    head = reinterpret_cast<const Head *>(bytes.data());
    begin = reinterpret_cast<const long *>(head + 1);
    column = begin + head->rows + 1;
    value = reinterpret_cast<const double *>(column + head->entries);
  }
};

long first_row(int side, int part, int parts) { return long(side) * part / parts * side; }

// Half of the plate conducts a hundred times better.
double conductivity(int i, int j, int side) { return i + j < side ? 1 : 100; }
double between(double a, double b) { return 2 * a * b / (a + b); }

}  // namespace

extern "C" {

void matrix_rows(int side, int part, int parts, Output &a) {
  const long first = first_row(side, part, parts), last = first_row(side, part + 1, parts);
  std::vector<long> begin{0}, column;
  std::vector<double> value;
  for (long cell = first; cell < last; cell++) {
    const int i = cell / side, j = cell % side;
    std::map<long, double> row;
    for (const auto &[di, dj] : {std::pair(-1, 0), {1, 0}, {0, -1}, {0, 1}}) {
      const bool inside = i + di >= 0 && i + di < side && j + dj >= 0 && j + dj < side;
      const double own = conductivity(i, j, side);
      const double c = inside ? between(own, conductivity(i + di, j + dj, side)) : own;
      row[cell] += c;
      if (inside) row[cell + di * side + dj] -= c;
    }
    for (const auto &[k, v] : row) {
      column.push_back(k);
      value.push_back(v);
    }
    begin.push_back(long(column.size()));
  }
  auto *to = a.create<char>(sizeof(Head) + (begin.size() + column.size()) * 8 + value.size() * 8).data();
  const Head head{first, last - first, long(column.size())};
  to = std::copy_n(reinterpret_cast<const char *>(&head), sizeof head, to);
  to = std::copy_n(reinterpret_cast<const char *>(begin.data()), begin.size() * 8, to);
  to = std::copy_n(reinterpret_cast<const char *>(column.data()), column.size() * 8, to);
  std::copy_n(reinterpret_cast<const char *>(value.data()), value.size() * 8, to);
}

void ones(int side, int part, int parts, Output &b) {
  b.create<double>(first_row(side, part + 1, parts) - first_row(side, part, parts), 1.0);
}
void zeros(const Input &like, Output &x) { x.create<double>(like.span<double>().size()); }
void nothing(Output &none) { none.create<double>(0); }

// The columns of a block are in its own part of the vector and in the two beside it.
void multiply_rows(const Input &a, const Input &before, const Input &own, const Input &after, Output &y) {
  const Rows rows(a);
  const auto x = own.span<double>(), left = before.span<double>(), right = after.span<double>();
  const long first = rows.head->first, n = x.size();
  const auto result = y.create<double>(rows.head->rows);
  for (long i = 0; i < rows.head->rows; i++) {
    double sum = 0;
    for (long k = rows.begin[i]; k < rows.begin[i + 1]; k++) {
      const long at = rows.column[k] - first;
      sum += rows.value[k] * (at < 0 ? left[left.size() + at] : at < n ? x[at] : right[at - n]);
    }
    result[i] = sum;
  }
}

void product(const Input &x, const Input &y, Output &sum) {
  const auto a = x.span<double>(), b = y.span<double>();
  double s = 0;
  for (size_t i = 0; i < a.size(); i++) s += a[i] * b[i];
  sum = s;
}

// z = x + k y
void add_scaled(const Input &x, double k, const Input &y, Output &z) {
  const auto a = x.span<double>(), b = y.span<double>();
  const auto c = z.create<double>(a.size());
  for (size_t i = 0; i < a.size(); i++) c[i] = a[i] + k * b[i];
}

void subtract(const Input &x, const Input &y, Output &z) {
  const auto a = x.span<double>(), b = y.span<double>();
  const auto c = z.create<double>(a.size());
  for (size_t i = 0; i < a.size(); i++) c[i] = a[i] - b[i];
}

void largest(const Input &x, Output &most) {
  double m = 0;
  for (double v : x.span<double>()) m = std::max(m, std::abs(v));
  most = m;
}

}
