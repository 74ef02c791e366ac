#include "compiler/block/find_series.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "compiler/block/sum.hpp"
#include "compiler/block/walk.hpp"

namespace tessera::compiler::block {
namespace {

// More uses of one name in one loop are not compared with each other.
constexpr std::size_t kMostUses = 64;

// Everything that a loop's body assigns and reads, by name, and the counters of the loops in it.
struct NamesInLoop {
  struct OfName {
    std::vector<const NameUse*> assigned, read;
  };
  std::map<const Variable*, OfName, ById> names;
  std::unordered_set<const Variable*> counters;

  explicit NamesInLoop(const Body& b) { body(b); }

 private:
  void body(const Body& b) {
    for (const Step& step : b.steps) {
      if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) {
        body((*when)->body);
      } else if (const auto* spawn = std::get_if<Spawn>(&step)) {
        // A sub may do either.
        for (const semantics::Argument& a : spawn->arguments) {
          if (a.type != semantics::ParameterType::name) continue;
          names[a.name.base].assigned.push_back(&a.name);
          names[a.name.base].read.push_back(&a.name);
        }
        if (spawn->owned != nullptr) chain(*spawn->owned);
      }
    }
  }
  void chain(const Chain& c) {
    for (const auto& b : c.blocks) {
      if (b->counter != nullptr) counters.insert(b->counter);
      for (const Input& in : b->inputs) names[in.name.base].read.push_back(&in.name);
      for (const NameUse* n : b->outputs()) names[n->base].assigned.push_back(n);
      if (b->body) body(*b->body);
    }
  }
};

// Does one iteration read by `read` what another assigned by `assigned`, all else around the loop being
// equal? Indices that inner loops run through may meet.
bool carries(const NameUse& assigned, const NameUse& read, const Variable* counter,
             const std::unordered_set<const Variable*>& inner) {
  if (assigned.indices.size() != read.indices.size()) return false;
  std::optional<std::int64_t> distance;
  for (std::size_t k = 0; k < read.indices.size(); ++k) {
    const auto r = sum_of(*read.indices[k]);
    auto difference = sum_of(*assigned.indices[k]);
    if (!r || !difference) continue;
    const auto runs = [&](const Sum& s) {
      return std::any_of(s.terms.begin(), s.terms.end(), [&](const auto& t) { return inner.count(t.first) != 0; });
    };
    if (runs(*r) || runs(*difference)) continue;
    const auto at = r->terms.find(counter);
    const std::int64_t factor = at == r->terms.end() ? 0 : at->second;
    difference->add(*r, -1);
    if (factor == 0) {
      if (difference->terms.empty() && difference->constant != 0) return false;
      continue;
    }
    if (!difference->terms.empty() || difference->constant % factor != 0) return false;
    const std::int64_t d = difference->constant / factor;
    if (distance && *distance != d) return false;
    distance = d;
  }
  return distance && *distance != 0;
}

}  // namespace

bool runs_in_order(const Block& range) {
  const NamesInLoop uses(*range.body);
  for (const auto& [name, of] : uses.names) {
    if (of.assigned.size() > kMostUses || of.read.size() > kMostUses) continue;
    for (const NameUse* a : of.assigned) {
      for (const NameUse* r : of.read) {
        if (carries(*a, *r, range.counter, uses.counters)) return true;
      }
    }
  }
  return false;
}

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
