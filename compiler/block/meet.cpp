#include "compiler/block/meet.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "compiler/block/sum.hpp"

namespace tessera::compiler::block {
namespace {

using semantics::Expr;
using syntax::Operator;

constexpr std::size_t kMostCases = 16;

// A variable of both iterations, or of one of them: 0, 1.
using Symbol = std::pair<std::uint32_t, int>;
struct Line {  // constant + sum of factor * variable
  std::int64_t constant = 0;
  std::map<Symbol, std::int64_t> terms = {};

  void add(const Line& other, std::int64_t k) {
    constant += k * other.constant;
    for (const auto& [symbol, factor] : other.terms) {
      if ((terms[symbol] += k * factor) == 0) terms.erase(symbol);
    }
  }
};
// The line is 0; or it is not.
struct Fact {
  Line line;
  bool zero = true;
};
using Facts = std::vector<Fact>;
// Under these facts an index is this.
struct Case {
  Facts facts;
  Line index;
};

// What is said in one of the two iterations.
class Iteration {
 public:
  Iteration(int number, const Variable* counter, const std::function<bool(const Variable*)>& own)
      : number_(number), counter_(counter), own_(own) {}

  Symbol symbol(const Variable* v) const {
    return {static_cast<std::uint32_t>(v->id), v == counter_ || own_(v) ? number_ : -1};
  }
  std::optional<Line> line(const Expr& e) const {
    const auto sum = sum_of(e);
    if (!sum) return std::nullopt;
    Line l{sum->constant};
    for (const auto& [v, factor] : sum->terms) l.terms[symbol(v)] += factor;
    return l;
  }
  // That the condition holds, or does not, as far as it is one of equalities.
  void add_facts(const Expr& condition, bool holds, Facts& out) const {
    if (condition.kind != Expr::Kind::binary) return;
    const Expr &a = *condition.kids[0], &b = *condition.kids[1];
    if (condition.op == (holds ? Operator::land : Operator::lor)) {
      add_facts(a, holds, out);
      add_facts(b, holds, out);
    }
    if (condition.op != Operator::eq && condition.op != Operator::ne) return;
    auto left = line(a), right = line(b);
    if (!left || !right) return;
    left->add(*right, -1);
    out.push_back({std::move(*left), (condition.op == Operator::eq) == holds});
  }
  // False: it is not known what the index is.
  bool add_cases(const Expr& index, const Facts& under, std::vector<Case>& out) const {
    if (out.size() > kMostCases) return false;
    if (index.kind != Expr::Kind::choice) {
      auto l = line(index);
      if (l) out.push_back({under, std::move(*l)});
      return l.has_value();
    }
    for (const bool holds : {true, false}) {
      Facts facts = under;
      add_facts(*index.kids[0], holds, facts);
      if (!add_cases(*index.kids[holds ? 1 : 2], facts, out)) return false;
    }
    return true;
  }

 private:
  int number_;
  const Variable* counter_;
  const std::function<bool(const Variable*)>& own_;
};

// Can they not all be true? Each equality says what one of its variables is.
bool contradict(Facts facts) {
  for (;;) {
    const auto solves = [](const auto& term) { return std::abs(term.second) == 1; };
    const auto at = std::find_if(facts.begin(), facts.end(), [&](const Fact& f) {
      return f.zero && std::any_of(f.line.terms.begin(), f.line.terms.end(), solves);
    });
    if (at == facts.end()) break;
    const Line equality = at->line;
    facts.erase(at);
    const auto [symbol, sign] = *std::find_if(equality.terms.begin(), equality.terms.end(), solves);
    for (Fact& f : facts) {
      const auto in = f.line.terms.find(symbol);
      if (in != f.line.terms.end()) f.line.add(equality, -in->second * sign);
    }
  }
  return std::any_of(facts.begin(), facts.end(),
                     [](const Fact& f) { return f.line.terms.empty() && (f.line.constant == 0) != f.zero; });
}

}  // namespace

bool never_meet(const Use& a, const Use& b, const Variable* counter, const std::function<bool(const Variable*)>& own) {
  const Iteration one(0, counter, own), other(1, counter, own);
  Facts known;
  Line between;  // they are two iterations
  between.terms = {{one.symbol(counter), 1}, {other.symbol(counter), -1}};
  known.push_back({between, false});
  for (const ExprPtr& g : a.guards) one.add_facts(*g, true, known);
  for (const ExprPtr& g : b.guards) other.add_facts(*g, true, known);
  for (std::size_t k = 0; k < std::min(a.name.indices.size(), b.name.indices.size()); ++k) {
    std::vector<Case> first, second;
    if (!one.add_cases(*a.name.indices[k], known, first) || !other.add_cases(*b.name.indices[k], {}, second)) continue;
    const auto differ = [](const Case& x, const Case& y) {
      Facts facts = x.facts;
      facts.insert(facts.end(), y.facts.begin(), y.facts.end());
      Line same = x.index;
      same.add(y.index, -1);
      facts.push_back({std::move(same), true});
      return contradict(std::move(facts));
    };
    if (std::all_of(first.begin(), first.end(), [&](const Case& x) {
          return std::all_of(second.begin(), second.end(), [&](const Case& y) { return differ(x, y); });
        }))
      return true;
  }
  return false;
}

}  // namespace tessera::compiler::block
