// How the files of data/ ask the machine (runtime/protocol).
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <type_traits>
#include <utility>

#include "runtime/comm/communicator.hpp"
#include "runtime/data/data_fragments.hpp"
#include "runtime/start/facts.hpp"
#include "runtime/start/members.hpp"
#include "runtime/work/crew.hpp"

namespace tessera::runtime {

// Instead of protocol::step: a machine that a test has broken on purpose.
inline const std::function<void(protocol::Entry&, const protocol::Event&, const protocol::View&, protocol::Actions&)>*
    broken_step = nullptr;

// For tests: how many entries were left at their homes when the ranks went; null: nobody asks.
inline std::atomic<std::size_t>* left_at_homes = nullptr;

template <class Event>
DataFragments::Outcome DataFragments::happens(Shard& shard, DfEntry* e, const abi::Name& n, const Event& event,
                                              abi::Value* value, Rank from) {
  // Where it matters how many wait, not only whether somebody does.
  constexpr bool counts = std::is_same_v<Event, protocol::Assigned> || std::is_same_v<Event, protocol::Publish> ||
                          std::is_same_v<Event, protocol::Give> || std::is_same_v<Event, protocol::Shipped>;
  protocol::Actions& actions = fresh_actions();
  protocol::Entry fresh;
  protocol::Entry& entry = e == nullptr ? fresh : *e;
  const protocol::State before = entry.state;
  protocol::View v = view(n, e == nullptr || e->value == nullptr ? value : e->value);
  // Word of a name that is not known here: of one whose scope has ended there is nothing to be known.
  constexpr bool may_be_late = std::is_same_v<Event, protocol::Request> || std::is_same_v<Event, protocol::Copied> ||
                               std::is_same_v<Event, protocol::Keep> || std::is_same_v<Event, protocol::Used> ||
                               std::is_same_v<Event, protocol::Free>;
  if (may_be_late && e == nullptr && v.at_home()) v.scope_lives = scopes_.find_home(n.scope) != nullptr;
  if (e != nullptr) v.waiting = counts && v.known_uses ? waiting_for(e) : e->waiters != 0 ? 1 : 0;
  if (broken_step != nullptr) [[unlikely]] {
    (*broken_step)(entry, event, v, actions);
  } else {
    step(entry, event, v, actions);
  }
  return carry_out(shard, e, fresh, before, n, value, from, actions);
}

template <class Event>
bool DataFragments::happens_here(const abi::Name& n, const Event& event, abi::Value* value, Rank from) {
  std::uint64_t waiters = 0;
  bool sent = false;
  {
    Shard& shard = table_.shard(n.id);
    const std::lock_guard hold(shard.mutex);
    const Outcome o = happens(shard, shard.find(n.id), n, event, value, from);
    waiters = o.waiters;
    sent = !o.actions.sends.empty();
  }
  if (waiters != 0) wake(*crew_.outside, waiters, ValueRef(abi::retain(value)));
  return sent;
}

}  // namespace tessera::runtime
