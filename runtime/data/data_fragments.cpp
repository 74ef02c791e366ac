#include "runtime/data/data_fragments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/fragment/input_slot.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/describe.hpp"
#include "runtime/report/program_error.hpp"

namespace tessera::runtime {
namespace {

// In place of waiters: its uses are not counted.
constexpr std::uint64_t kElsewhere = ~std::uint64_t{0};

// Sending these again costs more than counting their readers one by one: 17 us against 0.1 (bench/run moving).
constexpr std::uint64_t kCountedLate = 16 << 10;

}  // namespace

DataFragments::DataFragments(Node& node)
    : node_(node),
      eager_bytes_(static_cast<std::uint64_t>(node.options.eager_bytes)),
      relay_bytes_(static_cast<std::uint64_t>(node.options.relay_bytes)),
      counted_late_(node.balancing ? kCountedLate : ~std::uint64_t{0}) {}

bool DataFragments::is_home(const abi::Name& n) const { return home_of(n) == node_.self(); }

// The caller holds the shard's lock.
DfEntry* DataFragments::insert(Shard& shard, const abi::Name& n) {
  DfEntry* e = shard.insert(n.id, n.scope);
  if (is_home(n) && abi::has_known_uses(n)) {
    e->flags |= kUnlisted;
  } else if (is_home(n)) {
    // On the scope's list. Who brought the name is under the scope, or is a stale message: then the
    // scope may have ended, and the entry belongs to nobody (a few bytes until the process ends).
    node_.scopes.add_entry(n.scope, e);
  }
  return e;
}

// A fragment takes the value as its input. The caller holds the shard's lock.
abi::Value* DataFragments::use(Shard& shard, DfEntry* e) {
  if ((e->flags & (kUnlisted | kCopy)) == 0) return abi::retain(e->value);
  if ((e->flags & kCopy) != 0) {
    e->flags |= kTouched;
    return abi::retain(e->value);
  }
  if (counted_late(e->value) || --e->uses_left > 0) return abi::retain(e->value);
  if (e->remote != nullptr) {
    abi::Value* v = abi::retain(e->value);
    free_used(shard, e);
    return v;
  }
  abi::Value* v = std::exchange(e->value, nullptr);
  free_entry(shard.remove(e->id));
  return v;
}

// From now on the entry lives until its scope ends: not all of its uses can be counted. The caller holds the shard's lock.
void DataFragments::list(DfEntry* e) {
  if ((e->flags & kUnlisted) == 0) return;
  if (e->remote != nullptr && e->remote->linked) {
    if (!node_.scopes.unlink(e)) return;  // its scope is ending, and frees it
    e->remote->linked = false;
  }
  e->flags &= ~kUnlisted & 0xFFu;
  e->scope_next = nullptr;
  node_.scopes.add_entry(e->scope, e);
}

// A fragment that has used the value is going to look for it again, perhaps on another rank.
void DataFragments::restore(const abi::Name& n, abi::Value* v) {
  if (!abi::has_known_uses(n) || !is_home(n)) return;
  Shard& shard = table_.shard(n.id);
  const std::lock_guard hold(shard.mutex);
  DfEntry* e = find_or_insert(shard, n);
  const bool gone = !somewhere(e);
  gone && counted_late(v) ? list(e) : share(e);
  if ((e->flags & kUnlisted) != 0) e->uses_left = gone ? 1 : e->uses_left + counted_now(v, 1);
  if (e->value == nullptr) e->value = abi::retain(v);
  if (gone) remote(e).again = true;
}

// Whoever assigns this input does so here, or sees to it that the value comes here (due). Nobody relies on that where ranks leave and
// join; nor for a fragment that was moved: its uses may have been counted (restore).
bool DataFragments::made_here(const abi::Cf* c, unsigned input) const {
  if (c->block->maker == nullptr || (c->flags & kMoved) != 0) return false;
  try {
    const std::int64_t place = c->block->maker(c, input);
    // In this order: who is told of a change later than it looked at the places is not misled.
    return place != abi::kAnywhere && node_.members.place(place) == node_.self() && node_.members.steady();
  } catch (const ProgramError&) {
    return false;  // the call that would assign it can have no such indices
  }
}

// Whoever assigns this input sends it to where the fragment is placed. The same holds for that.
bool DataFragments::sent_to(Rank to, const abi::Cf* c, unsigned input) const {
  if (input >= 64 || (c->block->expects >> input & 1) == 0 || (c->flags & kMoved) != 0) return false;
  return node_.members.place(c->block->locator(c)) == to && node_.members.steady();
}

std::vector<Rank> DataFragments::due(const Assigner& by) const {
  std::vector<Rank> ranks;
  if (by.cf == nullptr || !node_.members.steady()) return ranks;  // who has not asked does so when told of that
  const auto at = [&](std::int64_t place) {
    if (const Rank r = node_.members.place(place); r != node_.self()) add(ranks, r);
  };
  const abi::Block& b = *by.cf->block;
  if (by.output < 64 && (b.awaited >> by.output & 1) != 0) at(b.locator(by.cf));
  for (std::uint32_t k = 0; by.to != nullptr && k < by.to->count; ++k) at(by.to->at[k]);
  return ranks;
}

bool DataFragments::gather(Worker& w, abi::Cf* c, std::uint64_t put_down) {
  const abi::Block& b = *c->block;
  const unsigned n = b.input_count;
  if (n == 0) return true;
  const InputNames names(c);

  bool waits = false;
  unsigned have = 0;
  for (unsigned k = 0; k < n; ++k) {
    if (!abi::is_needed(names[k])) {
      slot_word(c, k) = 0;
      ++have;
      continue;
    }
    Shard& shard = table_.shard(names[k].id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(names[k].id);
    if (e != nullptr && e->value != nullptr) {
      slot_word(c, k) = reinterpret_cast<std::uint64_t>(use(shard, e));
      ++have;
      continue;
    }
    if (e == nullptr) e = insert(shard, names[k]);
    if ((e->flags & kDeleted) != 0) {
      throw ProgramError(
          0, freed_text(slot_text(c, k), e->freed_by - 1u, (e->flags & kSpent) != 0));
    }
    if (!waits) {
      waits = true;
      node_.enroll(c);
      __atomic_store_n(&c->pending, n + 1, __ATOMIC_RELAXED);
      w.waits.store(w.waits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    slot_word(c, k) = e->waiters;
    e->waiters = link_to(c, k);
    if ((e->flags & kAsked) != 0) continue;
    if (e->remote == nullptr && is_home(names[k])) continue;
    const bool comes = (e->flags & kEvicted) == 0;  // what has come before the fragment may have been
    if (comes && k < 64 && (put_down >> k & 1) != 0) {
      e->flags |= kAsked;
    } else if (comes && e->remote == nullptr && (sent_to(node_.self(), c, k) || made_here(c, k))) {
      continue;
    } else if (ask(names[k], e)) {
      w.sent = true;
    }
  }
  if (waits && __atomic_sub_fetch(&c->pending, have + 1, __ATOMIC_ACQ_REL) != 0) return false;
  if (waits) w.wakes.store(w.wakes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  c->flags |= kGathered;
  return true;
}

void DataFragments::wake(Worker& w, std::uint64_t waiters, ValueRef v) {
  while (waiters != 0) {
    const Waiter waiter = waiter_of(waiters);
    std::uint64_t& word = slot_word(waiter.cf, waiter.slot);
    waiters = word;
    word = reinterpret_cast<std::uint64_t>(waiters == 0 ? v.take() : abi::retain(v.get()));
    if (__atomic_sub_fetch(&waiter.cf->pending, 1u, __ATOMIC_ACQ_REL) == 0) {
      w.wakes.store(w.wakes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      node_.arrived(w, waiter.cf);
    }
  }
}

std::string DataFragments::assigned_twice(std::uint32_t first, std::uint32_t second,
                                          const std::string& name) const {
  return coded(fmt::format("`{}` is assigned twice: first by {}, then by {}", name,
                           describe(node_.program, *node_.program.blocks[first]),
                           describe(node_.program, *node_.program.blocks[second])),
               "T402");
}

// The caller holds the shard's lock.
void DataFragments::note_assigner(DfEntry* e, const Assigner& by) const {
  if (e->assigned_by != 0) {
    throw ProgramError(
        0, assigned_twice(e->assigned_by - 1, by.block,
                          by.cf == nullptr
                              ? ">> (...)"
                              : slot_text(by.cf, by.cf->block->input_count + by.output)));
  }
  e->assigned_by = by.block + 1;
}

// Whoever has asked for a home entry gets what has been assigned. The caller holds the shard's lock.
[[gnu::noinline]] void DataFragments::answer(DfEntry* e, const abi::Name& n, const std::vector<Rank>& asking, const ValueRef& v) {
  for (const Rank r : asking) {
    if (e->value != nullptr) {
      serve(e, n, r);
    } else {
      node_.comm.send(r, Give{n, {v}});
    }
  }
}

void DataFragments::assign(Worker& w, const Assigner& by, const abi::Name& n, abi::Value* v, std::int64_t uses) {
  ValueRef guard(v);
  if (uses >= 0 && !is_home(n)) tell_uses(v);
  Shard& shard = table_.shard(n.id);
  std::uint64_t waiters = 0;
  bool mute = false;
  std::vector<Rank> asking, due;
  if (node_.ranks() > 1) due = this->due(by);
  {
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = find_or_insert(shard, n);
    note_assigner(e, by);
    waiters = e->waiters;
    e->waiters = 0;
    if (e->value == nullptr && (e->flags & kDeleted) == 0) e->value = abi::retain(v);
    if (e->remote != nullptr) asking.swap(e->remote->asking);
    if (is_home(n)) {
      for (const Rank r : due) add(asking, r);
    }
    if (!asking.empty() && is_home(n)) {
      answer(e, n, asking, guard);
      w.sent = true;
    }
    mute = waiters == 0 && is_home(n);
  }
  if (mute) return;
  wake(w, waiters, guard);
  if (is_home(n)) return;
  const bool at_home = std::erase(due, home_of(n)) != 0;
  Publish p;
  p.name = n;
  p.block = by.block;
  p.given = v->size < relay_bytes_;
  if (p.given) {
    for (const Rank r : due) node_.comm.send(r, Give{n, {guard}});
  }
  if (small(v) || (at_home && p.given)) p.value.value = guard;
  p.ack = hold(by.scope, home_of(n));
  p.due = std::move(due);
  p.uses = uses;
  node_.comm.send(home_of(n), p);
  w.sent = true;
}

// The caller holds the shard's lock.
[[gnu::noinline]] void DataFragments::give_to_asking(Worker& w, DfEntry* e, const abi::Name& n) {
  for (const Rank r : std::exchange(e->remote->asking, {})) {
    serve(e, n, r);
    w.sent = true;
  }
}

// The caller holds the shard's lock.
[[gnu::noinline]] void DataFragments::put_down_due(DfEntry* e, const Assigner& by, std::int64_t uses) {
  if (waiting_for(e) >= uses) return;
  const std::vector<Rank> ranks = due(by);
  if (ranks.empty()) return;
  share(e);
  for (const Rank r : ranks) add(remote(e).asking, r);
}

void DataFragments::assign_used(Worker& w, const Assigner& by, const abi::Name& n, abi::Value* v,
                                std::int64_t uses) {
  if (!is_home(n)) return assign_used_away(w, by, n, v, uses);
  ValueRef guard(v);
  std::uint64_t waiters = 0;
  {
    Shard& shard = table_.shard(n.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(n.id);
    if (e == nullptr) {
      if (uses == 0) return;
      e = insert(shard, n);
    }
    if (by.to != nullptr || by.cf->block->awaited != 0) put_down_due(e, by, uses);
    if ((e->flags & kUnlisted) == 0) {
      waiters = kElsewhere;
    } else {
      note_assigner(e, by);
      uses -= counted_now(v, waiting_for(e));
      waiters = std::exchange(e->waiters, 0);
      if (uses != 0) {
        e->uses_left = uses;
        e->value = waiters == 0 ? guard.take() : abi::retain(v);
        if (e->remote != nullptr) give_to_asking(w, e, n);
      } else if (e->remote != nullptr) {
        free_used(shard, e);
      } else {
        free_entry(shard.remove(n.id));
      }
    }
  }
  if (waiters == kElsewhere) return assign(w, by, n, guard.take(), uses);
  wake(w, waiters, std::move(guard));
}

// When all who read it wait here, its home need never hear of it.
void DataFragments::assign_used_away(Worker& w, const Assigner& by, const abi::Name& n, abi::Value* v, std::int64_t uses) {
  ValueRef guard(v);
  std::uint64_t waiters = 0;
  bool matched = false, asked = false;
  {
    Shard& shard = table_.shard(n.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(n.id);
    if (e == nullptr && uses == 0) return;
    matched = e != nullptr && e->value == nullptr && waiting_for(e) == uses;
    if (matched) {
      waiters = e->waiters;
      asked = (e->flags & kAsked) != 0;
      free_entry(shard.remove(n.id));
    }
  }
  if (!matched) return assign(w, by, n, guard.take(), uses);
  if (asked) report_used_up(n);
  wake(w, waiters, std::move(guard));
}

[[gnu::always_inline]] inline void DataFragments::free_at_end(DfEntry* e, std::map<Rank, Drop>& drops) {
  {
    Shard& shard = table_.shard(e->id);
    const std::lock_guard hold(shard.mutex);
    shard.remove(e->id);
  }
  if (e->remote != nullptr) {
    for (const Rank r : e->remote->copies) {
      if (r != node_.self()) drops[r].ids.push_back(e->id);
    }
    if (e->remote->limit >= 0) note_unread(e);
  }
  free_entry(e);
}

[[gnu::noinline]] void DataFragments::free_shared(ScopeRecord* scope, std::map<Rank, Drop>& drops) {
  for (DfEntry* e = std::exchange(scope->shared, nullptr); e != nullptr;) free_at_end(std::exchange(e, e->remote->older), drops);
}

bool DataFragments::free_scope(ScopeRecord* scope) {
  std::map<Rank, Drop> drops;
  for (DfEntry* e = std::exchange(scope->entries, nullptr); e != nullptr;) free_at_end(std::exchange(e, e->scope_next), drops);
  if (scope->shared != nullptr) free_shared(scope, drops);
  for (auto& [rank, drop] : drops) node_.comm.send(rank, drop);
  return !drops.empty();
}

}  // namespace tessera::runtime
