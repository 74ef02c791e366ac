// Kernels of the reduction to diagonal form.
//
// The matrix. Its first `rows` columns are a permutation of the rows of a diagonally dominant matrix
// D: ones on the diagonal, elements below 0.5 / rows beside it, and zero where row and column are of
// different classes (multiples of five, and the rest), so that some rows need no reduction. Each
// further column c is a combination of two of the first: h(c) * column(c % rows) + g(c) *
// column((7c + 3) % rows). Row operations keep such relations, so at the end row r must be
// d * (unit row r), continued by the same combinations: all elements can be checked.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "ucenv.h"

namespace {

// hashed is a pseudo-random number in [0, 1) that depends on (a, b) only.
double hashed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15u + b;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

double dominant(int r, int c, int rows) {
  if (r == c) return 1;
  if ((r % 5 == 0) != (c % 5 == 0)) return 0;
  return (hashed(static_cast<std::uint64_t>(r) + 1, static_cast<std::uint64_t>(c)) - 0.5) / rows;
}

// permuted exchanges rows 7 and 8, 9 and 12 of every 20: the pivot is not always on the diagonal.
int permuted(int r, int rows) {
  static constexpr int partner[20] = {0,  1,  2,  3,  4,  5,  6,  8,  7,  12,
                                      10, 11, 9,  13, 14, 15, 16, 17, 18, 19};
  const int other = r - r % 20 + partner[r % 20];
  const int last = r - r % 20 + 12;
  return last < rows ? other : r;
}

// The factors repeat after a prime number of columns: a table, so that making a row takes a
// millisecond, as everything here does.
constexpr std::int64_t kFactors = 4093;
struct Factors {
  double first[kFactors], second[kFactors];
  Factors() {
    for (std::int64_t c = 0; c < kFactors; ++c) {
      first[c] = 1 + hashed(1001, static_cast<std::uint64_t>(c));
      second[c] = 1 + hashed(1002, static_cast<std::uint64_t>(c));
    }
  }
};
const Factors factors;

// extend continues the first `rows` elements of a row to all its `columns`.
void extend(double *row, int rows, std::int64_t columns) {
  // i = c % rows, j = (7 c + 3) % rows, f = c % kFactors, without dividing.
  int i = 0, j = 3 % rows;
  std::int64_t f = rows % kFactors;
  for (std::int64_t c = rows; c < columns; ++c) {
    row[c] = factors.first[f] * row[i] + factors.second[f] * row[j];
    i = i + 1 == rows ? 0 : i + 1;
    j += 7 % rows;
    if (j >= rows) j -= rows;
    f = f + 1 == kFactors ? 0 : f + 1;
  }
}

std::string text(double x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", x);
  return buffer;
}

}  // namespace

extern "C" {

void generate(int r, int rows, int columns, OutputDF &row) {
  if (columns < rows) throw std::runtime_error("a matrix with fewer columns than rows");
  double *x = row.create<double>(static_cast<std::size_t>(columns));
  for (int c = 0; c < rows; ++c) x[c] = dominant(permuted(r, rows), c, rows);
  extend(x, rows, columns);
}

// A pivot must be so large that dividing by it is harmless.
void test_pivot(int column, const InputDF &row, OutputDF &usable) {
  usable = std::fabs(row.getData<double>()[column]) > 0.25 ? 1 : 0;
}

void test_zero(int column, const InputDF &row, OutputDF &zero) {
  zero = row.getData<double>()[column] == 0 ? 1 : 0;
}

// reduce: result = row - factor * pivot, with the factor that clears `column`.
void reduce(int column, const InputDF &pivot, const InputDF &row, OutputDF &result) {
  const std::size_t count = row.getSize() / sizeof(double);
  const double *p = pivot.getData<double>();
  const double *x = row.getData<double>();
  double *y = result.create<double>(count);
  const double factor = x[column] / p[column];
  for (std::size_t c = 0; c < count; ++c) y[c] = x[c] - factor * p[c];
  y[column] = 0;
}

void copy(const InputDF &from, OutputDF &to) { to.copy(from); }

void singular(int column) {
  throw std::runtime_error("no usable pivot in column " + std::to_string(column) +
                           ": the matrix is singular");
}

// check: right = 1 when row r has the form described above; throws naming the first wrong element.
void check(int r, int rows, const InputDF &row, OutputDF &right) {
  const std::size_t columns = row.getSize() / sizeof(double);
  const double *x = row.getData<double>();
  const double diagonal = x[r];
  if (!(std::fabs(diagonal) > 0.25))
    throw std::runtime_error("row " + std::to_string(r) + " has the diagonal element " +
                             text(diagonal));
  std::vector<double> expected(columns);
  expected[static_cast<std::size_t>(r)] = diagonal;
  extend(expected.data(), rows, static_cast<std::int64_t>(columns));
  for (std::size_t c = 0; c < columns; ++c)
    if (!(std::fabs(x[c] - expected[c]) < 1e-9))
      throw std::runtime_error("element (" + std::to_string(r) + ", " + std::to_string(c) + ") is " +
                               text(x[c]) + ", not " + text(expected[c]));
  right = 1;
}

}  // extern "C"
