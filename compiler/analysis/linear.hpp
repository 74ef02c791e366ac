// Linear expressions over symbols: what an index, a bound or a condition says when it can be said
// exactly.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::compiler::analysis {

using Symbol = std::uint32_t;

// Linear is constant + sum of coefficient * symbol. Terms are ordered by symbol, none is zero.
struct Linear {
  std::int64_t constant = 0;
  std::vector<std::pair<Symbol, std::int64_t>> terms;

  bool is_constant() const { return terms.empty(); }
  friend bool operator==(const Linear&, const Linear&) = default;
};

Linear linear(std::int64_t constant);
Linear linear_symbol(Symbol s);

// sum returns a + k * b. Coefficients that leave 40 bits are refused (`ok` becomes false): no
// program means them, and everything later stays far from overflow.
Linear sum(const Linear& a, const Linear& b, std::int64_t k, bool& ok);
Linear scaled(const Linear& a, std::int64_t k, bool& ok);

// key is equal for equal expressions.
std::string key(const Linear& l);

}  // namespace tessera::compiler::analysis
