// Kernels of the tiled Cholesky factorisation, on BLAS and LAPACK. Tiles are stored by rows.
//
// The matrix is A(r, c) = min(r, c) + 1, counted from 0: it is L * L^T where L has ones on and below
// the diagonal, so that the factor can be checked element by element.
#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "ucenv.h"

// LAPACK's, in Fortran: it stores by columns, so "upper" there is "lower" here.
extern "C" void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
// OpenBLAS would start threads of its own in every worker; absent in other BLAS libraries.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace {

std::size_t size(int n) { return static_cast<std::size_t>(n) * n; }

void use_one_thread() {
  static const bool done = [] {
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
}

// copied is a new tile with the numbers of another.
double *copied(int n, const InputDF &from, OutputDF &to) {
  double *x = to.create<double>(size(n));
  std::copy_n(from.getData<double>(), size(n), x);
  return x;
}

}  // namespace

extern "C" {

void init(int i, int j, int n, OutputDF &tile) {
  double *x = tile.create<double>(size(n));
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) *x++ = std::min(i * n + r, j * n + c) + 1;
}

// factorise: l * l^T = a; above the diagonal of l are zeros.
void factorise(int n, const InputDF &a, OutputDF &l) {
  use_one_thread();
  double *x = copied(n, a, l);
  int info = 0;
  dpotrf_("U", &n, x, &n, &info);
  if (info != 0) throw std::runtime_error("the matrix is not positive definite");
  for (int r = 0; r < n; ++r) std::fill_n(x + static_cast<std::size_t>(r) * n + r + 1, n - r - 1, 0.0);
}

// solve: x * l^T = a.
void solve(int n, const InputDF &l, const InputDF &a, OutputDF &x) {
  use_one_thread();
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n, n, 1.0,
              l.getData<double>(), n, copied(n, a, x), n);
}

// subtract_square: next = a - l * l^T; only its lower half is set right, and only that is read.
void subtract_square(int n, const InputDF &l, const InputDF &a, OutputDF &next) {
  use_one_thread();
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, n, n, -1.0, l.getData<double>(), n, 1.0,
              copied(n, a, next), n);
}

// subtract_product: next = a - l * m^T.
void subtract_product(int n, const InputDF &l, const InputDF &m, const InputDF &a, OutputDF &next) {
  use_one_thread();
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, -1.0, l.getData<double>(), n,
              m.getData<double>(), n, 1.0, copied(n, a, next), n);
}

// check: 1 when all of tile (i, j) is as it should be.
void check(int i, int j, int n, const InputDF &l, OutputDF &right) {
  const double *x = l.getData<double>();
  int ok = 1;
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) {
      const double one = i * n + r >= j * n + c ? 1.0 : 0.0;
      if (!(std::abs(*x++ - one) < 1e-6)) ok = 0;
    }
  right = ok;
}

}  // extern "C"
