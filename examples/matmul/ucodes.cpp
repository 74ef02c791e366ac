// Kernels of the block matrix multiplication.
//
// The matrices have a product in closed form, so that the result can be checked exactly and
// without multiplying: A(r, k) = f(r) + g(k) and B(k, c) = p(k) + q(c), where f, g, p, q are
// pseudo-random integers below 1000. Hence
//   C(r, c) = f(r) * sum p + n * f(r) * q(c) + sum (g * p) + q(c) * sum g,
// an integer well below 2^53: sums in any order are exact. A wrong, missing, doubled or transposed
// block changes it.
#include <cblas.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ucenv.h"

// OpenBLAS would start threads of its own in every worker; absent in other BLAS libraries.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace {

enum class Series : std::uint64_t { f = 1, g, p, q };

// term is element i of one of the four integer series, 0..999.
double term(Series s, std::int64_t i) {
  std::uint64_t x = static_cast<std::uint64_t>(s) * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(i);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((x ^ (x >> 31)) % 1000);
}

// Terms first .. first+n-1.
std::vector<double> terms(Series s, std::int64_t first, int n) {
  std::vector<double> out(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) out[i] = term(s, first + i);
  return out;
}

// fill makes block (i, j) of the matrix rows(r) + columns(c).
void fill(Series rows, Series columns, int i, int j, int n, OutputDF &block) {
  const auto row = terms(rows, static_cast<std::int64_t>(i) * n, n);
  const auto column = terms(columns, static_cast<std::int64_t>(j) * n, n);
  double *x = block.create<double>(static_cast<std::size_t>(n) * n);
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) *x++ = row[r] + column[c];
}

// The kernels of the published measurements took this long.
constexpr auto kMultiplication = std::chrono::microseconds(60000);
constexpr auto kInitialisation = std::chrono::microseconds(2600);

// multiply_emulated computes the product of two blocks in O(n^2), from their structure alone, and
// sleeps as long as the real multiplication would take on a node of its own.
void multiply_emulated(int n, const double *a, const double *b, double *c) {
  double sum_g = 0, sum_p = 0, sum_gp = 0;
  for (int k = 0; k < n; ++k) {
    const double g = a[k] - a[0];
    const double p = b[static_cast<std::size_t>(k) * n];
    sum_g += g;
    sum_p += p;
    sum_gp += g * p;
  }
  for (int r = 0; r < n; ++r) {
    const double f = a[static_cast<std::size_t>(r) * n];
    for (int j = 0; j < n; ++j) {
      const double q = b[j] - b[0];
      *c++ = f * sum_p + n * f * q + sum_gp + q * sum_g;
    }
  }
  std::this_thread::sleep_for(kMultiplication);
}

}  // namespace

extern "C" {

void init_a(int i, int j, int n, int emulate, OutputDF &a) {
  fill(Series::f, Series::g, i, j, n, a);
  if (emulate) std::this_thread::sleep_for(kInitialisation);
}

void init_b(int i, int j, int n, int emulate, OutputDF &b) {
  fill(Series::p, Series::q, i, j, n, b);
  if (emulate) std::this_thread::sleep_for(kInitialisation);
}

// multiply: product = a * b, all n x n, by rows.
void multiply(int n, int emulate, const InputDF &a, const InputDF &b, OutputDF &product) {
  double *c = product.create<double>(static_cast<std::size_t>(n) * n);
  if (emulate) {
    multiply_emulated(n, a.getData<double>(), b.getData<double>(), c);
    return;
  }
  static const bool single_threaded = [] {
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(single_threaded);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, a.getData<double>(), n,
              b.getData<double>(), n, 0.0, c, n);
}

// add: sum = a + b, element by element.
void add(int n, const InputDF &a, const InputDF &b, OutputDF &sum) {
  const std::size_t count = static_cast<std::size_t>(n) * n;
  const double *x = a.getData<double>();
  const double *y = b.getData<double>();
  double *z = sum.create<double>(count);
  for (std::size_t i = 0; i < count; ++i) z[i] = x[i] + y[i];
}

void copy(const InputDF &from, OutputDF &to) { to.copy(from); }

// check: right = 1 when block (i, j) of the product of `blocks` x `blocks` blocks of size n has the
// closed form; throws naming the first wrong element otherwise.
void check(int i, int j, int blocks, int n, const InputDF &block, OutputDF &right) {
  const std::size_t bytes = static_cast<std::size_t>(n) * n * sizeof(double);
  if (block.getSize() != bytes)
    throw std::runtime_error("a block of " + std::to_string(block.getSize()) + " bytes, not " +
                             std::to_string(bytes));
  const int size = blocks * n;
  double sum_g = 0, sum_p = 0, sum_gp = 0;
  for (int k = 0; k < size; ++k) {
    const double g = term(Series::g, k);
    const double p = term(Series::p, k);
    sum_g += g;
    sum_p += p;
    sum_gp += g * p;
  }
  const auto f = terms(Series::f, static_cast<std::int64_t>(i) * n, n);
  const auto q = terms(Series::q, static_cast<std::int64_t>(j) * n, n);
  const double *x = block.getData<double>();
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c, ++x) {
      const double expected = f[r] * sum_p + size * f[r] * q[c] + sum_gp + q[c] * sum_g;
      if (*x != expected)
        throw std::runtime_error("C(" + std::to_string(i * n + r) + ", " + std::to_string(j * n + c) +
                                 ") is " + std::to_string(*x) + ", not " + std::to_string(expected));
    }
  right = 1;
}

}  // extern "C"
