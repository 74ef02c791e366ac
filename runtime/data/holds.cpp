#include "runtime/data/holds.hpp"

#include <utility>
#include <vector>

#include "runtime/data/data_fragments.hpp"

namespace tessera::runtime {
namespace {

std::uint64_t scope_of(const abi::Name& n) { return n.scope & ~(abi::kUsesKnown | abi::kSwept); }
protocol::Id id_of(const abi::Id& id) { return {id.lo, id.hi}; }
abi::Id id_of(const protocol::Id& id) { return {id[0], id[1]}; }

}  // namespace

void Holds::take(const abi::Name& n, const abi::Id& by) {
  if (home_of(n) != self()) return comm_.send(home_of(n), Hold{n, by, false, false});
  on(self(), Hold{n, by, false, false});
}

void Holds::end(const abi::Name& n, const abi::Id& by, bool of_body) {
  if (home_of(n) != self()) return comm_.send(home_of(n), Hold{n, by, true, of_body});
  on(self(), Hold{n, by, true, of_body});
}

void Holds::free(HeldDelete&& m) {
  const Rank home = home_of(m.name);
  if (home != self()) return comm_.send(home, std::move(m));
  on(self(), std::move(m));
}

void Holds::on(Rank, Hold&& m) {
  const protocol::Element what{scope_of(m.name), id_of(m.name.id)};
  any_.store(true, std::memory_order_relaxed);
  if (m.ends) return happens(protocol::LetGo{what, id_of(m.by), m.of_body}, m.name.scope);
  happens(protocol::Held{what, id_of(m.by)}, m.name.scope);
}

void Holds::on(Rank, HeldDelete&& m) {
  protocol::Delete d;
  d.scope = scope_of(m.name);
  d.marks = m.name.scope ^ d.scope;
  d.swept = abi::is_swept(m.name);
  d.all = m.all;
  d.block = m.block;
  for (const abi::Id& part : m.parts) d.parts.push_back(id_of(part));
  happens(protocol::Deletes{std::move(d)});
}

void Holds::on(Rank from, Settle&&) { comm_.send(from, Settled{}); }
void Holds::on(Rank, Settled&&) { happens(protocol::Answered{}); }

void Holds::happens(const protocol::HoldingEvent& event, std::uint64_t only_while_lives) {
  protocol::HoldingActions actions;
  {
    const std::lock_guard hold(mutex_);
    // Under the lock: a scope is retired before its end is told here.
    if (only_while_lives != 0 && scopes_.find_home(only_while_lives) == nullptr) return;
    protocol::step(holding_, event, ranks_, actions);
  }
  if (actions.ask_all) {
    for (std::int32_t r = 0; r < ranks_; ++r) {
      if (Rank{r} != self()) comm_.send(Rank{r}, Settle{});
    }
  }
  for (const protocol::Delete& d : actions.frees) {
    data_.on(self(), DeleteHint{{id_of(d.parts.back()), d.scope | d.marks}, d.block});
  }
  if (actions.look) look();
}

void Holds::look() {
  std::vector<std::pair<std::uint64_t, abi::Id>> waiting;
  {
    const std::lock_guard hold(mutex_);
    for (const auto& [number, w] : holding_.waiting) {
      if (w.of.swept) waiting.emplace_back(number, id_of(w.of.parts.back()));
    }
  }
  protocol::Swept swept;
  for (const auto& [number, id] : waiting) {
    if (!data_.knows(id)) swept.deletes.push_back(number);
  }
  happens(std::move(swept));
}

}  // namespace tessera::runtime
