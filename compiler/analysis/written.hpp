// What comes from macros and `let` is there to be changed: findings are about what stands in the text itself.
#pragma once

#include <algorithm>

#include "compiler/diagnostics.hpp"
#include "compiler/semantics/model.hpp"

namespace tessera::compiler::analysis {

inline bool inside(const semantics::Expr& e, Extent all) {
  const auto part = [&](const semantics::ExprPtr& k) { return inside(*k, all); };
  return e.at.begin >= all.begin && e.at.end <= all.end && std::all_of(e.kids.begin(), e.kids.end(), part) &&
         std::all_of(e.name.indices.begin(), e.name.indices.end(), part);
}

// as_written: nothing of the expression comes from a macro or from a `let` elsewhere.
inline bool as_written(const Diagnostics& diagnostics, const semantics::Expr& e, Extent all) {
  return !diagnostics.from_macro(all) && inside(e, all);
}

}  // namespace tessera::compiler::analysis
