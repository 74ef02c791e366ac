// Data fragments between ranks: who has a value, who asks for it, who gets it (docs/messages.md).
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "balancer/relay.hpp"
#include "runtime/data/data_fragments.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/fragment/input_slot.hpp"
#include "runtime/memory/value.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/describe.hpp"
#include "runtime/report/program_error.hpp"

namespace tessera::runtime {

// Sends for the value, unless it is to be assigned here. The caller holds the shard's lock.
bool DataFragments::ask(const abi::Name& n, DfEntry* e) {
  if (!is_home(n)) {
    node_.comm.send(home_of(n), Request{n, (e->flags & kEvicted) != 0 || !node_.members.steady()});
  } else if (keeper(e) != Rank{-1}) {
    node_.comm.send(keeper(e), Fetch{n, node_.self()});
  } else {
    return false;
  }
  e->flags |= kAsked;
  e->flags &= ~kEvicted & 0xFFu;
  return true;
}

std::uint64_t DataFragments::see_off(const abi::Cf* c, Rank to, Ship& ship, std::vector<abi::Name>& names) {
  if ((c->flags & kGathered) != 0) return 0;
  const InputNames inputs(c);
  std::uint64_t put_down = 0;
  for (unsigned k = 0; k < std::min(inputs.size(), 64u); ++k) {
    const abi::Name& n = inputs[k];
    if (!abi::is_needed(n) || !is_home(n)) continue;
    const bool comes = sent_to(to, c, k);
    Shard& shard = table_.shard(n.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(n.id);
    if (e == nullptr || (e->value == nullptr && e->assigned_by == 0 && (e->flags & kDeleted) == 0)) {
      if (comes) continue;
      put_down |= std::uint64_t{1} << k;
      names.push_back(n);
    } else if (e->value != nullptr && small(e->value)) {
      share(e);
      if (add(remote(e).copies, to) || remote(e).again) ship.inputs.push_back({n, {ValueRef(abi::retain(e->value))}, false});
    }
  }
  return put_down;
}

// Puts `to` down for a copy of a home entry's value and says who sends it: this rank or the value's keeper, or
// another that was put down before. Only the home decides, by its one list, so nobody waits in a circle. Where
// ranks leave and join nobody passes on. Lock held.
Rank DataFragments::giver_of(DfEntry* e, Rank to) {
  RemoteSide& side = remote(e);
  const Rank source = e->value != nullptr ? node_.self() : side.keeper;
  const bool large = e->value == nullptr || e->value->size >= relay_bytes_;
  if (large && !side.again && !node_.evacuation->ever()) return balancer::giver(side.copies, source, to);
  add(side.copies, to);
  return source;
}

// Sends the value of a home entry to `to`, or has another rank do so. Lock held.
void DataFragments::serve(DfEntry* e, const abi::Name& n, Rank to) {
  if (e->value != nullptr) believe_on(e->value, to);
  const Rank by = giver_of(e, to);
  if (by != node_.self()) return node_.comm.send(by, Fetch{n, to});
  node_.comm.send(to, Give{n, {ValueRef(abi::retain(e->value))}});
}

// The value has come, or will not: whoever was to have it from here gets it, or asks again. Lock held.
void DataFragments::keep_promises(DfEntry* e, const abi::Name& n) {
  if (e->remote == nullptr || is_home(n)) return;
  for (const Rank to : std::exchange(e->remote->asking, {})) {
    if (e->value != nullptr) {
      node_.comm.send(to, Give{n, {ValueRef(abi::retain(e->value))}});
    } else {
      node_.comm.send(home_of(n), Refetch{n, to});
    }
  }
}

void DataFragments::on(Rank from, Request&& m) {
  // Asked for by a fragment that has got it another way since, and ended with its scope.
  if (node_.scopes.find_home(m.name.scope) == nullptr) return;
  Shard& shard = table_.shard(m.name.id);
  const std::lock_guard hold(shard.mutex);
  DfEntry* e = find_or_insert(shard, m.name);
  share(e);
  if ((e->flags & kDeleted) != 0) {
    node_.comm.send(from, Gone{m.name, e->freed_by - 1u, (e->flags & kSpent) != 0});
  } else if (e->value != nullptr || keeper(e) != Rank{-1}) {
    serve(e, m.name, from);
  } else {
    add(remote(e).asking, from);
    remote(e).lost = remote(e).lost || m.lost;
  }
}

void DataFragments::on(Rank from, Publish&& m) {
  Shard& shard = table_.shard(m.name.id);
  std::uint64_t waiters = 0;
  std::string twice;
  {
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = find_or_insert(shard, m.name);
    m.uses >= 0 ? share(e) : list(e);
    if (e->assigned_by != 0) {
      const abi::Block& b = *node_.program.blocks[m.block];
      const char* name = b.output_count > 0 ? b.slots[b.input_count].text : "a data fragment";
      twice = assigned_twice(e->assigned_by - 1, m.block, name);
    } else if ((e->flags & kDeleted) != 0) {  // before it came here
      e->assigned_by = m.block + 1;
      add(m.due, from);
      for (const Rank r : m.due) node_.comm.send(r, Drop{{m.name.id}});
    } else {
      e->assigned_by = m.block + 1;
      RemoteSide& side = remote(e);
      const bool counted = (e->flags & kUnlisted) != 0;
      if (counted) e->uses_left += m.uses;
      std::int64_t here = 0;
      add(side.copies, from);
      if (m.value.value && e->value == nullptr) {
        e->value = abi::retain(m.value.value.get());
        believe_on(e->value, from);
      }
      if (e->value != nullptr) {
        if (counted) here = counted_now(e->value, waiting_for(e));
        waiters = std::exchange(e->waiters, 0);
      } else {
        side.keeper = from;
        if (e->waiters != 0) ask(m.name, e);
      }
      std::vector<Rank> asking;
      asking.swap(side.asking);
      // Some were put down for a fragment that its own assignment has reached.
      std::erase(asking, from);
      for (const Rank r : m.due) {
        add(m.given ? side.copies : asking, r);
        if (m.given && !side.lost) std::erase(asking, r);
      }
      for (const Rank r : asking) serve(e, m.name, r);
      if (node_.evacuation->swept()) entrust(e);
      if (counted) count_down(shard, e, here);
    }
  }
  if (!twice.empty()) {
    // The scope must not end before the failure is known to rank 0.
    if (ScopeRecord* s = node_.scopes.find_home(m.name.scope)) s->count.fetch_add(1);
    return node_.fail(twice, kExitProgram);
  }
  wake(*node_.outside, waiters, m.value.value);
  if (m.ack != 0) node_.comm.send(from, Acked{m.ack});
}

void DataFragments::on(Rank, Fetch&& m) {
  Shard& shard = table_.shard(m.name.id);
  const std::lock_guard hold(shard.mutex);
  DfEntry* e = shard.find(m.name.id);
  if (e != nullptr && e->value != nullptr) {
    node_.comm.send(m.to, Give{m.name, {ValueRef(abi::retain(e->value))}});
  } else if (!is_home(m.name) && (e == nullptr || (e->flags & kEvicted) == 0) &&
             (node_.members.steady() || (e != nullptr && (e->flags & kAsked) != 0))) {
    // Under way: asked for, or sent unasked.
    if (e == nullptr) e = insert(shard, m.name);
    e->flags |= kAsked;
    remote(e).asking.push_back(m.to);
  } else {
    // Evicted, or given back to its home, while this was under way.
    node_.comm.send(home_of(m.name), Refetch{m.name, m.to});
  }
}

void DataFragments::on(Rank from, Give&& m) {
  if (!is_home(m.name)) tell_uses(m.value.value.get());
  std::uint64_t waiters = 0;
  {
    Shard& shard = table_.shard(m.name.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(m.name.id);
    // Earlier than the fragment that reads it. (Or its scope has ended, and the home's Drop came earlier: rare.)
    if (e == nullptr && !is_home(m.name) && !node_.evacuation->swept()) e = insert(shard, m.name);
    // Dropped or brought by a shipment in the meantime: normal.
    if (e == nullptr) return;
    if (e->value != nullptr) {
      e->flags |= kTouched;  // somebody is about to look for it
      return;
    }
    waiters = e->waiters;
    e->flags &= ~kAsked & 0xFFu;
    if (waiters == 0 && node_.evacuation->swept()) return keep_promises(e, m.name);  // who asked has been sent elsewhere
    const std::int64_t here = waiting_for(e);
    e->waiters = 0;
    e->flags &= ~kEvicted & 0xFFu;
    e->value = abi::retain(m.value.value.get());
    believe_on(e->value, from);
    if (!is_home(m.name)) note_copy(e);
    keep_promises(e, m.name);
    if ((e->flags & kUnlisted) != 0) count_down(shard, e, counted_now(e->value, here));
  }
  wake(*node_.outside, waiters, std::move(m.value.value));
}

void DataFragments::take_copy(Rank from, PackedInput&& input) {
  const abi::Name& n = input.name;
  std::uint64_t waiters = 0;
  {
    Shard& shard = table_.shard(n.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = find_or_insert(shard, n);
    if (!somewhere(e)) list(e);  // it comes before its Publish, or its home never hears of it
    if (e->value != nullptr) return;
    if ((e->flags & kDeleted) != 0) return;  // the reader says so when it looks for its input
    e->value = abi::retain(input.value.value.get());
    e->flags &= ~kEvicted & 0xFFu;
    believe_on(e->value, from);
    const std::int64_t here = waiting_for(e);
    waiters = std::exchange(e->waiters, 0);
    if ((e->flags & kUnlisted) != 0) count_down(shard, e, counted_now(e->value, here));
    if (!is_home(n)) {
      if (!input.unheard) tell_uses(e->value);
      note_copy(e);
      e->unheard = input.unheard ? 1 : 0;
      keep_promises(e, n);
    }
  }
  if (!is_home(n) && home_of(n) != from) node_.comm.send(home_of(n), Copied{n});
  wake(*node_.outside, waiters, std::move(input.value.value));
}

void DataFragments::pass_by(Rank from, PackedInput& input) {
  if (!std::exchange(input.unheard, false)) return;
  Keep m{input.name, input.value};
  if (is_home(input.name)) return on(from, std::move(m));
  node_.comm.send(home_of(input.name), m);
}

void DataFragments::on(Rank from, Copied&& m) {
  Shard& shard = table_.shard(m.name.id);
  const std::lock_guard hold(shard.mutex);
  // The Publish may be under way still: then the entry begins here.
  DfEntry* e = node_.scopes.find_home(m.name.scope) == nullptr ? nullptr : find_or_insert(shard, m.name);
  if (e == nullptr || (e->flags & kDeleted) != 0) {
    node_.comm.send(from, Drop{{m.name.id}});
  } else {
    somewhere(e) ? share(e) : list(e);
    add(remote(e).copies, from);
  }
}

void DataFragments::on(Rank, Drop&& m) {
  for (const abi::Id& id : m.ids) {
    Shard& shard = table_.shard(id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(id);
    if (e == nullptr || e->waiters != 0) continue;
    keep_promises(e, {id, e->scope});
    if ((e->flags & kCopy) != 0 && e->value != nullptr) forget_copy(e);
    free_entry(shard.remove(id));
  }
}

bool DataFragments::go_along(const abi::Name& n, abi::Value* held, Rank to, Ship& ship, bool leaves_now) {
  restore(n, held);
  bool unheard = !is_home(n) && abi::has_known_uses(n);
  {
    Shard& shard = table_.shard(n.id);
    const std::lock_guard hold(shard.mutex);
    if (DfEntry* e = shard.find(n.id)) {
      // What we assigned and published with its value is at its home already.
      if (to == home_of(n) && e->assigned_by != 0 && small(held)) return false;
      unheard = !is_home(n) && e->unheard != 0;
      std::vector<Rank>& copies = remote(e).copies;
      const bool again = remote(e).again;
      if (!again && std::find(copies.begin(), copies.end(), to) != copies.end()) return false;
      // What has been boarded for the giver must have left before it hears of this.
      if (is_home(n) && e->value != nullptr && leaves_now && !again) {
        if (const Rank by = giver_of(e, to); by != node_.self()) {
          node_.comm.send(by, Fetch{n, to});
          return true;
        }
      }
      add(copies, to);
    }
  }
  ship.inputs.push_back({n, {ValueRef(abi::retain(held))}, unheard});
  return false;
}

}  // namespace tessera::runtime
