#include "compiler/block/find_carried.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>
#include <vector>

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

// The calls of one iteration, and which of them wait.
class Calls {
 public:
  explicit Calls(const Block& range) : counter_(range.counter), counters_(NamesInLoop(*range.body).counters) {
    body(*range.body, kNone);
  }

  // Which of them wait is told by which of them do: from none on, until no more do.
  void find(Chain& range) {
    if (calls_.size() > kMostUses) return;
    while (std::count_if(calls_.begin(), calls_.end(),
                         [this](Call& c) { return !c.waits && (c.waits = does_wait(c)); }) > 0) {}
    for (const Call& c : calls_) {
      // Wherever an iteration is made, what has a place runs there.
      const bool stays = c.chain->locator != nullptr || c.chain->placed;
      if (c.waits || !stays) (c.waits ? range.waiting : range.free).push_back(c.chain);
    }
    if (range.waiting.empty()) range.free.clear();
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Call {
    const Chain* chain = nullptr;
    std::vector<const NameUse*> reads, assigns;  // reads: whatever conditions say
    std::size_t maker = kNone;                   // in whose body it is
    bool waits = false;
  };

  void body(const Body& b, std::size_t maker) {
    for (const Step& step : b.steps) {
      if (const auto* when = std::get_if<std::unique_ptr<When>>(&step)) body((*when)->body, maker);
      if (const auto* spawn = std::get_if<Spawn>(&step)) call(*spawn, maker);
    }
  }
  void call(const Spawn& s, std::size_t maker) {
    if (s.chain->kind == Kind::range && s.chain->blocks.size() == 1) return body(*s.chain->last().body, maker);
    Call c{s.chain, {}, {}, maker};
    // A sub may do either.
    for (const semantics::Argument& a : s.arguments) {
      if (a.type != semantics::ParameterType::name) continue;
      c.reads.push_back(&a.name);
      c.assigns.push_back(&a.name);
    }
    for (std::size_t k = 0; s.owned != nullptr && k < s.owned->blocks.size(); ++k) {
      const Block& b = *s.owned->blocks[k];
      for (const Input& in : b.inputs) {
        if (in.when == nullptr) c.reads.push_back(&in.name);
      }
      for (const NameUse* n : b.outputs()) c.assigns.push_back(n);
    }
    const std::size_t number = calls_.size();
    calls_.push_back(std::move(c));
    if (s.owned != nullptr && s.owned->last().body) body(*s.owned->last().body, number);
  }

  bool does_wait(const Call& c) const {
    return (c.maker != kNone && calls_[c.maker].waits) ||
           std::any_of(c.reads.begin(), c.reads.end(), [this](const NameUse* n) { return does_wait(*n); });
  }
  // All that may assign it wait, or belong to another iteration.
  bool does_wait(const NameUse& read) const {
    bool any = false;
    for (const Call& c : calls_) {
      for (const NameUse* a : c.assigns) {
        if (a->base != read.base || a == &read) continue;
        if (!c.waits && !carries(*a, read, counter_, counters_)) return false;
        any = true;
      }
    }
    return any;
  }

  const Variable* counter_;
  const std::unordered_set<const Variable*> counters_;
  std::vector<Call> calls_;
};

}  // namespace

void find_carried(Program& program, Diagnostics&) {
  for_each_chain(program, [](Chain& c) {
    if (c.kind == Kind::range && !c.stays) Calls(c.last()).find(c);
  });
}

}  // namespace tessera::compiler::block
