// Meshes in blocks: parts, borders, steps.
#include <algorithm>
#include <tessera.hpp>

#include "std/matrix.hpp"

using tessera::Input;
using tessera::Output;
using namespace tessera::stdlib;

namespace {

using In = Matrix<const double>;

// A side of a block: the neighbour's cells there, or one number for all of them.
class Side {
 public:
  Side(const Input& x, int cells, const char* side, const In& block) {
    if (x.type() != tessera::abi::Type::bytes && x.type() != tessera::abi::Type::string) {
      same_ = number(x);
      return;
    }
    cells_ = vector(x);
    require(cells_.size() == static_cast<std::size_t>(cells),
            "the block is " + block.text() + ", and " + shown(x) + ", its " + side + ", has " +
                std::to_string(cells_.size()) + " cells");
  }
  double operator[](int k) const {
    return cells_.empty() ? same_ : cells_[static_cast<std::size_t>(k)];
  }

 private:
  std::span<const double> cells_;
  double same_ = 0;
};

// counted turns a number from the end, -1 for the last, into one from the beginning.
int counted(const Input& a, const In& m, int k, int n, const char* what) {
  const int from_start = k < 0 ? k + n : k;
  require(from_start >= 0 && from_start < n,
          shown(a) + " is " + m.text() + ": there is no " + what + " " + std::to_string(k));
  return from_start;
}

std::span<const double> cells(const Input& u) {
  const auto in = vector(u);
  require(!in.empty(), shown(u) + " has no cells");
  return in;
}

}  // namespace

extern "C" {

void tessera_std_block_of(const Input& a, int i, int j, int rows, int columns, Output& b) {
  const In x = matrix(a);
  require_part(static_cast<std::size_t>(x.rows), i, rows, "rows");
  require_part(static_cast<std::size_t>(x.columns), j, columns, "columns");
  const auto cut = [](int n, int k, int parts) {
    return static_cast<int>(part(static_cast<std::size_t>(n), k, parts));
  };
  const int top = cut(x.rows, i, rows), left = cut(x.columns, j, columns);
  const auto y =
      create_matrix(b, cut(x.rows, i + 1, rows) - top, cut(x.columns, j + 1, columns) - left);
  for (int r = 0; r < y.rows; ++r) {
    const auto from =
        x.row(top + r).subspan(static_cast<std::size_t>(left), static_cast<std::size_t>(y.columns));
    std::copy(from.begin(), from.end(), y.row(r).begin());
  }
}

void tessera_std_outer(const Input& x, const Input& y, Output& a) {
  const auto p = cells(x), q = cells(y);
  const auto m = create_matrix(a, integer(p.size()), integer(q.size()));
  for (int i = 0; i < m.rows; ++i) {
    for (int j = 0; j < m.columns; ++j)
      m.at(i, j) = p[static_cast<std::size_t>(i)] * q[static_cast<std::size_t>(j)];
  }
}

void tessera_std_beside(const Input& a, const Input& b, Output& c) {
  const In x = matrix(a), y = matrix(b);
  require(x.rows == y.rows, shown(a) + " is " + x.text() + ", and " + shown(b) + " is " + y.text() +
                                ": blocks beside each other have the same number of rows");
  const auto z = create_matrix(c, x.rows, x.columns + y.columns);
  for (int r = 0; r < z.rows; ++r) {
    const auto p = x.row(r), q = y.row(r);
    std::copy(q.begin(), q.end(), std::copy(p.begin(), p.end(), z.row(r).begin()));
  }
}

void tessera_std_above(const Input& a, const Input& b, Output& c) {
  const In x = matrix(a), y = matrix(b);
  require(x.columns == y.columns, shown(a) + " is " + x.text() + ", and " + shown(b) + " is " +
                                      y.text() +
                                      ": blocks above each other have the same number of columns");
  const auto z = create_matrix(c, x.rows + y.rows, x.columns);
  std::copy_n(y.data, y.size(), std::copy_n(x.data, x.size(), z.data));
}

void tessera_std_one_block(const Input& a, Output& b) {
  matrix(a);
  b.share(a);
}

void tessera_std_part_of(const Input& u, Output& v) {
  cells(u);
  v.share(u);
}

void tessera_std_number(double x, Output& y) { y = x; }

void tessera_std_row(const Input& a, int i, Output& v) {
  const In x = matrix(a);
  const auto row = x.row(counted(a, x, i, x.rows, "row"));
  std::copy(row.begin(), row.end(), v.create<double>(row.size()).begin());
}

void tessera_std_column(const Input& a, int j, Output& v) {
  const In x = matrix(a);
  const int k = counted(a, x, j, x.columns, "column");
  const auto out = v.create<double>(static_cast<std::size_t>(x.rows));
  for (int i = 0; i < x.rows; ++i) out[static_cast<std::size_t>(i)] = x.at(i, k);
}

void tessera_std_first(const Input& u, Output& v) { v = cells(u).front(); }
void tessera_std_last(const Input& u, Output& v) { v = cells(u).back(); }

void tessera_std_heat_step(double r, double left, const Input& u, double right, Output& next) {
  const auto in = cells(u);
  const auto out = next.create<double>(in.size());
  for (std::size_t k = 0; k < in.size(); ++k) {
    const double before = k == 0 ? left : in[k - 1];
    const double after = k + 1 == in.size() ? right : in[k + 1];
    out[k] = in[k] + r * (before - 2 * in[k] + after);
  }
}

void tessera_std_jacobi_step(const Input& u, const Input& top, const Input& bottom,
                             const Input& left, const Input& right, Output& next) {
  const In x = matrix(u);
  const Side above(top, x.columns, "top", x), below(bottom, x.columns, "bottom", x);
  const Side before(left, x.rows, "left side", x), behind(right, x.rows, "right side", x);
  const auto y = create_matrix(next, x.rows, x.columns);
  const int n = x.columns;
  for (int i = 0; i < x.rows; ++i) {
    const double* here = x.row(i).data();
    const double* up = i == 0 ? nullptr : here - n;
    const double* down = i + 1 == x.rows ? nullptr : here + n;
    double* out = y.row(i).data();
    const auto cell = [&](int j, double west, double east) {
      out[j] = 0.25 * ((up == nullptr ? above[j] : up[j]) + (down == nullptr ? below[j] : down[j]) +
                       west + east);
    };
    if (up != nullptr && down != nullptr) {  // the inner loop, which the compiler vectorises
      for (int j = 1; j + 1 < n; ++j) out[j] = 0.25 * (up[j] + down[j] + here[j - 1] + here[j + 1]);
    } else {
      for (int j = 1; j + 1 < n; ++j) cell(j, here[j - 1], here[j + 1]);
    }
    cell(0, before[i], n == 1 ? behind[i] : here[1]);
    if (n > 1) cell(n - 1, here[n - 2], behind[i]);
  }
}

}  // extern "C"
