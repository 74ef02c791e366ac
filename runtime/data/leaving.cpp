// A rank that leaves the run (node/evacuation.hpp, protocol/leaving.cpp): its waiting fragments, and its values.
#include <mutex>
#include <unordered_set>
#include <utility>

#include "runtime/data/happens.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/fragment/input_slot.hpp"
#include "runtime/threads/ticks.hpp"

namespace tessera::runtime {

std::vector<abi::Cf*> DataFragments::take_waiting() {
  std::vector<abi::Cf*> waiting;
  for (Shard& shard : table_.shards()) {
    const std::lock_guard hold(shard.mutex);
    shard.for_each([&](DfEntry& e) {
      std::uint64_t link = std::exchange(e.waiters, 0);
      while (link != 0) {
        const Waiter waiter = waiter_of(link);
        link = std::exchange(slot_word(waiter.cf, waiter.slot), 0);
        // Once each: `pending` is the number of links left, and ours are the last.
        if (__atomic_sub_fetch(&waiter.cf->pending, 1u, __ATOMIC_ACQ_REL) == 0) {
          waiting.push_back(waiter.cf);
        }
      }
    });
  }
  for (abi::Cf* c : waiting) {
    // A slot without a link holds a value; whoever runs the fragment finds it through its home. Of a swept name the
    // home may let it go soon, since this fragment had it: it goes along (board).
    const InputNames names(c);
    for (unsigned k = 0; k < names.size(); ++k) {
      if (horizons != nullptr && abi::is_swept(names[k])) continue;
      auto* v = reinterpret_cast<abi::Value*>(std::exchange(slot_word(c, k), 0));
      if (v == nullptr) continue;
      happens_here(names[k], protocol::PutBack{}, v);
      abi::release(v);
    }
  }
  Worker& w = *crew_.outside;
  w.wakes.store(w.wakes.load(std::memory_order_relaxed) + static_cast<std::int64_t>(waiting.size()),
                std::memory_order_relaxed);
  return waiting;
}

// Some have failed while they looked for their inputs, and count more of them as missing than there are links.
std::vector<abi::Cf*> DataFragments::abandon_waiting() {
  std::unordered_set<abi::Cf*> waiting;
  for (Shard& shard : table_.shards()) {
    const std::lock_guard hold(shard.mutex);
    shard.for_each([&](DfEntry& e) {
      for (std::uint64_t link = std::exchange(e.waiters, 0); link != 0;) {
        const Waiter waiter = waiter_of(link);
        link = std::exchange(slot_word(waiter.cf, waiter.slot), 0);
        waiting.insert(waiter.cf);
      }
    });
  }
  for (abi::Cf* c : waiting) release_inputs(c, *c->block);
  return {waiting.begin(), waiting.end()};
}

void DataFragments::ask_for_all() {
  for (Shard& shard : table_.shards()) {
    const std::lock_guard hold(shard.mutex);
    shard.for_each([&](DfEntry& e) {
      const abi::Name n{e.id, e.scope};
      const std::uint64_t now = ticks();
      if (!happens(shard, &e, n, protocol::WantedByAll{}).actions.sends.empty())
        rank_.asked(*crew_.outside, n, nullptr, !is_home(n), now);
    });
  }
}

Left DataFragments::give_away() {
  untold.tell(comm_, Clock::now(), true);
  Left left;
  std::vector<DfEntry*> all;
  for (Shard& shard : table_.shards()) {
    const std::lock_guard hold(shard.mutex);
    all.clear();
    shard.for_each([&](DfEntry& e) { all.push_back(&e); });  // foreign ones go
    for (DfEntry* e : all) {
      const abi::Name n{e->id, e->scope};
      const std::int64_t size = e->value == nullptr ? 0 : static_cast<std::int64_t>(e->value->size);
      bool went = false;
      const Outcome o = happens(shard, e, n, protocol::Leave{});
      for (const protocol::Send& s : o.actions.sends)
        went = went || s.say == protocol::Say::entrust || s.say == protocol::Say::keep;
      if (went) {
        ++left.values;
        left.bytes += size;
      }
      if (!is_home(n)) continue;
      ++left.names_kept;
      if (has_value(o.entry->state)) left.bytes_kept += size;
    }
  }
  const std::lock_guard hold(copies_mutex_);
  copies_.clear();
  copies_.shrink_to_fit();
  return left;
}

}  // namespace tessera::runtime
