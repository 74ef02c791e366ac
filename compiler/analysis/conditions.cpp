#include <algorithm>
#include <optional>
#include <unordered_map>

#include "compiler/analysis/decide.hpp"
#include "compiler/analysis/lint.hpp"
#include "compiler/analysis/written.hpp"

namespace tessera::compiler::analysis {
namespace {

using semantics::Body;
using semantics::Expr;
using semantics::ExprPtr;
using semantics::Operator;

// Interval of the values an int expression can have; an end that is not set is open.
struct Interval {
  std::optional<std::int64_t> low, high;
  bool is_point() const { return low && high && *low == *high; }
};

Interval point(std::int64_t v) { return {v, v}; }
Interval truth(bool can_be_false, bool can_be_true) { return {can_be_false ? 0 : 1, can_be_true ? 1 : 0}; }

constexpr std::int64_t kLargestValue = std::int64_t{1} << 31;  // values are 32 bits, so nothing overflows

std::optional<std::int64_t> sum(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!a || !b || *a + *b > kLargestValue || *a + *b < -kLargestValue) return std::nullopt;
  return *a + *b;
}

class Conditions {
 public:
  explicit Conditions(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void body(const Body& b) {
    for (const auto& s : b.statements) {
      statement_ = s.at;
      if (const auto* f = std::get_if<semantics::For>(&s.node)) {
        range(*f);
      } else if (const auto* w = std::get_if<semantics::While>(&s.node)) {
        loop(*w);
      } else if (const auto* i = std::get_if<semantics::If>(&s.node)) {
        condition(*i->condition, false);
        body(*i->body);
      }
    }
  }

 private:
  bool as_written(const Expr& e, Extent all) const {
    return e.at.begin >= statement_.begin && analysis::as_written(diagnostics_, e, all);
  }

  void range(const semantics::For& f) {
    if (as_written(*f.first, f.first->at) && as_written(*f.last, f.last->at)) {
      if (decider_.is_empty(*f.first, *f.last)) {
        diagnostics_.warning("T320", join(f.first->at, f.last->at),
                             "this range is empty: the last value is less than the first, so the body never runs");
        return;
      }
      counters_[f.counter] = {value(*f.first).low, value(*f.last).high};
      decider_.range(f.counter, *f.first, f.last.get());
    }
    body(*f.body);
  }

  void loop(const semantics::While& w) {
    if (as_written(*w.start, w.start->at)) {
      counters_[w.counter] = {value(*w.start).low, {}};
      decider_.range(w.counter, *w.start, nullptr);
      const bool plain = w.condition->kind == Expr::Kind::integer;  // as `if 0`
      const bool told = condition(*w.condition, true);
      if (!told && !plain && as_written(*w.condition, w.condition->at) &&
          decider_.decide_for(*w.condition, w.counter, *w.start) == Truth::never) {
        diagnostics_.warning(
            "T320", w.condition->at,
            "this is false for the first value of " + quote(w.counter->name) + " already: the body never runs");
        return;
      }
    } else {
      condition(*w.condition, true);
    }
    body(*w.body);
  }

  // condition reports what is always the same; false when it is not.
  bool condition(const Expr& e, bool loop) {
    const bool number = e.kind == Expr::Kind::integer || e.kind == Expr::Kind::real;
    if ((number && !loop) || !as_written(e, e.at)) return false;
    const Interval v = value(e);
    bool never = v.is_point() && *v.low == 0;
    bool always = (v.low && *v.low > 0) || (v.high && *v.high < 0);
    if (!never && !always) {
      const Truth truth = decider_.decide(e);
      never = truth == Truth::never;
      always = truth == Truth::always;
    }
    if (always && loop) {
      diagnostics_.warning("T318", e.at, "this condition is always true: the `while` never ends");
    } else if (always) {
      diagnostics_.warning("T318", e.at, "this condition is always true; the `if` has no effect");
    } else if (never && !number) {
      diagnostics_.warning("T318", e.at, "this condition is always false: the body never runs");
    }
    return always || (never && !number);
  }

  Interval value(const Expr& e) const {
    switch (e.kind) {
      case Expr::Kind::integer:
        return e.type == semantics::Type::integer ? point(e.integer) : Interval{};
      case Expr::Kind::variable: {
        const auto it = counters_.find(e.variable);
        return it == counters_.end() ? Interval{} : it->second;
      }
      case Expr::Kind::negate:
        return e.type == semantics::Type::integer ? negated(value(*e.kids[0])) : Interval{};
      case Expr::Kind::binary:
        return binary(e.op, value(*e.kids[0]), value(*e.kids[1]), e);
      default:
        return {};
    }
  }

  static Interval negated(const Interval& a) {
    Interval r;
    if (a.high) r.low = -*a.high;
    if (a.low) r.high = -*a.low;
    return r;
  }

  static Interval binary(Operator op, const Interval& a, const Interval& b, const Expr& e) {
    switch (op) {
      case Operator::add:
        return {sum(a.low, b.low), sum(a.high, b.high)};
      case Operator::sub: {
        const Interval c = negated(b);
        return {sum(a.low, c.low), sum(a.high, c.high)};
      }
      case Operator::mul:
        if (!a.is_point() || !b.is_point()) return {};
        return {sum(*a.low * *b.low, 0), sum(*a.low * *b.low, 0)};
      case Operator::div:
        if (!a.is_point() || !b.is_point() || *b.low == 0) return {};
        return point(*a.low / *b.low);
      case Operator::mod:
        return modulo(a, b);
      case Operator::land: {
        const bool no = (a.is_point() && *a.low == 0) || (b.is_point() && *b.low == 0);
        const bool yes = is_true(a) && is_true(b);
        return truth(!yes, !no);
      }
      case Operator::lor: {
        const bool yes = is_true(a) || is_true(b);
        const bool no = a.is_point() && *a.low == 0 && b.is_point() && *b.low == 0;
        return truth(!yes, !no);
      }
      default:
        break;
    }
    for (const ExprPtr& k : e.kids) {
      if (k->type != semantics::Type::integer) return {};
      const bool chain = k->kind == Expr::Kind::binary && syntax::is_comparison(k->op);
      if (chain) return {};  // `0 < x < n`: T303 says what is wrong with it
    }
    return compared(op, {sum(a.low, negated(b).low), sum(a.high, negated(b).high)});
  }

  static Interval modulo(const Interval& a, const Interval& b) {
    if (!b.is_point() || *b.low == 0) return {};
    if (a.is_point()) return point(*a.low % *b.low);
    const std::int64_t most = (*b.low < 0 ? -*b.low : *b.low) - 1;
    if (a.low && *a.low >= 0) return {0, most};
    return {-most, most};
  }

  static bool is_true(const Interval& a) { return (a.low && *a.low > 0) || (a.high && *a.high < 0); }

  // compared: `d op 0`
  static Interval compared(Operator op, const Interval& d) {
    const bool below = !d.low || *d.low < 0;  // can be
    const bool above = !d.high || *d.high > 0;
    const bool zero = (!d.low || *d.low <= 0) && (!d.high || *d.high >= 0);
    switch (op) {
      case Operator::lt:
        return truth(zero || above, below);
      case Operator::le:
        return truth(above, below || zero);
      case Operator::gt:
        return truth(zero || below, above);
      case Operator::ge:
        return truth(below, above || zero);
      case Operator::eq:
        return truth(below || above, zero);
      case Operator::ne:
        return truth(zero, below || above);
      default:
        return {};
    }
  }

  Diagnostics& diagnostics_;
  std::unordered_map<const semantics::Variable*, Interval> counters_;
  Decider decider_;
  Extent statement_;  // `let` stands before it
};

}  // namespace

void check_conditions(const semantics::Model& model, Diagnostics& diagnostics) {
  for (const semantics::Sub& s : model.subs) {
    if (s.used) Conditions(diagnostics).body(s.body);
  }
}

}  // namespace tessera::compiler::analysis
