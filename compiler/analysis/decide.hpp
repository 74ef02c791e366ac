// Whether conditions hold whatever the values of their names are: linear reasoning over one sub as it
// stands in the text, without knowing who calls it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/analysis/integer_system.hpp"
#include "compiler/analysis/linear.hpp"
#include "compiler/semantics/model.hpp"

namespace tessera::compiler::analysis {

enum class Truth : std::uint8_t { never, always, open };

// Decider knows bounds of counters and answers questions. What is not linear (`x * y`, `x[i]`, `n / 2`) is
// some value, the same wherever the same stands: `z[i]` and `z[i + 0 * j]` are the same. Values that may be real
// are taken for real ones.
class Decider {
 public:
  // range tells that a counter lies between two expressions; `last` may be missing (a `while`).
  void range(const semantics::Variable* counter, const semantics::Expr& first, const semantics::Expr* last);

  Truth decide(const semantics::Expr& condition);
  // decide_for decides it for one value of a counter.
  Truth decide_for(const semantics::Expr& condition, const semantics::Variable* counter, const semantics::Expr& value);
  // is_empty: is `last` less than `first`, always?
  bool is_empty(const semantics::Expr& first, const semantics::Expr& last);

 private:
  struct Part {  // form >= 0, or > 0
    Linear form;
    bool strict = false;
  };
  using Conjunction = std::vector<Part>;
  using Alternatives = std::vector<Conjunction>;  // at least one holds; a conjunction may be incomplete

  Linear form(const semantics::Expr& e);
  Linear atom(const std::string& key, bool whole);
  Linear opaque(const semantics::Expr& e);
  Linear binary(const semantics::Expr& e);
  Alternatives alternatives(const semantics::Expr& e, bool negated);
  Alternatives compare(const semantics::Expr& e, bool negated);
  bool possible(const Alternatives& any);
  bool possible(const Conjunction& all);

  std::map<std::string, Symbol> symbols_;
  std::vector<bool> whole_;  // by symbol: certainly an int
  std::map<const semantics::Variable*, Linear> values_;
  std::map<const semantics::Variable*, Conjunction> ranges_;
  std::map<Symbol, const semantics::Variable*> counters_;
};

}  // namespace tessera::compiler::analysis
