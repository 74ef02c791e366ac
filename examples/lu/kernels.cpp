#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tessera.hpp>
#include <vector>

using tessera::Input, tessera::Output;

namespace {

// An element of A: nothing special, but the same each time, and such that pivots have to be looked for.
double element(int i, int j) {
  std::uint64_t h = (std::uint64_t(i) * 2654435761u + std::uint64_t(j)) * 0x9E3779B97F4A7C15u;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9u;
  h ^= h >> 32;
  return double(h >> 11) * 0x1p-53 - 0.5;
}

// Columns of n rows, one behind the other.
struct Columns {
  double *data;
  int n;
  double *operator[](int j) const { return data + std::size_t(j) * n; }
};

// A factor: `width` columns, then the row that was exchanged with row step * width + j.
struct Factor {
  const double *data;
  int n, width;
  const double *operator[](int j) const { return data + std::size_t(j) * n; }
  int pivot(int j) const { return int(data[std::size_t(width) * n + j]); }
};

}  // namespace

extern "C" {

void matrix_columns(int n, int width, int block, Output &a) {
  const Columns c{a.create<double>(std::size_t(n) * width).data(), n};
  for (int j = 0; j < width; j++)
    for (int i = 0; i < n; i++) c[j][i] = element(i, block * width + j);
}

// b = A x for x = 1, 2, ..., n.
void right_side(int n, Output &b) {
  const auto to = b.create<double>(n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) to[i] += element(i, j) * (j + 1);
}

void factorise(int n, int width, int step, const Input &a, Output &factor) {
  const auto old = a.span<double>();
  const auto all = factor.create<double>(std::size_t(n) * width + width);
  std::copy(old.begin(), old.end(), all.begin());
  const Columns c{all.data(), n};
  for (int j = 0; j < width; j++) {
    const int row = step * width + j;
    const auto larger = [](double x, double y) { return std::abs(x) < std::abs(y); };
    const int pivot = int(std::max_element(c[j] + row, c[j] + n, larger) - c[j]);
    if (c[j][pivot] == 0) throw tessera::KernelError("the matrix is singular");
    all[std::size_t(n) * width + j] = pivot;
    for (int k = 0; k < width; k++) std::swap(c[k][row], c[k][pivot]);
    for (int i = row + 1; i < n; i++) c[j][i] /= c[j][row];
    for (int k = j + 1; k < width; k++)
      for (int i = row + 1; i < n; i++) c[k][i] -= c[j][i] * c[k][row];
  }
}

// Any number of columns.
void reduce_by(int n, int width, int step, const Input &factor, const Input &a, Output &next) {
  const Factor f{factor.span<double>().data(), n, width};
  const auto old = a.span<double>();
  const auto all = next.create<double>(old.size());
  std::copy(old.begin(), old.end(), all.begin());
  const Columns c{all.data(), n};
  for (int k = 0; k < int(old.size()) / n; k++) {
    for (int j = 0; j < width; j++) std::swap(c[k][step * width + j], c[k][f.pivot(j)]);
    for (int j = 0; j < width; j++) {
      const int row = step * width + j;
      for (int i = row + 1; i < n; i++) c[k][i] -= f[j][i] * c[k][row];
    }
  }
}

// Solves for the unknowns of one block, and takes them out of the rows above.
void solve_from_below(int n, int width, int step, const Input &factor, const Input &y, Output &next) {
  const Factor f{factor.span<double>().data(), n, width};
  const auto old = y.span<double>();
  const auto x = next.create<double>(n);
  std::copy(old.begin(), old.end(), x.begin());
  for (int j = width - 1; j >= 0; j--) {
    const int row = step * width + j;
    x[row] /= f[j][row];
    for (int i = 0; i < row; i++) x[i] -= f[j][i] * x[row];
  }
}

void check(int n, const Input &x, Output &error) {
  const auto v = x.span<double>();
  double worst = 0;
  for (int i = 0; i < n; i++) worst = std::max(worst, std::abs(v[i] - (i + 1)));
  error = worst;
}

}
