// For pass count-uses: which iterations of the loops around a reader read element [k0][k1]... of a name?
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "compiler/block/program.hpp"
#include "compiler/block/sum.hpp"

namespace tessera::compiler::block {

// made_of: does the expression mention only variables of which `known` holds? Inputs are not known.
template <class F>
bool made_of(const ExprPtr& e, const F& known) {
  if (e == nullptr) return true;
  if (e->kind == semantics::Expr::Kind::input || e->kind == semantics::Expr::Kind::read) return false;
  if (e->variable != nullptr && !known(e->variable)) return false;
  for (const ExprPtr& k : e->kids) {
    if (!made_of(k, known)) return false;
  }
  return true;
}

// The indices of one reader, as equations for the counters of the loops around it. An element that is read n times
// costs no more than n steps to count, so remainders and quotients are solved only where each value tried is a read:
//   x[2 * i + j][j]            j = k1, i = (k0 - j) / 2
//   x[t - 1][(i + 1) % n]      t = k0 + 1; each i = k1 - 1 modulo n within its bounds
//   x[b / p][b % p]            each b within k0 * p .. k0 * p + p - 1 that is k1 modulo p: one
class Equations {
 public:
  // `reader` has what is around it, and gets the rest.
  Equations(const std::vector<ExprPtr>& indices, Uses::Reader& reader);

  // solve: false if some index can't be solved.
  bool solve();
  // narrow: a counter that runs freely in a loop's bound is bounded by that, if the loop's own counter is known.
  //   for i = 0..n  for j = 0..i  f(x[j])      x[k0] is read for i = k0..n
  // False: some bound depends on what is not known otherwise.
  bool narrow();
  // knows: what is in an expression that stands innermost; a counter that runs freely is not.
  bool knows(const Variable* v) const;

 private:
  struct Equation {
    std::size_t index = 0;
    std::optional<Sum> sum;  // the index, or of a split what is split
    bool split = false, remainder = false;
    int sign = 1;
    Sum offset;
    ExprPtr by;
    bool used = false;
  };
  struct Found {
    int sign = 1;
    const semantics::Expr* split = nullptr;
    Sum offset;
  };
  static std::optional<Found> find_split(const semantics::Expr& e);

  bool open(const Variable* v) const;
  // after: the last of those tried that the variables wait for; nothing if one is open.
  std::optional<int> after(const Sum& s) const;
  const Variable* only_open(const Sum& s) const;
  void use_sums();
  bool try_one();
  static bool tells_all(const Uses::Split& s, const Around& loop, const Uses::Tried& tried);
  bool narrow(const Around& a, bool first);
  bool in_others(const Variable* counter) const;

  const std::vector<ExprPtr>& indices_;
  Uses::Reader& r_;
  std::vector<Equation> equations_;
  std::map<const Variable*, int, ById> known_;  // counters, with what they wait for
};

}  // namespace tessera::compiler::block
