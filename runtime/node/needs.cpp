#include "runtime/node/needs.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "runtime/fragment/input_slot.hpp"
#include "runtime/fragment/output_names.hpp"
#include "runtime/threads/threads.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {

// All that wait, each as often as it waits for something. It is looked through again and again: what they may assign is
// found once. One that has gone on meanwhile is an address, and no more.
struct Needs::Waiting {
  struct One {
    const Cf* cf = nullptr;
    const abi::Block* block = nullptr;
    bool last = false;  // it is an atomic fragment and waits for nothing else
    std::int64_t counter = 0;
    abi::Id waits_for;
    std::size_t assigns = 0;  // from there on to where the next one begins
  };
  std::vector<One> all;
  std::vector<abi::Id> assigned;

  explicit Waiting(DataFragments& data) {
    for (Shard& shard : data.table().shards()) {
      const std::lock_guard hold(shard.mutex);
      shard.for_each([&](const DfEntry& e) {
        for (std::uint64_t link = e.waiters; link != 0;) {
          const Waiter w = waiter_of(link);
          link = slot_word(w.cf, w.slot);
          add(w.cf, e.id);
        }
      });
    }
  }
  void add(const Cf* c, const abi::Id& id) {
    const bool atomic = c->block->kind == abi::Kind::atomic;
    all.push_back({c, c->block, atomic && __atomic_load_n(&c->pending, __ATOMIC_RELAXED) == 1, first_counter(c), id,
                   assigned.size()});
    try {
      may_assign(c, [this](const abi::Name& n) {
        assigned.push_back(n.id);
        return false;
      });
    } catch (const ProgramError&) {
      assigned.resize(all.back().assigns);  // an index that fails: it is told when the fragment runs
    }
  }
  // f(one, what it may assign of these)
  template <class F>
  void for_each_maker(const Names& of, F f) const {
    std::uint64_t bits = 0;
    for (const auto& [id, wanted_by] : of) bits |= std::uint64_t{1} << (id.lo & 63);
    for (std::size_t k = 0, at = 0; k < all.size(); ++k) {
      const std::size_t end = k + 1 < all.size() ? all[k + 1].assigns : assigned.size();
      for (; at < end; ++at) {
        if ((bits >> (assigned[at].lo & 63) & 1) != 0 && of.count(assigned[at]) != 0) f(all[k], assigned[at]);
      }
    }
  }
};

// What those wait for who let most go, the first ones of these. Who lets nothing go is no better than others.
Needs::Names Needs::most_needed(const Waiting& waiting) const {
  using Order = std::pair<float, std::int64_t>;
  std::map<Order, Names::value_type> most;
  std::vector<std::optional<float>> growth(crew_.growing.groups());
  for (const Waiting::One& w : waiting.all) {
    if (!w.last) continue;
    std::optional<float>& its = growth[w.block->group];
    if (!its) {
      const bool lets_go = crew_.growing.does(w.block->group) == Growing::Does::lets_go;
      its = lets_go ? crew_.growing.growth(w.block->group) : 0;
    }
    if (*its == 0) continue;
    most.emplace(Order{*its, w.counter}, Names::value_type{w.waits_for, w.block});
    if (most.size() > kMost) most.erase(std::prev(most.end()));
  }
  Names names;
  for (const auto& [order, name] : most) names.insert(name);
  return names;
}

// What those wait for who are to assign what is needed, which is taken off. (Who waits for it does not assign it,
// though that may look so: a record does not tell which of its names is written.)
Needs::Names Needs::follow(const Waiting& waiting, Names& needed) {
  struct Maker {
    const abi::Block* block = nullptr;
    std::set<abi::Id, ById> assigns, waits_for;
  };
  std::map<const Cf*, Maker> makers;
  waiting.for_each_maker(needed, [&](const Waiting::One& w, const abi::Id& id) {
    Maker& m = makers[w.cf];
    m.block = w.block;
    m.assigns.insert(id);
    m.waits_for.insert(w.waits_for);
  });
  Names more;
  for (const auto& [c, m] : makers) {
    bool assigns = false;
    for (const abi::Id& id : m.assigns) assigns = (m.waits_for.count(id) == 0 && needed.erase(id) != 0) || assigns;
    for (const abi::Id& id : m.waits_for) {
      if (assigns && more.size() < kMost) more.emplace(id, m.block);
    }
  }
  return more;
}

// Of what is needed, and of what is needed for that, what nobody who waits here assigns.
Needs::Names Needs::not_waited_for(const Waiting& waiting, Names needed) {
  Names seen = needed, left;
  while (!needed.empty() && seen.size() < kMostFollowed) {
    Names more = follow(waiting, needed);
    left.merge(needed);
    needed.clear();
    for (const auto& name : more) {
      if (seen.insert(name).second) needed.insert(name);
    }
  }
  left.merge(needed);
  return left;
}

// Those that fragments which are ready assign run first, and are needed no more.
void Needs::put_first(Names& needed) {
  const bool idle = crew_.all_idle();
  for (auto& worker : crew_.workers) {
    if (needed.empty()) return;
    const bool any = worker->queue.put_first([&](const Cf* c) {
      try {
        return !needed.empty() && (idle || !crew_.growing.grows(c->block->group)) &&
               may_assign(c, [&](const abi::Name& n) { return needed.erase(n.id) != 0; });
      } catch (const ProgramError&) {
        return false;  // likewise
      }
    });
    if (any) found_();
  }
}

// Who is to assign it may have to be made here by a loop that stands behind others.
void Needs::look_at_loops(const std::set<std::uint32_t>& groups) {
  const std::vector<std::uint32_t> makers(groups.begin(), groups.end());
  for (auto& worker : crew_.workers) {
    if (!makers.empty() && worker->queue.loops() > 0) worker->queue.loop_first_of(makers);
  }
  found_();
}

std::set<std::uint32_t> Needs::makers(const Names& names) {
  std::set<std::uint32_t> groups;
  for (const auto& [id, wanted_by] : names) {
    for (const std::uint32_t* g = wanted_by == nullptr ? nullptr : wanted_by->fed_by; g != nullptr && *g != ~0u; ++g)
      groups.insert(*g);
  }
  return groups;
}

void Needs::ask(const Names& names, std::int32_t passed_on) {
  if (names.empty()) return;
  const std::set<std::uint32_t> groups = makers(names);
  look_at_loops(groups);
  if (ranks_ == 1 || passed_on > kPassedOn) return;
  Need m{{}, {groups.begin(), groups.end()}, passed_on};
  for (const auto& [id, wanted_by] : names) m.names.push_back(id);
  for (std::int32_t k = 1; k < std::min(ranks_, kAsks); ++k) comm_.send(Rank{(self_ + k) % ranks_}, m);
}

// Each rank looks so often, however many ask: what is passed on comes no more often either.
void Needs::on(const Need& m) {
  for (const abi::Id& id : m.names) {
    if (of_others_.size() < kMostOfOthers) of_others_.emplace(id, nullptr);
  }
  groups_of_others_.insert(m.groups.begin(), m.groups.end());
  passed_on_ = std::max(passed_on_, m.passed_on);
}

void Needs::turn(Clock::time_point now, bool piles) {
  if (now < next_ || (of_others_.empty() && !looks(now, piles))) return;
  const std::int64_t from = thread_cpu_ns();
  const Waiting waiting(data_);
  if (!of_others_.empty()) {
    const Names needed = std::exchange(of_others_, {});
    Names left = not_waited_for(waiting, needed);
    put_first(left);
    // They have been told of these by the one who asks.
    if (std::erase_if(left, [&](const auto& name) { return needed.count(name.first) != 0; }) != 0)
      look_at_loops(groups_of_others_);
    groups_of_others_.clear();
    ask(left, std::exchange(passed_on_, 0) + 1);
  }
  if (looks(now, piles)) {
    Names left = not_waited_for(waiting, most_needed(waiting));
    put_first(left);
    ask(left, 0);
  }
  next_ = now + std::max<Clock::duration>(kEvery, std::chrono::nanoseconds(kPart * (thread_cpu_ns() - from)));
}

}  // namespace tessera::runtime
