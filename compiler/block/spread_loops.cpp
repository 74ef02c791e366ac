#include "compiler/block/spread_loops.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

bool all_placed(const Body& body);

// What is held in the loop is held from when it is created: on all ranks at once there is no such time.
bool all_placed(const Spawn& spawn, bool outermost = false) {
  if (spawn.owned == nullptr || spawn.has_end() || !(outermost || spawn.holds.empty())) return false;
  const Chain& chain = *spawn.owned;
  return chain.locator != nullptr || (chain.kind == Kind::range && all_placed(*chain.last().body));
}

// Any rank can run it, and every fragment that it makes is placed.
bool all_placed(const Body& body) {
  if (!body.names.empty() || !body.deletes.empty() || !body.holds.empty() || body.steps.empty()) return false;
  return std::all_of(body.steps.begin(), body.steps.end(), [](const Step& step) {
    if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) return all_placed((*when)->body);
    const auto* spawn = std::get_if<Spawn>(&step);
    return spawn != nullptr && all_placed(*spawn);
  });
}

// The locators of all that a loop makes, and the counters of the loops in it.
struct Places {
  std::vector<ExprPtr> locators;
  std::vector<const Variable*> counters;
  bool conditional = false;

  explicit Places(const Chain& range) { loop(range); }

  bool depend_on_counters() const {
    return std::any_of(locators.begin(), locators.end(), [this](const ExprPtr& e) { return mentions(*e); });
  }
  // Each iteration makes something, and all of it at one place.
  bool all_one() const {
    return !conditional && counters.size() == 1 &&
           std::all_of(locators.begin(), locators.end(), [this](const ExprPtr& e) { return equal(e, locators[0]); });
  }

 private:
  bool mentions(const semantics::Expr& e) const {
    return std::find(counters.begin(), counters.end(), e.variable) != counters.end() ||
           std::any_of(e.kids.begin(), e.kids.end(), [this](const ExprPtr& k) { return mentions(*k); });
  }
  void loop(const Chain& range) {
    counters.push_back(range.last().counter);
    body(*range.last().body);
  }
  void body(const Body& b) {
    for (const Step& step : b.steps) {
      if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        conditional = conditional || (*when)->condition != nullptr;
        body((*when)->body);
        continue;
      }
      const Chain& chain = *std::get<Spawn>(step).owned;
      if (chain.locator == nullptr) {
        loop(chain);
      } else {
        locators.push_back(chain.locator);
      }
    }
  }
};

ExprPtr number(std::int32_t value, Extent at) {
  auto e = std::make_shared<semantics::Expr>();
  e->integer = value;
  e->at = at;
  return e;
}

class Spreading {
 public:
  explicit Spreading(Program& program) : program_(program) {}

  void body(Body& b) {
    for (Step& step : b.steps) {
      if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        body((*when)->body);
      } else if (auto* spawn = std::get_if<Spawn>(&step); spawn != nullptr && spawn->owned != nullptr) {
        Chain& chain = *spawn->owned;
        if (chain.kind == Kind::range && all_placed(*spawn, true)) {
          spread(*spawn);
        } else {
          for (auto& block : chain.blocks) {
            if (block->body) body(*block->body);
          }
        }
      }
    }
  }

 private:
  void spread(Spawn& loop) {
    Chain& range = *loop.owned;
    const Places places(range);
    if (!places.depend_on_counters()) {
      range.stays = places.all_one();
      if (range.stays) range.locator = places.locators[0];
      return;
    }
    rank_ = program_.temporary('i', "rank", range.at);
    ranks_ = program_.temporary('i', "ranks", range.at);
    // One rank makes all, unless the runtime says otherwise.
    for (const auto& [variable, value] : {std::pair{rank_, 0}, std::pair{ranks_, 1}}) {
      range.parameters.push_back(variable);
      semantics::Argument a;
      a.value = number(value, range.at);
      loop.arguments.push_back(std::move(a));
    }
    range.spreads = true;
    inside(range);
  }

  void inside(Chain& range) {
    range.stays = true;
    inside(*range.last().body);
  }
  void inside(Body& b) {
    for (Step& step : b.steps) {
      if (auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        inside((*when)->body);
        continue;
      }
      auto& spawn = std::get<Spawn>(step);
      if (spawn.owned->locator == nullptr) {
        inside(*spawn.owned);
      } else {
        spawn.rank = rank_;
        spawn.ranks = ranks_;
        for (auto& block : spawn.owned->blocks) {
          if (block->body) Spreading(program_).body(*block->body);
        }
      }
    }
  }

  Program& program_;
  const Variable* rank_ = nullptr;
  const Variable* ranks_ = nullptr;
};

}  // namespace

void spread_loops(Program& program, Diagnostics&) {
  for (auto& sub : program.subs) Spreading(program).body(*sub->last().body);
}

}  // namespace tessera::compiler::block
