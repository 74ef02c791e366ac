#include "compiler/analysis/analysis.hpp"

#include "compiler/analysis/checker.hpp"
#include "compiler/analysis/lint.hpp"

namespace tessera::compiler::analysis {
namespace {

constexpr std::size_t kMostNodes = 60'000;

}  // namespace

Facts analyse(const semantics::Model& model, Diagnostics& diagnostics) {
  const bool wrong = diagnostics.failed();  // types: see Diagnostics::mistyped
  check_conditions(model, diagnostics);
  check_numbers(model, diagnostics);
  check_recursion(model, diagnostics);
  const Flow flow = build_flow(model, kMostNodes);
  Checker checker(flow, diagnostics);
  check_assigned_twice(checker);
  const Served served = check_never_assigned(checker);
  check_cycles(checker, served);
  check_freed(checker, served);
  check_counts(checker);
  if (!wrong) check_unused(checker);
  if (diagnostics.failed()) return {};
  return {assigned_once(model, flow)};
}

}  // namespace tessera::compiler::analysis
