// T224, T225: what stands where an int is meant, and is none: results of comparisons, reals.
#include "compiler/analysis/lint.hpp"
#include "compiler/analysis/written.hpp"
#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::analysis {
namespace {

using semantics::Body;
using semantics::Expr;
using semantics::NameUse;
using semantics::Operator;
using semantics::Type;

class Numbers {
 public:
  explicit Numbers(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void body(const Body& b) {
    for (const auto& s : b.statements) {
      if (const auto* c = std::get_if<semantics::Call>(&s.node)) {
        call(*c);
      } else if (const auto* f = std::get_if<semantics::For>(&s.node)) {
        bound(*f->first);
        bound(*f->last);
        body(*f->body);
      } else if (const auto* w = std::get_if<semantics::While>(&s.node)) {
        bound(*w->start);
        expression(*w->condition);
        name(w->out);
        body(*w->body);
      } else if (const auto* i = std::get_if<semantics::If>(&s.node)) {
        expression(*i->condition);
        body(*i->body);
      }
    }
  }

 private:
  void call(const semantics::Call& c) {
    for (const auto& a : c.arguments) {
      if (a.type == semantics::ParameterType::name) {
        name(a.name);
      } else {
        expression(*a.value);
      }
    }
    for (const NameUse& n : c.done) name(n);
    for (const NameUse& n : c.advice.deletes) name(n);
    for (const NameUse& n : c.advice.requests) name(n);
    if (c.advice.locator != nullptr) expression(*c.advice.locator);
  }

  void bound(const Expr& e) {
    if (e.type == Type::real && as_written(diagnostics_, e, e.at)) {
      diagnostics_.warning(
          "T225", e.at,
          "this bound is a real, of which the part behind the point is dropped; write int(..) if that is meant");
    }
    number(e, "a bound");
  }

  void name(const NameUse& n) {
    for (const auto& i : n.indices) number(*i, "an index");
  }

  void number(const Expr& e, const char* what) {
    if (semantics::is_logical(e)) told(e, std::string(what) + " is");
    expression(e);
  }

  void expression(const Expr& e) {
    if (e.kind == Expr::Kind::read) name(e.name);
    const bool sum =
        e.kind == Expr::Kind::binary && (e.op == Operator::add || e.op == Operator::sub) && e.type != Type::string;
    for (const auto& kid : e.kids) {
      if (sum && semantics::is_logical(*kid)) told(*kid, "a part of a sum is");
      expression(*kid);
    }
  }

  void told(const Expr& e, const std::string& what) {
    if (!as_written(diagnostics_, e, e.at)) return;
    diagnostics_.warning("T224", e.at,
                         what + " 0 or 1, the result of a condition; write int(..) around it if that is meant");
  }

  Diagnostics& diagnostics_;
};

}  // namespace

void check_numbers(const semantics::Model& model, Diagnostics& diagnostics) {
  for (const semantics::Sub& s : model.subs) {
    if (s.used) Numbers(diagnostics).body(s.body);
  }
}

}  // namespace tessera::compiler::analysis
