#include "runtime/data/data_fragments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/input_slot.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/describe.hpp"
#include "runtime/report/program_error.hpp"

namespace tessera::runtime {
namespace {

bool add(std::vector<Rank>& ranks, Rank r) {
  if (std::find(ranks.begin(), ranks.end(), r) != ranks.end()) return false;
  ranks.push_back(r);
  return true;
}
// In place of waiters: the value is needed on other ranks, or its home is one.
constexpr std::uint64_t kElsewhere = ~std::uint64_t{0};

Rank keeper(const DfEntry* e) { return e->remote == nullptr ? Rank{-1} : e->remote->keeper; }

}  // namespace

bool DataFragments::is_home(const abi::Name& n) const { return home_of(n) == node_.self(); }

// The caller holds the shard's lock.
DfEntry* DataFragments::find_or_insert(Shard& shard, const abi::Name& n) {
  DfEntry* e = shard.find(n.id);
  if (e != nullptr) return e;
  e = shard.insert(n.id, n.scope);
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
  if (--e->uses_left > 0) return abi::retain(e->value);
  abi::Value* v = std::exchange(e->value, nullptr);
  free_entry(shard.remove(e->id));
  return v;
}

// From now on the entry lives until its scope ends: other ranks read it, and their reads are not
// counted here. The caller holds the shard's lock.
void DataFragments::list(DfEntry* e) {
  if ((e->flags & kUnlisted) == 0) return;
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
  list(e);
  if (e->value == nullptr) e->value = abi::retain(v);
}

bool DataFragments::gather(Worker& w, abi::Cf* c) {
  const abi::Block& b = *c->block;
  const unsigned n = b.input_count;
  if (n == 0) return true;
  // Names have initial values; these get theirs from the block.
  alignas(abi::Name) std::byte few[16 * sizeof(abi::Name)];
  std::vector<abi::Name> many;
  auto* names = reinterpret_cast<abi::Name*>(few);
  if (n * sizeof(abi::Name) > sizeof few) {
    many.resize(n);
    names = many.data();
  }
  b.inputs(c, names);

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
    if (e == nullptr) e = find_or_insert(shard, names[k]);
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
    if ((e->flags & kAsked) == 0) {
      ask(names[k], e);
      w.sent = true;
    }
  }
  if (waits && __atomic_sub_fetch(&c->pending, have + 1, __ATOMIC_ACQ_REL) != 0) return false;
  if (waits) w.wakes.store(w.wakes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  c->flags |= kGathered;
  return true;
}

// The caller holds the shard's lock.
void DataFragments::ask(const abi::Name& n, DfEntry* e) {
  if (!is_home(n)) {
    e->flags |= kAsked;
    node_.comm.send(home_of(n), Request{n});
  } else if (keeper(e) != Rank{-1}) {
    e->flags |= kAsked;
    node_.comm.send(keeper(e), Fetch{n, node_.self()});
  }
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

void DataFragments::assign(Worker& w, const Assigner& by, const abi::Name& n, abi::Value* v) {
  ValueRef guard(v);
  Shard& shard = table_.shard(n.id);
  std::uint64_t waiters = 0;
  bool mute = false;
  std::vector<Rank> asking;
  {
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = find_or_insert(shard, n);
    note_assigner(e, by);
    waiters = e->waiters;
    e->waiters = 0;
    if (e->value == nullptr && (e->flags & kDeleted) == 0) e->value = abi::retain(v);
    if (e->remote != nullptr) asking.swap(e->remote->asking);
    for (const Rank r : asking) add(remote(e).copies, r);
    mute = waiters == 0 && asking.empty() && is_home(n);
  }
  if (mute) return;
  wake(w, waiters, guard);
  if (is_home(n)) {
    for (const Rank r : asking) node_.comm.send(r, Give{n, {guard}});
    w.sent = w.sent || !asking.empty();
    return;
  }
  Publish p;
  p.name = n;
  p.block = by.block;
  if (v->size <= kSmall) p.value.value = guard;
  p.ack = hold(by.scope, home_of(n));
  node_.comm.send(home_of(n), p);
  w.sent = true;
}

void DataFragments::assign_used(Worker& w, const Assigner& by, const abi::Name& n, abi::Value* v,
                                std::int64_t uses) {
  ValueRef guard(v);
  std::uint64_t waiters = 0;
  {
    Shard& shard = table_.shard(n.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = is_home(n) ? shard.find(n.id) : nullptr;
    if (e == nullptr && is_home(n)) {
      if (uses == 0) return;
      e = find_or_insert(shard, n);
    }
    if (e == nullptr || (e->flags & kUnlisted) == 0) {
      waiters = kElsewhere;
    } else {
      note_assigner(e, by);
      waiters = std::exchange(e->waiters, 0);
      for (std::uint64_t at = waiters; at != 0; --uses) {
        const Waiter waiter = waiter_of(at);
        at = slot_word(waiter.cf, waiter.slot);
      }
      if (uses == 0) {
        free_entry(shard.remove(n.id));
      } else {
        e->uses_left = uses;
        e->value = waiters == 0 ? guard.take() : abi::retain(v);
      }
    }
  }
  if (waiters == kElsewhere) return assign(w, by, n, guard.take());
  wake(w, waiters, std::move(guard));
}

// Sends the value of a home entry to `to`, or has its keeper do so. Lock held.
void DataFragments::serve(DfEntry* e, const abi::Name& n, Rank to) {
  add(remote(e).copies, to);
  if (e->value != nullptr) {
    node_.comm.send(to, Give{n, {ValueRef(abi::retain(e->value))}});
  } else {
    node_.comm.send(keeper(e), Fetch{n, to});
  }
}

void DataFragments::on(Rank from, Request&& m) {
  // Asked for by a fragment that has got it another way since, and ended with its scope.
  if (node_.scopes.find_home(m.name.scope) == nullptr) return;
  Shard& shard = table_.shard(m.name.id);
  const std::lock_guard hold(shard.mutex);
  DfEntry* e = find_or_insert(shard, m.name);
  list(e);
  if ((e->flags & kDeleted) != 0) {
    node_.comm.send(from, Gone{m.name, e->freed_by - 1u, (e->flags & kSpent) != 0});
  } else if (e->value != nullptr || keeper(e) != Rank{-1}) {
    serve(e, m.name, from);
  } else {
    add(remote(e).asking, from);
  }
}

void DataFragments::on(Rank from, Publish&& m) {
  Shard& shard = table_.shard(m.name.id);
  std::uint64_t waiters = 0;
  std::string twice;
  {
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = find_or_insert(shard, m.name);
    list(e);
    if (e->assigned_by != 0) {
      const abi::Block& b = *node_.program.blocks[m.block];
      const char* name = b.output_count > 0 ? b.slots[b.input_count].text : "a data fragment";
      twice = assigned_twice(e->assigned_by - 1, m.block, name);
    } else if ((e->flags & kDeleted) != 0) {  // before it came here
      e->assigned_by = m.block + 1;
      node_.comm.send(from, Drop{{m.name.id}});
    } else {
      e->assigned_by = m.block + 1;
      RemoteSide& side = remote(e);
      add(side.copies, from);
      if (m.value.value && e->value == nullptr) {
        e->value = abi::retain(m.value.value.get());
      }
      if (e->value != nullptr) {
        waiters = e->waiters;
        e->waiters = 0;
      } else {
        side.keeper = from;
        if (e->waiters != 0) ask(m.name, e);
      }
      std::vector<Rank> asking;
      asking.swap(side.asking);
      for (const Rank r : asking) serve(e, m.name, r);
      if (node_.evacuation->swept()) entrust(e);
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
  ValueRef value;
  {
    Shard& shard = table_.shard(m.name.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(m.name.id);
    if (e != nullptr) value = ValueRef(abi::retain(e->value));
  }
  if (!value && node_.evacuation->ever()) {
    // Given back to its home while this was under way.
    return node_.comm.send(home_of(m.name), Refetch{m.name, m.to});
  }
  node_.comm.send(m.to, Give{m.name, {std::move(value)}});
}

void DataFragments::on(Rank from, Give&& m) {
  std::uint64_t waiters = 0;
  {
    Shard& shard = table_.shard(m.name.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(m.name.id);
    // Dropped or brought by a shipment in the meantime: normal.
    if (e == nullptr || e->value != nullptr) return;
    waiters = e->waiters;
    e->flags &= ~kAsked & 0xFFu;
    if (waiters == 0 && node_.evacuation->swept()) return;  // who asked has been sent elsewhere
    if (m.value.value) {
      e->waiters = 0;
      e->value = abi::retain(m.value.value.get());
      if (!is_home(m.name)) note_copy(e);
    }
  }
  if (m.value.value) return wake(*node_.outside, waiters, std::move(m.value.value));
  if (waiters == 0) return;
  const Waiter first = waiter_of(waiters);
  node_.fail_in(first.cf, 0,
                coded(fmt::format("reads `{}`, which an advice has already freed",
                                  slot_text(first.cf, first.slot)),
                      "T403"));
  (void)from;
}

void DataFragments::take_copy(Rank from, const abi::Name& n, ValueRef value) {
  std::uint64_t waiters = 0;
  {
    Shard& shard = table_.shard(n.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = find_or_insert(shard, n);
    list(e);
    if (e->value != nullptr) return;
    if ((e->flags & kDeleted) != 0) return;  // the reader says so when it looks for its input
    e->value = abi::retain(value.get());
    waiters = e->waiters;
    e->waiters = 0;
    if (!is_home(n)) note_copy(e);
  }
  if (!is_home(n) && home_of(n) != from) node_.comm.send(home_of(n), Copied{n});
  wake(*node_.outside, waiters, std::move(value));
}

void DataFragments::on(Rank from, Copied&& m) {
  Shard& shard = table_.shard(m.name.id);
  const std::lock_guard hold(shard.mutex);
  // The Publish may be under way still: then the entry begins here.
  DfEntry* e = node_.scopes.find_home(m.name.scope) == nullptr ? nullptr : find_or_insert(shard, m.name);
  if (e == nullptr || (e->flags & kDeleted) != 0) {
    node_.comm.send(from, Drop{{m.name.id}});
  } else {
    list(e);
    add(remote(e).copies, from);
  }
}

void DataFragments::on(Rank, Drop&& m) {
  for (const abi::Id& id : m.ids) {
    Shard& shard = table_.shard(id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(id);
    if (e == nullptr || e->waiters != 0) continue;
    if ((e->flags & kCopy) != 0 && e->value != nullptr) forget_copy(e);
    free_entry(shard.remove(id));
  }
}

ValueRef DataFragments::for_shipment(const abi::Name& n, abi::Value* held, Rank to) {
  restore(n, held);
  Shard& shard = table_.shard(n.id);
  const std::lock_guard hold(shard.mutex);
  DfEntry* e = shard.find(n.id);
  if (e == nullptr) return ValueRef(abi::retain(held));
  // What we assigned and published with its value is at its home already.
  if (to == home_of(n) && e->assigned_by != 0 && held->size <= kSmall) return {};
  if (!add(remote(e).copies, to)) return {};
  return ValueRef(abi::retain(held));
}

bool DataFragments::free_scope(ScopeRecord* scope) {
  std::map<Rank, Drop> drops;
  DfEntry* e = std::exchange(scope->entries, nullptr);
  while (e != nullptr) {
    DfEntry* next = e->scope_next;
    {
      Shard& shard = table_.shard(e->id);
      const std::lock_guard hold(shard.mutex);
      shard.remove(e->id);
    }
    if (e->remote != nullptr) {
      for (const Rank r : e->remote->copies) {
        if (r != node_.self()) drops[r].ids.push_back(e->id);
      }
    }
    if (e->remote != nullptr && e->remote->limit >= 0) note_unread(e);
    free_entry(e);
    e = next;
  }
  for (auto& [rank, drop] : drops) node_.comm.send(rank, drop);
  return !drops.empty();
}

// The caller holds the shard's lock.
void DataFragments::note_copy(DfEntry* e) {
  e->flags |= kCopy;
  copy_bytes_.fetch_add(static_cast<std::int64_t>(e->value->size), std::memory_order_relaxed);
  copies_alive_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard hold(copies_mutex_);
  copies_.push_back(e->id);
}

// It counts as a copy no longer. The caller holds the shard's lock.
void DataFragments::forget_copy(DfEntry* e) {
  e->flags &= ~kCopy & 0xFFu;
  copy_bytes_.fetch_sub(static_cast<std::int64_t>(e->value->size), std::memory_order_relaxed);
  copies_alive_.fetch_sub(1, std::memory_order_relaxed);
}

void DataFragments::trim_copies(Clock::time_point now) {
  const std::int64_t limit = node_.options.cache_limit_mb << 20;
  // Ids of dropped copies stay in the list until it is mostly made of them.
  const auto stale = [this] {
    return static_cast<std::int64_t>(copies_.size()) >
           2 * copies_alive_.load(std::memory_order_relaxed) + 65536;
  };
  if (now < next_trim_) return;
  std::size_t tries = 0;
  while (true) {
    abi::Id id;
    {
      const std::lock_guard hold(copies_mutex_);
      if (copy_bytes() <= limit && !stale()) return;
      if (copies_.empty() || tries++ > 2 * copies_.size()) {
        next_trim_ = now + std::chrono::milliseconds(20);  // all in use: no use in looking all the time
        return;
      }
      id = copies_.front();
      copies_.pop_front();
    }
    Shard& shard = table_.shard(id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(id);
    if (e == nullptr || e->value == nullptr || (e->flags & kCopy) == 0) continue;
    const bool in_use = __atomic_load_n(&e->value->refs, __ATOMIC_RELAXED) > 1;
    if (copy_bytes() <= limit || in_use || (e->flags & kTouched) != 0) {
      e->flags &= ~kTouched & 0xFFu;
      const std::lock_guard again(copies_mutex_);
      copies_.push_back(id);
      continue;
    }
    forget_copy(e);
    abi::release(e->value);
    e->value = nullptr;
    e->flags &= ~(kCopy | kAsked) & 0xFFu;
  }
}

}  // namespace tessera::runtime
