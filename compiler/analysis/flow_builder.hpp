// The two halves of build_flow: what expressions mean (values.cpp), what statements do
// (build_flow.cpp).
#pragma once

#include <unordered_map>

#include "compiler/analysis/flow.hpp"

namespace tessera::compiler::analysis {

// Value of an expression. It always has a linear form, if need be a symbol of its own.
struct Value {
  Linear linear;
  bool integer = false;  // certainly an int; without it only where an int must stand (indices, bounds)
};

struct Condition {
  enum class Kind : std::uint8_t { always, never, exact, unknown } kind = Kind::unknown;
  Alternatives alternatives;  // exact: equivalent; unknown: necessary (may be empty)
};

// negated holds when `c` does not; as much as is known of that.
Condition negated(const Condition& c);

// Values gives expressions their values. Variables have one binding at a time: a sub is followed by
// one call at a time.
class Values {
 public:
  Values(Flow& flow, std::size_t variables) : flow_(flow), values_(variables), names_(variables) {}

  struct NameRef {
    NameId name = kNone;
    std::vector<Linear> prefix;
  };

  void bind(const semantics::Variable* v, Value value) { values_[v->id] = std::move(value); }
  void bind(const semantics::Variable* v, NameRef name) { names_[v->id] = std::move(name); }
  const NameRef& name(const semantics::Variable* v) const { return names_[v->id]; }

  NameRef resolve(const semantics::NameUse& use);
  Value value(const semantics::Expr& e);
  Linear integer(const semantics::Expr& e);  // where an int must stand
  Value passed(const semantics::Argument& a);
  Condition condition(const semantics::Expr& e);
  // What must hold for it to be true; and of values that may be real, what they are compared with.
  Alternatives necessary(const semantics::Expr& e);

  Symbol counter(NodeId node, const std::string& text, const Linear& first, const Linear* last);
  Symbol unknown(const std::string& text);  // a value nobody knows: an argument of main

  // While there is one, no part of an expression is looked at twice. Nothing may be bound meanwhile.
  struct Keeping {
    explicit Keeping(Values& v) : values(v) { ++values.keeping_; }
    ~Keeping() {
      if (--values.keeping_ != 0) return;
      values.kept_values_.clear();
      values.kept_conditions_.clear();
    }
    Values& values;
  };

 private:
  NodeId deepest(NodeId a, NodeId b) const { return flow_.nodes[a].depth >= flow_.nodes[b].depth ? a : b; }
  Linear symbol(const std::string& key, NodeId node, const std::string& text);
  Linear opaque(const semantics::Expr& e);
  Linear divided(const Linear& a, std::int64_t by, const semantics::Expr& e);
  Value binary(const semantics::Expr& e);
  Condition compare(const semantics::Expr& e);
  Condition compare_number(semantics::Operator op, const Linear& a, std::int64_t number);
  Value fresh_value(const semantics::Expr& e);
  Condition fresh_condition(const semantics::Expr& e);

  Flow& flow_;
  std::vector<Value> values_;   // by variable
  std::vector<NameRef> names_;  // by variable
  std::unordered_map<std::string, Symbol> symbols_;
  std::unordered_map<std::string, Range> remainders_;  // ranges of a % b, by their linear forms
  std::unordered_map<const semantics::Expr*, Value> kept_values_;
  std::unordered_map<const semantics::Expr*, Condition> kept_conditions_;
  int keeping_ = 0;
  bool compares_values_ = false;
};

}  // namespace tessera::compiler::analysis
