// Expressions, by the language reference: every rule of arithmetic once more, in the plainest form.
#pragma once

#include <functional>
#include <set>

#include "value.hpp"

namespace tessera::reference {

// Evaluator evaluates in one environment. `inputs` are what Expr::input means (after match-inputs).
class Evaluator {
 public:
  Evaluator(const Store& store, const Environment& environment, const std::vector<Name>& inputs)
      : store_(store), environment_(environment), inputs_(inputs) {}

  Name name(const compiler::semantics::NameUse& use) const;
  Value value(const compiler::semantics::Expr& e) const;
  std::int32_t integer(const compiler::semantics::Expr& e) const;  // for an int parameter, an index
  std::int64_t longint(const compiler::semantics::Expr& e) const;
  double real(const compiler::semantics::Expr& e) const;
  std::string string(const compiler::semantics::Expr& e) const;
  bool condition(const compiler::semantics::Expr& e) const;

  // need throws Missing unless all that the expression mentions has a value, in branches that will
  // not be taken too; it adds what was read to `seen`.
  void need(const compiler::semantics::Expr& e, std::set<Name>& seen) const;
  void need(const compiler::semantics::NameUse& use, std::set<Name>& seen) const;
  void need_counted(const compiler::semantics::Expr& e, std::set<Name>& seen) const;

 private:
  Value binary(const compiler::semantics::Expr& e) const;

  const Store& store_;
  const Environment& environment_;
  const std::vector<Name>& inputs_;
};

}  // namespace tessera::reference
