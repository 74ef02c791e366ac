#include "runtime/node/needs.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/fragment/input_slot.hpp"
#include "runtime/fragment/output_names.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {

// f(fragment, what it waits for), under the lock of that.
template <class F>
void Needs::for_each_waiting(F f) {
  for (Shard& shard : data_.table().shards()) {
    const std::lock_guard hold(shard.mutex);
    shard.for_each([&](const DfEntry& e) {
      for (std::uint64_t link = e.waiters; link != 0;) {
        const Waiter w = waiter_of(link);
        link = slot_word(w.cf, w.slot);
        f(w.cf, e.id);
      }
    });
  }
}

// What those wait for who let most go, the first ones of these. Who lets nothing go is no better than others.
Needs::Names Needs::most_needed() {
  using Order = std::pair<float, std::int64_t>;
  std::map<Order, abi::Id> most;
  for_each_waiting([&](const Cf* c, const abi::Id& id) {
    if (c->block->kind != abi::Kind::atomic || __atomic_load_n(&c->pending, __ATOMIC_RELAXED) != 1) return;
    if (crew_.growing.does(c->block->group) != Growing::Does::lets_go) return;
    most.emplace(Order{crew_.growing.growth(c->block->group), first_counter(c)}, id);
    if (most.size() > kMost) most.erase(std::prev(most.end()));
  });
  Names names;
  for (const auto& [order, id] : most) names.insert(id);
  return names;
}

// Those that fragments which are ready assign run first, and are needed no more.
void Needs::put_first(Names& needed) {
  const bool idle = crew_.all_idle();
  for (auto& worker : crew_.workers) {
    if (needed.empty()) return;
    const bool any = worker->queue.put_first([&](const Cf* c) {
      return !needed.empty() && (idle || !crew_.growing.grows(c->block->group)) &&
             may_assign(c, [&](const abi::Name& n) { return needed.erase(n.id) != 0; });
    });
    if (any) found_();
  }
}

// What those wait for who are to assign what is needed, which is taken off.
Needs::Names Needs::follow(Names& needed) {
  Names more, found;
  for_each_waiting([&](const Cf* c, const abi::Id& id) {
    const bool assigns =
        may_assign(c, [&](const abi::Name& n) { return needed.count(n.id) != 0 && found.insert(n.id).second; });
    if (assigns && more.size() < kMost) more.insert(id);
  });
  for (const abi::Id& id : found) needed.erase(id);
  return more;
}

// Of what is needed, and of what is needed for that, what nobody assigns here. `own`: all of it; else only the latter.
Needs::Names Needs::not_here(Names needed, bool own) {
  Names asked;
  try {
    for (std::int32_t round = 0; round < kPassedOn && !needed.empty(); ++round) {
      put_first(needed);
      Names more = needed.empty() ? Names() : follow(needed);
      if (own || round > 0) asked.merge(needed);
      needed = std::move(more);
    }
  } catch (const ProgramError&) {
    // An index that fails: it is told when its fragment runs.
  }
  return asked;
}

void Needs::ask(const Names& names, std::int32_t passed_on) {
  if (names.empty() || ranks_ == 1 || passed_on > kPassedOn) return;
  const Need m{{names.begin(), names.end()}, passed_on};
  for (std::int32_t k = 1; k < std::min(ranks_, kAsks); ++k) comm_.send(Rank{(self_ + k) % ranks_}, m);
}

// Each rank looks so often, however many ask: what is passed on comes no more often either.
void Needs::on(const Need& m) {
  for (const abi::Id& id : m.names) {
    if (of_others_.size() < kMostOfOthers) of_others_.insert(id);
  }
  passed_on_ = std::max(passed_on_, m.passed_on);
}

void Needs::turn(Clock::time_point now, bool piles) {
  if (now < next_ || (of_others_.empty() && !looks(now, piles))) return;
  if (!of_others_.empty()) ask(not_here(std::exchange(of_others_, {}), false), std::exchange(passed_on_, 0) + 1);
  if (looks(now, piles)) ask(not_here(most_needed(), true), 0);
  const auto then = Clock::now();
  next_ = then + std::max<Clock::duration>(kEvery, (then - now) * kPart);
}

}  // namespace tessera::runtime
