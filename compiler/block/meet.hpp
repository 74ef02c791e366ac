// Do two iterations of a loop meet? For pass hold-deletes.
#pragma once

#include <functional>
#include <vector>

#include "compiler/block/program.hpp"

namespace tessera::compiler::block {

// One use of a name in an iteration.
struct Use {
  const NameUse& name;
  const std::vector<ExprPtr>& guards;  // under which it happens; they may be fewer than there are
};

// never_meet: can `a` in one iteration and `b` in another one be shown never to be the same element? By equalities and
// inequalities (not by <) of integers, those in choices included. `own` holds of variables that each iteration has for
// itself, `counter` is the loop's.
//   r != s: x[r == p ? s : r]  and  x[p]                        in one iteration and in any other
//   r != s: x[r == p ? s : r]  and  the same with another r
bool never_meet(const Use& a, const Use& b, const Variable* counter, const std::function<bool(const Variable*)>& own);

}  // namespace tessera::compiler::block
