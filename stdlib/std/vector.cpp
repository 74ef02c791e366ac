// Vectors: arrays of reals.
#include <algorithm>
#include <cmath>
#include <tessera.hpp>

#include "std/matrix.hpp"

using tessera::Input;
using tessera::Output;
using namespace tessera::stdlib;

namespace {

// same checks that two vectors have one length.
void same(const Input& x, std::size_t n, const Input& y, std::size_t m) {
  require(n == m, shown(x) + " has " + std::to_string(n) + " elements, and " + shown(y) + " has " +
                      std::to_string(m));
}

std::span<const double> some(const Input& x, const char* what) {
  const auto v = vector(x);
  require(!v.empty(), shown(x) + " has no elements, so no " + what);
  return v;
}

using Function = double (*)(double);
Function function(std::string_view name) {
  constexpr std::pair<std::string_view, Function> kFunctions[] = {
      {"sin", std::sin}, {"cos", std::cos},   {"tan", std::tan},  {"exp", std::exp},
      {"log", std::log}, {"sqrt", std::sqrt}, {"abs", std::fabs},
  };
  for (const auto& [known, f] : kFunctions) {
    if (known == name) return f;
  }
  throw tessera::KernelError("there is no function \"" + std::string(name) +
                             "\"; there are sin, cos, tan, exp, log, sqrt and abs");
}

}  // namespace

extern "C" {

void tessera_std_vector(int n, double v, Output& x) { x.create<double>(length(n, "a vector"), v); }

void tessera_std_vector_linear(int n, double first, double step, Output& x) {
  const auto out = x.create<double>(length(n, "a vector"));
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = first + step * static_cast<double>(k);
}

void tessera_std_vector_random(int n, int seed, Output& x) {
  const auto out = x.create<double>(length(n, "a vector"));
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = random(seed, k);
}

void tessera_std_vector_apply(const char* name, const Input& x, Output& y) {
  const Function f = function(name);
  const auto in = vector(x);
  const auto out = y.create<double>(in.size());
  std::transform(in.begin(), in.end(), out.begin(), f);
}

void tessera_std_vector_length(const Input& x, Output& n) { n = integer(vector(x).size()); }

void tessera_std_element(const Input& x, int k, Output& v) {
  const auto in = vector(x);
  require(k >= 0 && static_cast<std::size_t>(k) < in.size(),
          shown(x) + " has " + std::to_string(in.size()) +
              " elements, counted from 0: there is no element " + std::to_string(k));
  v = in[static_cast<std::size_t>(k)];
}

void tessera_std_slice(const Input& x, int from, int n, Output& y) {
  const auto in = vector(x);
  const std::size_t count = length(n, "a slice");
  require(from >= 0 && static_cast<std::size_t>(from) + count <= in.size(),
          "elements " + std::to_string(from) + " .. " +
              std::to_string(from + static_cast<long>(n)) + " (the last not included) of " +
              shown(x) + ", which has " + std::to_string(in.size()));
  const auto part = in.subspan(static_cast<std::size_t>(from), count);
  std::copy(part.begin(), part.end(), y.create<double>(count).begin());
}

void tessera_std_part(const Input& x, int k, int parts, Output& y) {
  const auto in = vector(x);
  require_part(in.size(), k, parts, "elements");
  const std::size_t from = part(in.size(), k, parts);
  const auto out = y.create<double>(part(in.size(), k + 1, parts) - from);
  std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(from), out.size(), out.begin());
}

void tessera_std_join(const Input& a, const Input& b, Output& c) {
  const auto x = vector(a), y = vector(b);
  const auto out = c.create<double>(x.size() + y.size());
  std::copy(y.begin(), y.end(), std::copy(x.begin(), x.end(), out.begin()));
}

void tessera_std_join_one(const Input& x, Output& y) {
  vector(x);
  y.share(x);
}

void tessera_std_axpy(double a, const Input& x, const Input& y, Output& z) {
  const auto p = vector(x), q = vector(y);
  same(x, p.size(), y, q.size());
  const auto out = z.create<double>(p.size());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = a * p[k] + q[k];
}

void tessera_std_scale(double a, const Input& x, Output& y) {
  const auto in = vector(x);
  const auto out = y.create<double>(in.size());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = a * in[k];
}

void tessera_std_dot(const Input& x, const Input& y, Output& v) {
  const auto p = vector(x), q = vector(y);
  same(x, p.size(), y, q.size());
  double sum = 0;
  for (std::size_t k = 0; k < p.size(); ++k) sum += p[k] * q[k];
  v = sum;
}

void tessera_std_norm(const Input& x, Output& v) {
  // Scaled by the largest element, so that squares neither overflow nor vanish.
  const auto in = vector(x);
  double largest = 0;
  for (const double e : in) largest = std::max(largest, std::fabs(e));
  double sum = 0;
  if (largest > 0 && std::isfinite(largest)) {
    for (const double e : in) sum += (e / largest) * (e / largest);
    v = largest * std::sqrt(sum);
  } else {
    v = largest;
  }
}

void tessera_std_vector_sum(const Input& x, Output& v) {
  double sum = 0;
  for (const double e : vector(x)) sum += e;
  v = sum;
}

void tessera_std_vector_min(const Input& x, Output& v) {
  const auto in = some(x, "smallest one");
  v = *std::min_element(in.begin(), in.end());
}

void tessera_std_vector_max(const Input& x, Output& v) {
  const auto in = some(x, "largest one");
  v = *std::max_element(in.begin(), in.end());
}

}  // extern "C"
