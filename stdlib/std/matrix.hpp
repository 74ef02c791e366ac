// Matrices as values: a header and the elements, by rows. For kernels of your own, too:
//
//     #include <std/matrix.hpp>
//     extern "C" void twice(const tessera::Input &a, tessera::Output &b) {
//       const auto x = tessera::stdlib::matrix(a);
//       const auto y = tessera::stdlib::create_matrix(b, x.rows, x.columns);
//       for (std::size_t k = 0; k < x.size(); ++k) y.data[k] = 2 * x.data[k];
//     }
//
// A vector is an array of double, x.span<double>(), without a header.
#pragma once

#include <cstring>
#include <limits>
#include <span>

#include "std/check.hpp"

namespace tessera::stdlib {

// What stands before the elements. Both numbers are at least 1, and fit an int as BLAS wants it.
struct MatrixHeader {
  char tag[8];
  std::int64_t rows, columns;
  std::int64_t reserved;
};
inline constexpr char kMatrixTag[8] = {'\x1f', 'm', 'a', 't', 'r', 'i', 'x', '\x1f'};

// Matrix is a view: T is `const double` of an input, `double` of an output.
template <class T>
struct Matrix {
  int rows = 0, columns = 0;
  T* data = nullptr;

  std::size_t size() const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }
  std::span<T> row(int i) const {
    return {data + static_cast<std::size_t>(i) * static_cast<std::size_t>(columns),
            static_cast<std::size_t>(columns)};
  }
  T& at(int i, int j) const { return row(i)[static_cast<std::size_t>(j)]; }
  // "3 x 4", for messages.
  std::string text() const { return std::to_string(rows) + " x " + std::to_string(columns); }
};

inline bool is_matrix(const Input& x) {
  if (x.type() != abi::Type::bytes) return false;
  const auto bytes = x.bytes();
  return bytes.size() >= sizeof(MatrixHeader) &&
         std::memcmp(bytes.data(), kMatrixTag, sizeof kMatrixTag) == 0;
}

// matrix reads one; anything else is an error.
inline Matrix<const double> matrix(const Input& x) {
  const auto bytes = x.bytes();
  require(is_matrix(x),
          shown(x) + " holds " + std::to_string(bytes.size()) + " bytes that are no matrix");
  const auto* header = reinterpret_cast<const MatrixHeader*>(bytes.data());
  const Matrix<const double> m{static_cast<int>(header->rows), static_cast<int>(header->columns),
                               reinterpret_cast<const double*>(header + 1)};
  require(bytes.size() == sizeof(MatrixHeader) + m.size() * sizeof(double),
          shown(x) + " holds " + std::to_string(bytes.size()) +
              " bytes, too few or too many for a " + m.text() + " matrix");
  return m;
}

// create_matrix makes an output one of zeros, to be filled.
inline Matrix<double> create_matrix(Output& y, int rows, int columns) {
  require(rows >= 1 && columns >= 1, "a matrix of " + std::to_string(rows) + " x " +
                                         std::to_string(columns) +
                                         " elements: both numbers must be at least 1");
  const std::size_t n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  const auto bytes = y.create<std::byte>(sizeof(MatrixHeader) + n * sizeof(double));
  auto* header = reinterpret_cast<MatrixHeader*>(bytes.data());
  std::memcpy(header->tag, kMatrixTag, sizeof kMatrixTag);
  header->rows = rows;
  header->columns = columns;
  return {rows, columns, reinterpret_cast<double*>(header + 1)};
}

// vector reads an array of double, which a matrix is not.
inline std::span<const double> vector(const Input& x) {
  require(!is_matrix(x), shown(x) + " is a matrix (" + (is_matrix(x) ? matrix(x).text() : "") +
                             "), and read as a vector");
  return x.span<double>();
}

// integer is n as an int of BLAS and of programs.
inline int integer(std::size_t n) {
  require(n <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
          std::to_string(n) + " elements are more than an int counts");
  return static_cast<int>(n);
}

}  // namespace tessera::stdlib
