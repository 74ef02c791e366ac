#include "runtime/data/data_fragments.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "runtime/data/happens.hpp"
#include "runtime/fragment/horizon.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/fragment/input_slot.hpp"
#include "runtime/threads/ticks.hpp"
#include "runtime/words/describe.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {
namespace {

using protocol::State;

// Sending these again costs more than counting their readers one by one: 17 us against 0.1 (bench/run moving).
constexpr std::uint64_t kCountedLate = 16 << 10;

// To let four run takes as long as a light kernel.
bool many_wait(const DfEntry* e) {
  std::uint64_t at = e->waiters;
  for (int i = 1; at != 0 && i < 4; ++i) at = slot_word(waiter_of(at).cf, waiter_of(at).slot);
  return at != 0;
}

}  // namespace

DataFragments::DataFragments(Surroundings& rank, const RunFacts& facts, const Members& members, Communicator& comm,
                             Scopes& scopes, Crew& crew)
    : rank_(rank),
      facts_(facts),
      members_(members),
      comm_(comm),
      scopes_(scopes),
      crew_(crew),
      limits_{.eager = static_cast<std::uint64_t>(facts.options.eager_bytes),
              .relay = static_cast<std::uint64_t>(facts.options.relay_bytes),
              .counted_late = facts.balancing ? kCountedLate : ~std::uint64_t{0}} {}

bool DataFragments::is_home(const abi::Name& n) const { return home_of(n) == facts_.self; }

// The caller holds the shard's lock.
DfEntry* DataFragments::insert(Shard& shard, const abi::Name& n) {
  if (!is_home(n)) return shard.insert(n.id, n.scope, {State::absent, false});
  if (abi::has_known_uses(n)) return shard.insert(n.id, n.scope, {State::unassigned, !abi::is_swept(n)});
  DfEntry* e = shard.insert(n.id, n.scope, {State::unassigned, false});
  // On the scope's list. Who brought the name is under the scope, or is a stale message: then the
  // scope may have ended, and the entry belongs to nobody (a few bytes until the process ends).
  scopes_.add_entry(n.scope, e);
  return e;
}

[[gnu::noinline]] abi::Value* DataFragments::use_shared(Shard& shard, DfEntry* e) {
  abi::Value* v = abi::retain(e->value);
  happens(shard, e, {e->id, e->scope}, protocol::Used{});
  return v;
}

// A fragment takes the value as its input. The caller holds the shard's lock.
inline abi::Value* DataFragments::use(Shard& shard, DfEntry* e) {
  if (!e->counted) {
    if (e->state == State::copy) e->touched = true;
    return abi::retain(e->value);
  }
  if (e->value->size >= limits_.counted_late) return abi::retain(e->value);
  if (e->others != nullptr) return use_shared(shard, e);
  e->set_uses_left(e->uses_left() - 1);
  if (e->uses_left() > 0) return abi::retain(e->value);
  abi::Value* v = std::exchange(e->value, nullptr);
  free_entry(shard.remove(e->id));
  return v;
}

inline bool is_number(const abi::Value& v) {
  return v.type == abi::Type::integer || v.type == abi::Type::real || v.type == abi::Type::longint;
}

DataFragments::Seen DataFragments::look(const abi::Name& n, abi::Value& copy) {
  if (!is_home(n)) return Seen::not_here;
  Shard& shard = table_.shard(n.id);
  const std::lock_guard hold(shard.mutex);
  const DfEntry* e = shard.find(n.id);
  if (e == nullptr || e->value == nullptr) return Seen::not_yet;
  if (e->others != nullptr || !is_number(*e->value)) return Seen::not_here;
  copy = {1, e->value->type, 0, 0, e->value->size, {.l = e->value->l}, nullptr};
  return Seen::here;
}

void DataFragments::looked(const abi::Name& n) {
  Shard& shard = table_.shard(n.id);
  const std::lock_guard hold(shard.mutex);
  DfEntry* e = shard.find(n.id);
  if (e != nullptr && e->counted) count_off(shard, e, n);  // another rank may have asked for it meanwhile
}

// Whoever assigns this input does so here, or sees to it that the value comes here (due). Nobody relies on that where
// ranks leave and join; nor for a fragment that was moved: its uses may have been counted (restore).
bool DataFragments::made_here(const abi::Cf* c, unsigned input) const {
  if (c->block->maker == nullptr || (c->flags & kMoved) != 0) return false;
  try {
    const std::int64_t place = c->block->maker(c, input);
    // In this order: who is told of a change later than it looked at the places is not misled.
    return place != abi::kAnywhere && members_.place(place) == facts_.self && members_.steady();
  } catch (const ProgramError&) {
    return false;  // the call that would assign it can have no such indices
  }
}

// Whoever assigns this input sends it to where the fragment is placed. The same holds for that.
bool DataFragments::sent_to(Rank to, const abi::Cf* c, unsigned input) const {
  if (input >= 64 || (c->block->expects >> input & 1) == 0 || (c->flags & kMoved) != 0) return false;
  return members_.place(c->block->locator(c)) == to && members_.steady();
}

std::vector<Rank> DataFragments::due(const Assigner& by) const {
  std::vector<Rank> ranks;
  if (by.cf == nullptr || !members_.steady()) return ranks;  // who has not asked does so when told of that
  const auto at = [&](std::int64_t place) {
    if (const Rank r = members_.place(place); r != facts_.self) protocol::add(ranks, r);
  };
  const abi::Block& b = *by.cf->block;
  if (by.output < 64 && (b.awaited >> by.output & 1) != 0) at(b.locator(by.cf));
  for (std::uint32_t k = 0; by.to != nullptr && k < by.to->count; ++k) at(by.to->at[k]);
  return ranks;
}

// Sends for an input, if it does not come by itself: true. The caller holds the shard's lock.
[[gnu::noinline]] bool DataFragments::want(Worker& w, Shard& shard, DfEntry* e, const abi::Name& n, const abi::Cf* c,
                                           unsigned input, std::uint64_t promised) {
  const bool comes = input < 64 && (promised >> input & 1) != 0;
  const bool may_come = !comes && e->state == State::absent && e->others == nullptr;
  if (may_come && (sent_to(facts_.self, c, input) || made_here(c, input))) return false;
  const std::uint64_t now = ticks();
  if (happens(shard, e, n, protocol::Wanted{comes}).actions.sends.empty()) return false;
  w.sent = true;
  rank_.asked(w, n, c, !is_home(n), now);
  return true;
}

// So many of a chain's next inputs may be asked for before it is there: as many as hold so much, on average.
std::int64_t DataFragments::asks_ahead(const abi::Block& b) const {
  constexpr std::int64_t kBytes = 4 << 20, kMost = 64, kUnknown = 4;
  std::int64_t each = 0;
  for (const std::uint32_t* g = b.fed_by; g != nullptr && *g != ~0u; ++g)
    each = std::max(each, crew_.growing.bytes_out(*g));
  return each == 0 ? kUnknown : std::clamp<std::int64_t>(kBytes / each, 2, kMost);
}

// A chain (a call that repeats) would ask for what its next runs read one by one, each after a way there and back. When
// it begins to wait for what has been sent for, what other ranks have made of that by now is sent for as well.
[[gnu::noinline]] void DataFragments::ask_ahead(Worker& w, const abi::Cf* c) {
  const std::int64_t now = abi::frame_int(c, 0);
  const std::int64_t last = std::min(abi::frame_int(c, 1), now + asks_ahead(*c->block));
  // Its header and inputs are others' to write.
  std::vector<std::uint64_t> words(sizeof(abi::Cf) / sizeof(std::uint64_t) + c->block->frame_words);
  auto* const later = new (words.data()) abi::Cf{nullptr, c->block, c->scope, c->id, 0, 0, 0};
  std::copy_n(c->words(), c->block->frame_words, later->words());
  try {
    for (std::int64_t i = now + 1; i <= last; ++i) {
      abi::frame_int(later, 0) = i;
      const InputNames names(later);
      for (unsigned k = 0; k < names.size(); ++k) {
        if (!abi::is_needed(names[k]) || abi::is_swept(names[k]) || !is_home(names[k])) continue;
        Shard& shard = table_.shard(names[k].id);
        const std::lock_guard hold(shard.mutex);
        DfEntry* const e = shard.find(names[k].id);
        if (e != nullptr && e->state == State::kept && e->waiters == 0) want(w, shard, e, names[k], c, k, 0);
      }
    }
  } catch (const ProgramError&) {  // it will say so when it is there
  }
}

// A fragment that was looking for its input `k` can't have it. True: it waits for others, and will for ever. Else it
// has nothing any more.
[[gnu::noinline, gnu::cold]] bool DataFragments::is_stuck(abi::Cf* c, unsigned k, bool waits) {
  if (waits) {
    std::fill_n(&slot_word(c, k), c->block->input_count - k, 0);
    return true;
  }
  while (k-- > 0) abi::release(reinterpret_cast<abi::Value*>(std::exchange(slot_word(c, k), 0)));
  return false;
}

bool DataFragments::gather(Worker& w, abi::Cf* c, std::uint64_t promised) {
  const abi::Block& b = *c->block;
  const unsigned n = b.input_count;
  if (n == 0) return true;
  const InputNames names(c);

  bool waits = false, sent = false;
  unsigned have = 0;
  unsigned k = 0;
  try {
    for (; k < n; ++k) {
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
      if (is_freed(e->state))
        throw ProgramError(0, freed_text(slot_text(c, k), e->freed_by(), e->state == State::spent));
      if (!waits) {
        waits = true;
        rank_.enroll(c);
        __atomic_store_n(&c->pending, n + 1, __ATOMIC_RELAXED);
        w.waits.store(w.waits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      }
      slot_word(c, k) = e->waiters;
      e->waiters = link_to(c, k);
      if (e->state != State::unassigned && e->state != State::asked)
        sent = want(w, shard, e, names[k], c, k, promised) || sent;
    }
  } catch (...) {
    if (!is_stuck(c, k, waits)) throw;
    rank_.fail_by_exception(c);
    return false;
  }
  if (sent && (b.flags & abi::kRepeats) != 0 && b.kind == abi::Kind::atomic && facts_.balancing) ask_ahead(w, c);
  if (waits && __atomic_sub_fetch(&c->pending, have + 1, __ATOMIC_ACQ_REL) != 0) return false;
  if (waits) w.wakes.store(w.wakes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  c->flags |= kGathered;
  return true;
}

// The list has the last one first. Those that make others come in the order in which they began to wait, else the last
// of the steps that have waited for one value would be made before the first.
void DataFragments::wake(Worker& w, std::uint64_t waiters, ValueRef v) {
  Cf* makers = nullptr;
  while (waiters != 0) {
    const Waiter waiter = waiter_of(waiters);
    Cf* const c = waiter.cf;
    std::uint64_t& word = slot_word(c, waiter.slot);
    waiters = word;
    word = reinterpret_cast<std::uint64_t>(waiters == 0 ? v.take() : abi::retain(v.get()));
    if (__atomic_sub_fetch(&c->pending, 1u, __ATOMIC_ACQ_REL) != 0) continue;
    w.wakes.store(w.wakes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (c->block->kind == abi::Kind::atomic) {
      rank_.arrived(w, c);
    } else {
      c->next = std::exchange(makers, c);
    }
  }
  while (makers != nullptr) rank_.arrived(w, std::exchange(makers, makers->next));
}

// No other rank gets the value without having asked for it. Lock held.
[[gnu::always_inline]] inline bool DataFragments::nobody_due(const Assigner& by, const DfEntry* e,
                                                             std::int64_t uses) const {
  if (e->counted && (uses < 0 || uses > protocol::Entry::kMostUses)) return false;
  return by.cf == nullptr || (by.to == nullptr && by.cf->block->awaited == 0) || facts_.ranks == 1 ||
         (e->counted && waiting_for(e) >= uses);
}

// No other rank is involved. Lock held.
[[gnu::always_inline]] inline std::uint64_t DataFragments::assign_alone(Shard& shard, DfEntry* e, const Assigner& by,
                                                                        ValueRef& v, std::int64_t uses) {
  if (e->assigned_by != 0) [[unlikely]]
    fail_twice(e, by);
  e->assigned_by = by.block + 1;
  const auto keep = [&](std::uint64_t waiters) {
    e->state = State::here;
    e->value = waiters == 0 ? v.take() : abi::retain(v.get());
  };
  if (!e->counted) {
    const std::uint64_t waiters = std::exchange(e->waiters, 0);
    if (!is_freed(e->state)) keep(waiters);
    return waiters;
  }
  if (v.get()->size >= limits_.counted_late) {
    tell_uses(v.get());
  } else {
    uses -= waiting_for(e);
  }
  const std::uint64_t waiters = std::exchange(e->waiters, 0);
  if (uses != 0) {
    e->set_uses_left(uses);
    keep(waiters);
  } else {
    free_entry(shard.remove(e->id));
  }
  return waiters;
}

void DataFragments::assign(Worker& w, const Assigner& by, const abi::Name& n, abi::Value* v, std::int64_t uses) {
  ValueRef guard(v);
  std::uint64_t waiters = 0, from = 0;
  {
    Shard& shard = table_.shard(n.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(n.id);
    if (e == nullptr && uses == 0) return;
    if (e != nullptr && many_wait(e)) [[unlikely]]
      from = ticks();
    const bool home = is_home(n);
    if (e == nullptr && home) e = insert(shard, n);
    if (home && e->others == nullptr && nobody_due(by, e, uses)) [[likely]] {
      waiters = assign_alone(shard, e, by, guard, uses);
    } else {
      if (from == 0) from = ticks();
      waiters = assign_shared(w, shard, e, by, n, guard, uses);
    }
  }
  wake(w, waiters, std::move(guard));
  if (from != 0) w.stats.aside(ticks() - from);
}

// The same where others are. Lock held.
[[gnu::noinline]] std::uint64_t DataFragments::assign_shared(Worker& w, Shard& shard, DfEntry* e, const Assigner& by,
                                                             const abi::Name& n, const ValueRef& v, std::int64_t uses) {
  const std::vector<Rank> due = this->due(by);
  const bool may_wait = w.tells && by.cf != nullptr;
  const Outcome o = happens(shard, e, n, protocol::Assigned{by.block, uses, &due, may_wait}, v.get());
  if (o.actions.fault != protocol::Fault::none) fail_twice(o.entry, by);
  if (o.actions.untold) keep_back(w, o.entry, by.scope);
  w.sent = w.sent || !o.actions.sends.empty();
  if (o.actions.publish.out) {
    publish(n, by.block, by.scope, o.actions.publish, v.get(), by.spot);
    w.sent = true;
  }
  return o.waiters;
}

void DataFragments::publish(const abi::Name& n, std::uint32_t block, ScopeRecord* scope,
                            const protocol::Publishing& out, abi::Value* v, const abi::Spot* spot) {
  Publish p;
  p.name = n;
  p.block = block;
  if (out.value) p.value.value = ValueRef(abi::retain(v));
  p.ack = hold(scope, home_of(n));
  p.due = out.due;
  p.given = out.given;
  p.uses = out.uses;
  if (spot != nullptr && spot->horizon != 0) {
    p.spot = {spot->horizon, spot->key[0], spot->key[1], static_cast<std::int64_t>(sizeof(abi::Value) + v->size)};
  }
  comm_.send(home_of(n), p);
}

// The scope ends no earlier than its home can hear of it. Lock held.
void DataFragments::keep_back(Worker& w, DfEntry* e, ScopeRecord* scope) {
  e->made_in = scope;
  if (w.untold.empty()) w.tells_by = ticks() + Worker::kTells;
  const bool held = !w.untold.empty() && w.untold.back().scope == scope;
  if (!held) scope->count.add();
  w.untold.push_back({e->id, scope, !held});
}

void DataFragments::tell(Worker& w) {
  for (const Worker::Untold& u : w.untold) {
    Shard& shard = table_.shard(u.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(u.id);
    if (e == nullptr || !e->untold) continue;
    happens(shard, e, {u.id, e->scope}, protocol::Tell{});
    w.sent = true;
  }
  w.told.swap(w.untold);
  for (const Worker::Untold& u : w.told) {
    if (u.holds) rank_.leave_scope(w, u.scope);
  }
  w.told.clear();
}

[[gnu::noinline]] void DataFragments::tell_copies(DfEntry* e, std::map<Rank, Drop>& drops) const {
  if (e->others == nullptr) return;
  protocol::Actions a;
  step(*e, protocol::End{}, protocol::View{.self = facts_.self, .home = facts_.self}, a);
  for (const protocol::Send& s : a.sends) Untold::add_to(drops[s.to], s.whom, e->id);
}

[[gnu::always_inline]] inline void DataFragments::free_at_end(const abi::Id& id, std::map<Rank, Drop>& drops) {
  DfEntry* e = nullptr;
  {
    Shard& shard = table_.shard(id);
    const std::lock_guard hold(shard.mutex);
    e = shard.remove(id);
  }
  if (e == nullptr) return;
  if (e->others != nullptr) {
    tell_copies(e, drops);
    if (e->others->limit >= 0) note_unread(e);
  }
  free_entry(e);
}

[[gnu::noinline]] void DataFragments::free_shared(ScopeRecord* scope, std::map<Rank, Drop>& drops) {
  for (DfEntry* e = std::exchange(scope->shared, nullptr); e != nullptr;)
    free_at_end(std::exchange(e, e->others->older)->id, drops);
}

// What its sweeps have left; one that is not over may take it first.
[[gnu::noinline]] void DataFragments::free_swept(ScopeRecord* scope, std::map<Rank, Drop>& drops) {
  for (Horizon* h = scope->horizons; h != nullptr; h = h->next()) {
    if (horizons != nullptr) horizons->forget(*h);  // no sweep looks at it now
    h->for_each_value([&](const abi::Id& id) { free_at_end(id, drops); });
  }
}

void DataFragments::note_swept(Worker& w, const abi::Name& n, const abi::Spot& spot, std::uint64_t bytes) {
  const auto part = static_cast<std::size_t>(w.number) + 1;
  if (horizons != nullptr) {  // other homes have been told
    if (is_home(n)) horizons->note(spot.horizon, part, {n.id, {spot.key[0], spot.key[1]}, bytes});
    return;
  }
  Horizon::of(spot.horizon).note(part, n.id, spot.key, bytes, w.dead);
  if (!w.dead.empty()) free_dead(w);
}

void DataFragments::free_left(Worker& w) {
  Horizon::take_left(w.dead);
  if (!w.dead.empty()) free_dead(w);
}

void DataFragments::free_found(DfEntry* e, Found& found) const {
  const std::uint32_t by = e->assigned_by;
  const ValuesHere before = ValuesHere::now();
  free_entry(e);
  const std::int64_t bytes = ValuesHere::set_aside_since(before);
  if (bytes == 0 || by == 0) return;
  const std::uint32_t group = facts_.program.blocks[by - 1]->group;
  if (found.empty() || found.back().first != group) found.emplace_back(group, 0);
  found.back().second += bytes;
}

void DataFragments::tell_found(const Found& found) {
  for (const auto& [group, bytes] : found) crew_.growing.swept(group, bytes);
}

[[gnu::noinline]] void DataFragments::free_dead(Worker& w) {
  Found found;
  for (const abi::Id& id : w.dead) {
    Shard& shard = table_.shard(id);
    const std::lock_guard hold(shard.mutex);
    if (DfEntry* e = shard.remove(id)) free_found(e, found);
  }
  w.dead.clear();
  tell_found(found);
}

bool DataFragments::free_scope(ScopeRecord* scope) {
  std::map<Rank, Drop> drops;
  if (scope->horizons != nullptr) free_swept(scope, drops);
  for (DfEntry* e = std::exchange(scope->entries, nullptr); e != nullptr;)
    free_at_end(std::exchange(e, e->scope_next)->id, drops);
  if (scope->shared != nullptr) free_shared(scope, drops);
  for (auto& [rank, drop] : drops) comm_.send(rank, drop);
  return !drops.empty();
}

}  // namespace tessera::runtime
