// The data of a rank that leaves the run (node/evacuation.hpp).
//
// Names keep their home: it is part of the name, and copies of names are in frames everywhere. What
// leaves is what has a size: values. After give_away() this rank's table has
//   of its own names  entries without a value, whose keeper is another rank, or with a small one;
//   of other names    nothing.
// A Fetch that was under way to this rank is answered with a Refetch: its home has the value by
// then, for Keep was sent before and parcels of a pair keep their order. The keeper of an entrusted
// value may leave as well: it sends a Keep like any other, and the home entrusts it to somebody
// else.
#include "runtime/node/evacuation.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "runtime/data/data_fragments.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/fragment/input_slot.hpp"
#include "runtime/node/node.hpp"

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
    // A slot without a link holds a value; whoever runs the fragment finds it through its home.
    const InputNames names(c);
    for (unsigned k = 0; k < names.size(); ++k) {
      auto* v = reinterpret_cast<abi::Value*>(std::exchange(slot_word(c, k), 0));
      if (v == nullptr) continue;
      restore(names[k], v);
      // Where it was assigned among those who read it, its home has not heard of it (assign_used).
      if (abi::has_known_uses(names[k]) && !is_home(names[k])) {
        node_.comm.send(home_of(names[k]), Keep{names[k], {ValueRef(abi::retain(v))}});
      }
      abi::release(v);
    }
  }
  Worker& w = *node_.outside;
  w.wakes.store(w.wakes.load(std::memory_order_relaxed) + static_cast<std::int64_t>(waiting.size()),
                std::memory_order_relaxed);
  return waiting;
}

// Has another rank keep the value of one of our names; false when it is small enough to stay. The
// caller holds the shard's lock.
bool DataFragments::entrust(DfEntry* e) {
  if (e->value == nullptr || e->value->size <= std::min(Evacuation::kSmallest, eager_bytes_)) return false;
  RemoteSide& side = remote(e);
  if (side.keeper != Rank{-1}) {  // ours is a copy
    abi::release(std::exchange(e->value, nullptr));
    return false;
  }
  const Rank keeper = node_.evacuation->next_target();
  side.keeper = keeper;
  if (std::find(side.copies.begin(), side.copies.end(), keeper) == side.copies.end()) {
    side.copies.push_back(keeper);
  }
  node_.comm.send(keeper, Entrust{{e->id, e->scope}, {ValueRef(std::exchange(e->value, nullptr))}});
  return true;
}

void DataFragments::ask_for_all() {
  for (Shard& shard : table_.shards()) {
    const std::lock_guard hold(shard.mutex);
    shard.for_each([&](DfEntry& e) {
      if (e.waiters != 0 && (e.flags & kAsked) == 0) ask({e.id, e.scope}, &e);
    });
  }
}

Left DataFragments::give_away() {
  tell_uses_now(Clock::now(), true);
  Left left;
  std::vector<DfEntry*> foreign;
  for (Shard& shard : table_.shards()) {
    const std::lock_guard hold(shard.mutex);
    foreign.clear();
    shard.for_each([&](DfEntry& e) {
      if (home_of(e.scope) != node_.self()) return foreign.push_back(&e);
      list(&e);
      const std::int64_t size = e.value == nullptr ? 0 : static_cast<std::int64_t>(e.value->size);
      ++left.names_kept;
      if (entrust(&e)) {
        ++left.values;
        left.bytes += size;
      } else if (e.value != nullptr) {
        left.bytes_kept += size;
      }
    });
    for (DfEntry* e : foreign) {
      keep_promises(e, {e->id, e->scope});
      const bool copy = e->value != nullptr && (e->flags & kCopy) != 0;
      if (copy) forget_copy(e);
      if (copy ? e->unheard != 0
               : e->value != nullptr && (!small(e->value) || (e->flags & kEntrusted) != 0)) {
        ++left.values;
        left.bytes += static_cast<std::int64_t>(e->value->size);
        node_.comm.send(home_of(e->scope),
                        Keep{{e->id, e->scope}, {ValueRef(std::exchange(e->value, nullptr))}});
      }
      free_entry(shard.remove(e->id));
    }
  }
  const std::lock_guard hold(copies_mutex_);
  copies_.clear();
  copies_.shrink_to_fit();
  return left;
}

void DataFragments::on(Rank from, Entrust&& m) {
  if (node_.evacuation->swept()) return node_.comm.send(from, Keep{m.name, std::move(m.value)});
  std::uint64_t waiters = 0;
  {
    Shard& shard = table_.shard(m.name.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = find_or_insert(shard, m.name);
    if (e->value == nullptr) {
      e->value = abi::retain(m.value.value.get());
      waiters = std::exchange(e->waiters, 0);
    } else if ((e->flags & kCopy) != 0) {
      forget_copy(e);  // what we keep for others must not be evicted
    }
    e->flags &= ~kEvicted & 0xFFu;
    e->flags |= kEntrusted;
    keep_promises(e, m.name);
  }
  wake(*node_.outside, waiters, std::move(m.value.value));
}

void DataFragments::on(Rank from, Keep&& m) {
  if (node_.scopes.find_home(m.name.scope) == nullptr) return;
  std::uint64_t waiters = 0;
  {
    Shard& shard = table_.shard(m.name.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = find_or_insert(shard, m.name);
    list(e);
    if ((e->flags & kDeleted) != 0) return;
    if (keeper(e) != Rank{-1} && keeper(e) != from) return;
    if (e->remote != nullptr) e->remote->keeper = Rank{-1};
    if (e->value != nullptr) return;
    e->value = abi::retain(m.value.value.get());
    e->flags &= ~kAsked & 0xFFu;
    waiters = std::exchange(e->waiters, 0);
    std::vector<Rank> asking;
    if (e->remote != nullptr) asking.swap(e->remote->asking);
    for (const Rank r : asking) serve(e, m.name, r);
    if (node_.evacuation->swept()) entrust(e);
  }
  wake(*node_.outside, waiters, std::move(m.value.value));
}

void DataFragments::on(Rank, Refetch&& m) { on(m.to, Request{m.name}); }

}  // namespace tessera::runtime
