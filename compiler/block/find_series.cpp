#include "compiler/block/find_series.hpp"

#include <algorithm>
#include <unordered_set>

#include "compiler/block/find_carried.hpp"

namespace tessera::compiler::block {
namespace {

class FindingSeries {
 public:
  explicit FindingSeries(bool steps_outside) : steps_(steps_outside) {}

  void body(Body& b) {
    for (Step& step : b.steps) {
      if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        body((*when)->body);
      } else if (auto* spawn = std::get_if<Spawn>(&step); spawn != nullptr && spawn->owned != nullptr) {
        chain(*spawn->owned);
      }
    }
  }

 private:
  void chain(Chain& c) {
    if (c.kind == Kind::atomic) {
      if (steps_ && c.locator != nullptr) c.series = series(c);
      return;
    }
    Block& b = c.last();
    if (!b.body) return;
    const bool before = steps_;
    if (b.kind == Kind::loop || (b.kind == Kind::range && runs_in_order(b))) {
      steps_ = true;
      in_order_.insert(b.counter);
      body(*b.body);
    } else if (b.kind == Kind::range) {
      around_.push_back(b.counter);
      body(*b.body);
      around_.pop_back();
    } else {
      body(*b.body);
    }
    steps_ = before;
  }

  // The counters of the other loops, and what the locator depends on. If that changes from step to step or is no int,
  // nothing.
  std::vector<const Variable*> series(const Chain& c) const {
    std::vector<const Variable*> result = around_;
    bool told = true;
    const auto add = [&](const auto& self, const semantics::Expr& e) -> void {
      const Variable* v = e.variable;
      if (v != nullptr && v->kind == Variable::Kind::run) return;  // the same of all
      if (v != nullptr && v->letter == 'i' && std::find(result.begin(), result.end(), v) == result.end()) {
        result.push_back(v);
      }
      if (v != nullptr && (v->letter != 'i' || in_order_.count(v) != 0)) told = false;
      for (const ExprPtr& k : e.kids) self(self, *k);
    };
    add(add, *c.locator);
    if (!told) result.clear();
    return result;
  }

  bool steps_;  // some loop around runs in order, or may
  std::vector<const Variable*> around_;
  std::unordered_set<const Variable*> in_order_;  // counters of loops seen so far
};

}  // namespace

void find_series(Program& program, Diagnostics&) {
  for (auto& sub : program.subs) {
    // A sub may be called for each step.
    FindingSeries(sub != program.subs.front()).body(*sub->last().body);
  }
}

}  // namespace tessera::compiler::block
