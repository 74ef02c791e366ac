#include "compiler/block/share_loops.hpp"

#include <algorithm>

#include "compiler/block/order.hpp"
#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

bool mentions(const semantics::Expr& e, const Variable* v) {
  return e.variable == v || std::any_of(e.kids.begin(), e.kids.end(), [v](const ExprPtr& k) { return mentions(*k, v); });
}

// What one iteration makes.
struct Iteration {
  bool repeatable = true;  // several may run it: no scope is opened, nothing is counted
  bool loops = false;      // there is a loop in it
  bool alike = true;       // and none of them depends on the step

  Iteration(const Body& b, const Variable* counter) { body(b, counter); }

 private:
  void body(const Body& b, const Variable* counter) {
    if (!b.names.empty() || !b.deletes.empty()) repeatable = false;
    for (const Step& step : b.steps) {
      if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        body((*when)->body, counter);
      } else if (const auto* spawn = std::get_if<Spawn>(&step)) {
        if (spawn->has_end()) repeatable = false;
        if (spawn->owned == nullptr || spawn->owned->kind != Kind::range) continue;
        loops = true;
        if (mentions(*spawn->arguments[0].value, counter) || mentions(*spawn->arguments[1].value, counter)) alike = false;
      } else if (!std::holds_alternative<Evaluate>(step)) {
        repeatable = false;
      }
    }
  }
};

}  // namespace

void share_loops(Program& program, Diagnostics&) {
  for_each_chain(program, [](Chain& c) {
    if (c.kind != Kind::range) return;
    const Block& range = c.last();
    const Iteration step(*range.body, range.counter);
    c.shared = step.repeatable && step.loops && step.alike && runs_in_order(range);
  });
}

}  // namespace tessera::compiler::block
