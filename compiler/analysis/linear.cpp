#include "compiler/analysis/linear.hpp"

namespace tessera::compiler::analysis {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 40;

std::int64_t checked(std::int64_t a, std::int64_t b, std::int64_t k, bool& ok) {
  std::int64_t product = 0, result = 0;
  if (__builtin_mul_overflow(b, k, &product) || __builtin_add_overflow(a, product, &result) || result > kLargest ||
      result < -kLargest) {
    ok = false;
    return 0;
  }
  return result;
}

}  // namespace

Linear linear(std::int64_t constant) { return {constant, {}}; }
Linear linear_symbol(Symbol s) { return {0, {{s, 1}}}; }

Linear sum(const Linear& a, const Linear& b, std::int64_t k, bool& ok) {
  Linear r;
  r.constant = checked(a.constant, b.constant, k, ok);
  r.terms.reserve(a.terms.size() + b.terms.size());
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    const bool from_a = y == b.terms.end() || (x != a.terms.end() && x->first <= y->first);
    const bool from_b = x == a.terms.end() || (y != b.terms.end() && y->first <= x->first);
    const Symbol s = from_a ? x->first : y->first;
    const std::int64_t c = checked(from_a ? x->second : 0, from_b ? y->second : 0, k, ok);
    if (c != 0) r.terms.emplace_back(s, c);
    if (from_a) ++x;
    if (from_b) ++y;
  }
  return r;
}

Linear scaled(const Linear& a, std::int64_t k, bool& ok) { return sum({}, a, k, ok); }

std::string key(const Linear& l) {
  std::string out = std::to_string(l.constant);
  for (const auto& [s, c] : l.terms) out += "+" + std::to_string(c) + "s" + std::to_string(s);
  return out;
}

}  // namespace tessera::compiler::analysis
