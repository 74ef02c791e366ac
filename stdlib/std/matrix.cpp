// Matrices and blocks of them. Products and solutions are those of BLAS and LAPACK (OpenBLAS).
#include "std/matrix.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <tessera.hpp>

using tessera::Input;
using tessera::Output;
using namespace tessera::stdlib;

// OpenBLAS would start threads of its own in every worker; absent in other BLAS libraries.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));
// LAPACK has no header without liblapacke-dev; OpenBLAS has the function.
extern "C" void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);

namespace {

using In = Matrix<const double>;
using Out = Matrix<double>;

void one_thread() {
  static const bool done = [] {
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

std::string is(const Input& x, const In& m) { return shown(x) + " is " + m.text(); }

void same(const Input& a, const In& x, const Input& b, const In& y) {
  require(x.rows == y.rows && x.columns == y.columns, is(a, x) + ", and " + is(b, y));
}

void square(const Input& a, const In& x) {
  require(x.rows == x.columns, is(a, x) + ", and should be square");
}

// sum starts an output as beta * c.
Out sum(double beta, const In& c, Output& d) {
  const Out y = create_matrix(d, c.rows, c.columns);
  if (beta != 0) {
    for (std::size_t k = 0; k < c.size(); ++k) y.data[k] = beta * c.data[k];
  }
  return y;
}

// product adds alpha a b to d, or alpha a b^T.
void product(double alpha, const In& a, const In& b, bool transposed, const Out& d) {
  one_thread();
  cblas_dgemm(CblasRowMajor, CblasNoTrans, transposed ? CblasTrans : CblasNoTrans, d.rows,
              d.columns, a.columns, alpha, a.data, a.columns, b.data, b.columns, 1.0, d.data,
              d.columns);
}

// fits checks the sizes of a product, and that of what it is added to.
void fits(const Input& a, const In& x, const Input& b, const In& y, bool transposed) {
  require(
      x.columns == (transposed ? y.columns : y.rows),
      is(a, x) + ", and " + is(b, y) + ": there is no product " + (transposed ? "a b^T" : "a b"));
}
void result(const Input& c, const In& z, int rows, int columns) {
  require(
      z.rows == rows && z.columns == columns,
      is(c, z) + ", but the product is " + std::to_string(rows) + " x " + std::to_string(columns));
}

void gemm(double alpha, const Input& a, const Input& b, bool transposed, double beta,
          const Input& c, Output& d) {
  const In x = matrix(a), y = matrix(b), z = matrix(c);
  fits(a, x, b, y, transposed);
  result(c, z, x.rows, transposed ? y.rows : y.columns);
  product(alpha, x, y, transposed, sum(beta, z, d));
}

// solve makes the solution of a triangular system in a copy of the right side.
void solve(CBLAS_SIDE side, CBLAS_TRANSPOSE transposed, const Input& l, const Input& b, Output& x) {
  const In t = matrix(l), right = matrix(b);
  square(l, t);
  require(t.rows == (side == CblasLeft ? right.rows : right.columns),
          is(l, t) + ", and " + is(b, right) + ": sizes of a system do not fit");
  for (int i = 0; i < t.rows; ++i) {
    require(t.at(i, i) != 0,
            shown(l) + " is singular: element " + std::to_string(i) + " of its diagonal is 0");
  }
  const Out y = sum(1, right, x);
  one_thread();
  cblas_dtrsm(CblasRowMajor, side, CblasLower, transposed, CblasNonUnit, y.rows, y.columns, 1.0,
              t.data, t.columns, y.data, y.columns);
}

// place_of numbers an element in a matrix of any size: no two have the same.
std::uint64_t place_of(std::int64_t row, std::int64_t column) {
  return (static_cast<std::uint64_t>(row) << 32) + static_cast<std::uint64_t>(column);
}

}  // namespace

extern "C" {

void tessera_std_matrix(int rows, int columns, double v, Output& a) {
  const Out m = create_matrix(a, rows, columns);
  for (std::size_t k = 0; k < m.size(); ++k) m.data[k] = v;
}

void tessera_std_identity(int n, Output& a) {
  const Out m = create_matrix(a, n, n);
  for (int i = 0; i < n; ++i) m.at(i, i) = 1;
}

void tessera_std_random_block(int i, int j, int rows, int columns, int seed, Output& a) {
  const Out m = create_matrix(a, rows, columns);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      m.at(r, c) =
          random(seed, place_of(std::int64_t{i} * rows + r, std::int64_t{j} * columns + c));
    }
  }
}

void tessera_std_spd_block(int i, int j, int size, int order, int seed, Output& a) {
  const Out m = create_matrix(a, size, size);
  for (int r = 0; r < size; ++r) {
    for (int c = 0; c < size; ++c) {
      const std::int64_t row = std::int64_t{i} * size + r, column = std::int64_t{j} * size + c;
      m.at(r, c) = random(seed, place_of(std::min(row, column), std::max(row, column))) +
                   (row == column ? order : 0);
    }
  }
}

void tessera_std_matrix_of(int rows, int columns, const Input& x, Output& a) {
  const auto in = vector(x);
  const Out m = create_matrix(a, rows, columns);
  require(in.size() == m.size(), shown(x) + " has " + std::to_string(in.size()) +
                                     " elements, not the " + std::to_string(m.size()) + " of a " +
                                     m.text() + " matrix");
  std::copy(in.begin(), in.end(), m.data);
}

void tessera_std_matrix_multiply(const Input& a, const Input& b, Output& c) {
  const In x = matrix(a), y = matrix(b);
  fits(a, x, b, y, false);
  product(1, x, y, false, create_matrix(c, x.rows, y.columns));
}

void tessera_std_gemm(double alpha, const Input& a, const Input& b, double beta, const Input& c,
                      Output& d) {
  gemm(alpha, a, b, false, beta, c, d);
}
void tessera_std_gemm_nt(double alpha, const Input& a, const Input& b, double beta, const Input& c,
                         Output& d) {
  gemm(alpha, a, b, true, beta, c, d);
}

void tessera_std_gemv(double alpha, const Input& a, const Input& x, double beta, const Input& y,
                      Output& z) {
  const In m = matrix(a);
  const auto p = vector(x), q = vector(y);
  require(static_cast<std::size_t>(m.columns) == p.size() &&
              static_cast<std::size_t>(m.rows) == q.size(),
          is(a, m) + ", " + shown(x) + " has " + std::to_string(p.size()) + " elements and " +
              shown(y) + " has " + std::to_string(q.size()) + ": sizes do not fit");
  const auto out = z.create<double>(q.size());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = beta * q[k];
  one_thread();
  cblas_dgemv(CblasRowMajor, CblasNoTrans, m.rows, m.columns, alpha, m.data, m.columns, p.data(), 1,
              1.0, out.data(), 1);
}

void tessera_std_syrk(double alpha, const Input& a, double beta, const Input& c, Output& d) {
  const In x = matrix(a), z = matrix(c);
  square(c, z);
  result(c, z, x.rows, x.rows);
  const Out y = sum(beta, z, d);
  one_thread();
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, y.rows, x.columns, alpha, x.data, x.columns,
              1.0, y.data, y.columns);
  // The half that BLAS computes is copied to the other.
  for (int i = 0; i < y.rows; ++i) {
    for (int j = i + 1; j < y.columns; ++j) y.at(i, j) = y.at(j, i);
  }
}

void tessera_std_matrix_add(double alpha, const Input& a, const Input& b, Output& c) {
  const In x = matrix(a), y = matrix(b);
  same(a, x, b, y);
  const Out z = create_matrix(c, x.rows, x.columns);
  for (std::size_t k = 0; k < x.size(); ++k) z.data[k] = alpha * x.data[k] + y.data[k];
}

void tessera_std_transpose(const Input& a, Output& b) {
  const In x = matrix(a);
  const Out y = create_matrix(b, x.columns, x.rows);
  for (int i = 0; i < x.rows; ++i) {
    for (int j = 0; j < x.columns; ++j) y.at(j, i) = x.at(i, j);
  }
}

void tessera_std_cholesky(const Input& a, Output& l) {
  const In x = matrix(a);
  square(a, x);
  const Out y = sum(1, x, l);
  one_thread();
  int info = 0;
  // dpotrf counts by columns: its upper half is our lower one.
  dpotrf_("U", &y.rows, y.data, &y.rows, &info);
  require(info <= 0, shown(a) + " is not positive definite: its leading minor of order " +
                         std::to_string(info) + " is not positive");
  require(info == 0, "dpotrf refused argument " + std::to_string(-info));
  for (int i = 0; i < y.rows; ++i) {
    for (int j = i + 1; j < y.columns; ++j) y.at(i, j) = 0;
  }
}

void tessera_std_solve_lower(const Input& l, const Input& b, Output& x) {
  solve(CblasLeft, CblasNoTrans, l, b, x);
}
void tessera_std_solve_lower_transposed(const Input& l, const Input& b, Output& x) {
  solve(CblasLeft, CblasTrans, l, b, x);
}
void tessera_std_solve_right(const Input& l, const Input& b, Output& x) {
  solve(CblasRight, CblasTrans, l, b, x);
}

void tessera_std_matrix_norm(const Input& a, Output& v) {
  const In x = matrix(a);
  one_thread();
  v = cblas_dnrm2(integer(x.size()), x.data, 1);
}

void tessera_std_matrix_difference(const Input& a, const Input& b, Output& v) {
  const In x = matrix(a), y = matrix(b);
  same(a, x, b, y);
  double largest = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double d = std::fabs(x.data[k] - y.data[k]);
    if (!(d <= largest)) largest = d;  // also when it is no number
  }
  v = largest;
}

}  // extern "C"
