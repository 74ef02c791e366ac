#include "runtime/work/ready_queue.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "balancer/ready_order.hpp"
#include "runtime/fragment/horizons.hpp"
#include "runtime/fragment/scope_record.hpp"
#include "runtime/memory/value.hpp"
#include "runtime/threads/ticks.hpp"
#include "runtime/work/growing.hpp"
#include "runtime/work/worth_giving.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kSeen = static_cast<std::size_t>(balancer::kSeen);
constexpr std::uint64_t kAloneTicks = 2'500'000;  // about 1 ms

bool has_come(const Cf* c) { return c->block->kind == abi::Kind::range && (c->flags & kPlaced) != 0; }

// A range's `pending` counts the chunks being run, plus one while it is listed.
bool drop_hold(Cf* range) { return __atomic_sub_fetch(&range->pending, 1u, __ATOMIC_ACQ_REL) == 0; }

// What moving this fragment would have to carry of its inputs, in kUnit. A value that several
// fragments use travels once to each rank; the first of them to be ready here bears it, so that
// the mean of a group is what one more of it costs. When that runs here the next one to come does: what
// each iteration reads has to travel in each, to the ranks that do not have it. Kept in `pending`, which a
// queued fragment has no other use for, so that what is taken off the group's sum is what was added.
constexpr std::int64_t kUnit = 64;
std::uint32_t units_to_move(const Cf* c, int others) {
  if ((c->flags & kGathered) == 0) return 0;
  std::uint64_t bytes = 0;
  for (unsigned k = 0; k < c->block->input_count; ++k) {
    abi::Value* v = abi::input(c, *c->block, k);
    // Two queues that see it at once may both count it: an estimate.
    if (v == nullptr || (__atomic_load_n(&v->borne, __ATOMIC_RELAXED) & 1) != 0) continue;
    __atomic_fetch_or(&v->borne, std::uint16_t{1}, __ATOMIC_RELAXED);
    const auto have = static_cast<std::uint64_t>(std::min(ranks_that_have(v), others));
    bytes += v->size - v->size / static_cast<std::uint64_t>(others) * have;
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / kUnit, UINT32_MAX));
}

// It runs here: the next one to read these bears them.
void bears_no_longer(const Cf* c) {
  for (unsigned k = 0; k < c->block->input_count; ++k) {
    abi::Value* v = abi::input(c, *c->block, k);
    if (v != nullptr) __atomic_fetch_and(&v->borne, static_cast<std::uint16_t>(~1), __ATOMIC_RELAXED);
  }
}

// The inputs that decide where a fragment goes.
template <class F>
void for_decisive_inputs(const Cf* c, F f) {
  if ((c->flags & kGathered) == 0) return;
  for (unsigned k = 0; k < c->block->input_count; ++k) {
    abi::Value* v = abi::input(c, *c->block, k);
    if (v != nullptr && (v->size >= balancer::kLargeInput || c->block->series != nullptr)) f(v);
  }
}
bool has_decisive_input(const Cf* c) {
  bool any = false;
  for_decisive_inputs(c, [&](const abi::Value*) { any = true; });
  return any;
}
// What would have to travel, and whether a third rank has something of it.
struct Lacking {
  std::uint64_t bytes = 0;
  bool elsewhere = false;
  auto operator<=>(const Lacking&) const = default;
};
Lacking lacking(const Cf* c, balancer::Rank to) {
  Lacking lacks;
  for_decisive_inputs(c, [&](const abi::Value* v) {
    if (believed_on(v, to)) return;
    lacks.bytes += std::max<std::uint64_t>(v->size, 1);
    lacks.elsewhere = lacks.elsewhere || believed_on_others(v, to);
  });
  return lacks;
}

// What iterations that are claimed may still read is held by whoever runs them, the rest by what is left of the range.
HeldHull* hold_iterations(Cf* range, std::int64_t first, std::int64_t last, Horizons* all) {
  const abi::Block& b = *range->block;
  auto& word = reinterpret_cast<HeldHull*&>(abi::frame_int(range, b.hold_word));
  abi::Hulls claimed;
  b.hulls(range, first, last, &claimed);
  if (iterations_left(range) <= 0) {
    __atomic_fetch_and(&range->flags, static_cast<std::uint16_t>(~kHolding), __ATOMIC_RELAXED);
    return Horizon::hold_instead(std::exchange(word, nullptr), claimed, all);
  }
  HeldHull* const hold = Horizon::hold(claimed, all);
  abi::Hulls rest;
  b.hulls(range, abi::frame_int(range, 0), abi::frame_int(range, 1), &rest);
  word = Horizon::hold_instead(word, rest, all);
  return hold;
}

}  // namespace

void ReadyQueue::push(Cf* c, bool behind) {
  const std::lock_guard hold(mutex_);
  if (c->block->kind == abi::Kind::range) {
    __atomic_store_n(&c->pending, 1u, __ATOMIC_RELAXED);
    return push_loop(c);
  }
  if (c->block->kind != abi::Kind::atomic) {
    // So does what holds values (fragment/horizon.hpp): a sub that calls itself would else make all of its steps before
    // the first one runs.
    return behind || (c->flags & kHolding) != 0 ? push_loop(c) : push_structured(c);
  }
  const std::uint32_t g = c->block->group;
  GroupList& list = groups_[g];
  c->next = nullptr;
  if (list.head == nullptr) {
    list.head = c;
    list.older = newest_;
    list.newer = kNone;
    if (newest_ != kNone) groups_[newest_].newer = g;
    newest_ = g;
  } else {
    list.tail->next = c;
  }
  list.tail = c;
  ++list.count;
  if (weights_ != nullptr) {
    c->pending = units_to_move(c, others);
    list.bytes += c->pending * kUnit;
  }
  add_atomics(1);
}

Cf* ReadyQueue::pop_front(std::uint32_t group) {
  GroupList& list = groups_[group];
  Cf* c = list.head;
  list.head = c->next;
  --list.count;
  if (weights_ != nullptr) list.bytes -= c->pending * kUnit;
  if (list.head == nullptr) {
    list.tail = nullptr;
    if (list.newer != kNone) groups_[list.newer].older = list.older;
    if (list.older != kNone) groups_[list.older].newer = list.newer;
    if (newest_ == group) newest_ = list.older;
    list.newer = list.older = kNone;
  }
  add_atomics(-1);
  return c;
}

std::uint32_t ReadyQueue::next_group() const {
  const GroupList& newest = groups_[newest_];
  if (newest.older == kNone || newest.count >= plenty_ || newest.bytes >= balancer::kPlentyBytes) {
    return newest_;
  }
  const auto older = [&](auto visit) {
    for (std::uint32_t g = newest.older; g != kNone; g = groups_[g].older) visit(g);
  };
  return balancer::next_group(newest_, older, [this](std::uint32_t g) { return weights_->mean(g); });
}

std::uint32_t ReadyQueue::first_group(Running running) const {
  std::uint32_t first = newest_;
  switch (running) {
    case Running::no_growing:
      while (first != kNone && growing != nullptr && growing->grows(first)) first = groups_[first].older;
      return first;
    case Running::most_ready:
      for (std::uint32_t g = first; g != kNone; g = groups_[g].older) {
        if (groups_[g].count > groups_[first].count) first = g;
      }
      return first;
    default:
      return first == kNone || weights_ == nullptr ? first : next_group();
  }
}

Cf* ReadyQueue::pop_atomic(Running running) {
  const std::uint32_t g = first_group(running);
  if (g == kNone) return nullptr;
  Cf* c = pop_front(g);
  if (weights_ == nullptr) return c;
  if (c->pending > 0) bears_no_longer(c);
  return c;
}

// Where what is pushed next belongs. A loop from another rank: behind those that came before it, which may be what its
// iterations wait for. Else a loop behind those of its family, which earlier turns have made; else behind what the same
// body has made before it; else first. So does a `while` that has waited, or comes from another rank.
Cf** ReadyQueue::place_of(Loops& list, const Cf* c) {
  if (has_come(c)) return list.came == nullptr ? &list.head : &list.came->next;
  if (c->block->kind == abi::Kind::range && (c->flags & kFamily) != 0 && (c->flags & kWithin) == 0) {
    if (Cf* const behind = last_of_family(list, c->flags); behind != nullptr) return &behind->next;
  }
  if (list.last == nullptr && c->block->kind == abi::Kind::loop) {
    if (Cf* const behind = last_of_family(list, family_of_turns(c)); behind != nullptr) return &behind->next;
  }
  return list.last == nullptr ? &list.head : &list.last->next;
}

Cf* ReadyQueue::last_of_family(const Loops& list, unsigned flags) {
  Cf* const last = list.families[place_in_families(flags)];
  return last != nullptr && (last->flags & kFamily) == (flags & kFamily) ? last : nullptr;
}

void ReadyQueue::push_loop(Cf* c) {
  Loops& list = (c->flags & kDue) != 0 ? due_ : ahead_;
  Cf** const at = place_of(list, c);
  if (c->block->kind == abi::Kind::range && (c->flags & kFamily) != 0) {
    Cf* const behind = last_of_family(list, c->flags);
    if (behind == nullptr || at == &behind->next) list.families[place_in_families(c->flags)] = c;
  }
  c->next = *at;
  *at = c;
  if (c->next == nullptr) list.tail = c;
  if (c->next != nullptr && c->next == list.turn) list.before_turn = c;
  (has_come(c) ? list.came : list.last) = c;
  if (!places_.empty()) places_[c] = place_of_latest_, places_differ_ = false;
  add_others(1, true);
}

Cf** ReadyQueue::end_of(Loops& list) { return list.tail == nullptr ? &list.head : &list.tail->next; }

void ReadyQueue::push_last(Cf* c) {
  const std::lock_guard hold(mutex_);
  Loops& list = (c->flags & kDue) != 0 || due_.head == nullptr ? ahead_ : due_;
  append(list, c);
}

void ReadyQueue::append(Loops& list, Cf* c) {
  c->next = nullptr;
  list.tail = *end_of(list) = c;
  if (!places_.empty()) places_[c] = ++last_place_;
  add_others(1, true);
}

void ReadyQueue::push_structured(Cf* c) {
  Cf** const at = structured_.last != nullptr ? &structured_.last->next : &structured_.head;
  c->next = *at;
  *at = c;
  structured_.last = c;
  add_others(1, false);
}

void ReadyQueue::unlink_loop(Loops& list, Cf* c, Cf* before) {
  (before == nullptr ? list.head : before->next) = c->next;
  if (list.last == c) list.last = before;
  if (list.tail == c) list.tail = before;
  if (list.turn == c) list.turn = c->next;
  if (list.before_turn == c) list.before_turn = before;
  if (list.came == c) list.came = before != nullptr && has_come(before) ? before : nullptr;
  if (Cf*& of_family = list.families[place_in_families(c->flags)]; of_family == c) {
    const bool same = before != nullptr && before->block->kind == abi::Kind::range &&
                      (before->flags & kFamily) == (c->flags & kFamily);
    of_family = same ? before : nullptr;
  }
  if (!places_.empty()) places_.erase(c);
  if (c == alone_) __atomic_store_n(&alone_, nullptr, __ATOMIC_RELAXED);
  add_others(-1, true);
}

void ReadyQueue::unlink_structured(Cf* c, Cf* before) {
  (before == nullptr ? structured_.head : before->next) = c->next;
  if (structured_.last == c) structured_.last = before;
  if (c == alone_) __atomic_store_n(&alone_, nullptr, __ATOMIC_RELAXED);
  add_others(-1, false);
}

bool ReadyQueue::may_make(Making making) const {
  if (making == Making::nothing) return false;
  return structured_.head != nullptr || next_loop(making).cf != nullptr;
}

bool ReadyQueue::has(Making then, Running running) {
  const std::lock_guard hold(mutex_);
  return first_group(running) != kNone || may_make(then);
}

// What it makes comes before what is left of it, wherever it stands.
void ReadyQueue::pass_turn(Loops& list, const Next& of) {
  list.last = of.before;
  list.turn = of.cf->next;
  list.before_turn = of.cf;
}

bool ReadyQueue::pop_expandable(Work& work, Making making, std::int64_t chunk) {
  if (making == Making::nothing) return false;
  if (structured_.head != nullptr) {
    work.cf = structured_.head;
    unlink_structured(structured_.head, nullptr);
    return true;
  }
  Next next = next_loop(making);
  if (next.cf == nullptr) return false;
  if ((next.cf->flags & kHolding) != 0 && takes_turns_ == 0) [[unlikely]]
    next.cf = most_behind(next.cf, next.before);
  Loops& list = next.due ? due_ : ahead_;
  Cf* const range = next.cf;
  work.cf = range;
  if (!places_.empty()) [[unlikely]]
    place_of_latest_ = places_[range];
  if (takes_turns_ != 0) [[unlikely]]
    pass_turn(list, next);
  if (range->block->kind != abi::Kind::range) {
    unlink_loop(list, range, next.before);
    return true;
  }
  std::int64_t& first = abi::frame_int(range, 0);
  work.first = first;
  if ((range->block->flags & abi::kNested) != 0) chunk = 1;
  work.last = std::min(first + chunk - 1, abi::frame_int(range, 1));
  first = work.last + 1;
  work.hold = (range->flags & kHolding) == 0 ? nullptr : hold_iterations(range, work.first, work.last, horizons);
  if (iterations_left(range) > 0) {
    __atomic_add_fetch(&range->pending, 1u, __ATOMIC_RELAXED);
  } else {
    unlink_loop(list, range, next.before);  // the listing's hold becomes the chunk's
  }
  return true;
}

bool ReadyQueue::pop(Work& work, Making first, Making then, std::int64_t chunk, Running running) {
  const std::lock_guard hold(mutex_);
  place_of_latest_ = 0;
  structured_.last = due_.last = ahead_.last = nullptr;
  if (takes_turns_ != 0) [[unlikely]]
    ahead_first_ = takes_turns_ % 2 == 0;
  if (then == Making::due) ahead_first_ = false;
  if (first != Making::nothing && atomics_ > 0 && structured_.head == nullptr) {
    const Cf* c = next_loop(first).cf;
    if (c != nullptr && c->block->kind == abi::Kind::atomic) first = Making::nothing;  // it has gone behind all others
  }
  if (pop_expandable(work, first, chunk)) return true;
  work.cf = pop_atomic(running);
  return work.cf != nullptr || pop_expandable(work, then, chunk);
}

// The body that this queue's worker is running goes on behind what it has made.
bool ReadyQueue::steal(Work& work, Making then, std::int64_t chunk, Running running) {
  const std::lock_guard hold(mutex_);
  work.cf = pop_atomic(running);
  return work.cf != nullptr || pop_expandable(work, then, chunk);
}

bool ReadyQueue::chunk_done(Cf* range) { return drop_hold(range); }

// The first n become those for which the least has to travel: again and again the one whose decisive inputs
// `to` lacks least, counting as there what the ones before it bring; among equals one that no third rank has something
// of, the earliest of those. So fragments that share inputs go together, and what a rank has made is left for it. Looks
// at the first kSeen only.
void ReadyQueue::put_nearest_first(GroupList& list, std::int64_t n, balancer::Rank to) {
  if (n >= list.count || !has_decisive_input(list.head)) return;
  std::vector<std::pair<Lacking, Cf*>> seen;
  Cf* rest = list.head;
  for (; rest != nullptr && seen.size() < kSeen; rest = rest->next) seen.emplace_back(Lacking{}, rest);
  Cf** end = &list.head;
  const auto append = [&](Cf* c) {
    *end = c;
    end = &c->next;
    if (rest == nullptr) list.tail = c;
  };
  for (bool changed = true; n > 0 && !seen.empty(); --n) {
    if (changed) {
      for (auto& [lacks, c] : seen) lacks = lacking(c, to);
    }
    const auto nearest =
        std::min_element(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    changed = nearest->first.bytes > 0;
    for_decisive_inputs(nearest->second, [to](abi::Value* v) { believe_on(v, to); });
    append(nearest->second);
    seen.erase(nearest);
  }
  for (const auto& [lacks, c] : seen) append(c);
  *end = rest;
}

std::int64_t ReadyQueue::take(std::uint32_t group, std::int64_t n, balancer::Rank to, std::vector<Cf*>& out,
                              std::vector<Cf*>& exhausted, Making making) {
  const std::lock_guard hold(mutex_);
  std::int64_t taken = 0;
  if (groups_[group].head != nullptr) put_nearest_first(groups_[group], n, to);
  while (taken < n && groups_[group].head != nullptr && !stays(groups_[group].head, making)) {
    out.push_back(pop_front(group));
    ++taken;
  }
  Cf* before = nullptr;
  for (Cf* c = structured_.head; c != nullptr && taken < n;) {
    Cf* next = c->next;
    if (c->block->group == group && !stays(c, making)) {
      unlink_structured(c, before);
      out.push_back(c);
      ++taken;
    } else {
      before = c;
    }
    c = next;
  }
  if (making < Making::movable) return taken;
  for (Loops* list : {&due_, &ahead_}) taken += take_of_loops(*list, group, n - taken, out, exhausted, making);
  return taken;
}

// A chain, or a `while`, that takes in each run what others make meanwhile: it would go in step with them, by messages.
bool ReadyQueue::stays(const Cf* c, Making making) const {
  if (making == Making::all || weights_ == nullptr) return false;
  const abi::Block& b = *c->block;
  constexpr unsigned kChain = abi::kRepeats | abi::kBulk;
  if (b.kind == abi::Kind::atomic)
    return (b.flags & kChain) == abi::kRepeats && weights_->mean(b.group) < kFollowingTicks;
  if (b.kind != abi::Kind::loop) return false;
  return (c == alone_ && ticks() - alone_since_ < kAloneTicks) ||
         (b.carried != nullptr && !is_heavy(b.carried, *weights_));
}

bool ReadyQueue::is_offered(const Cf* range, Making making) const {
  if (making == Making::all) return true;
  if ((range->block->flags & abi::kStays) != 0) return false;
  return weights_ == nullptr ||
         (worth_giving(*range->block, iterations_left(range), *weights_) && !is_light(*range->block, *weights_));
}

std::int64_t ReadyQueue::take_of_loops(Loops& list, std::uint32_t group, std::int64_t n, std::vector<Cf*>& out,
                                       std::vector<Cf*>& exhausted, Making making) {
  std::int64_t taken = 0;
  Cf* before = nullptr;
  for (Cf* c = list.head; c != nullptr && taken < n;) {
    Cf* next = c->next;
    const bool range = c->block->kind == abi::Kind::range;
    if (c->block->group != group || (range ? !is_offered(c, making) : stays(c, making))) {
      before = c;
      c = next;
      continue;
    }
    if (!range) {
      unlink_loop(list, c, before);
      out.push_back(c);
      ++taken;
      c = next;
      continue;
    }
    const std::int64_t part = std::min(n - taken, iterations_left(c));
    std::int64_t& last = abi::frame_int(c, 1);
    // Enrolled here, under the lock: the original's own count of the scope still covers it.
    Cf* copy = copy_range(c, last - part + 1, last);
    if (copy->scope != nullptr) {
      static_cast<ScopeRecord*>(copy->scope)->count.fetch_add(1, std::memory_order_relaxed);
      copy->flags |= kEnrolled;
    }
    out.push_back(copy);
    last -= part;
    taken += part;
    if (iterations_left(c) == 0) {
      unlink_loop(list, c, before);
      if (drop_hold(c)) exhausted.push_back(c);
    } else {
      before = c;
    }
    c = next;
  }
  return taken;
}

std::vector<Cf*> ReadyQueue::take_all() {
  const std::lock_guard hold(mutex_);
  std::vector<Cf*> all;
  while (Cf* c = pop_atomic()) all.push_back(c);
  while (structured_.head != nullptr) {
    all.push_back(structured_.head);
    unlink_structured(structured_.head, nullptr);
  }
  for (Loops* list : {&due_, &ahead_}) {
    while (list->head != nullptr) {
      all.push_back(list->head);
      unlink_loop(*list, list->head, nullptr);
    }
  }
  return all;
}

void ReadyQueue::look_for_alone(Making making) {
  const Cf* alone = nullptr;
  int whiles = 0;
  for (const Cf* head : {structured_.head, due_.head, ahead_.head}) {
    for (const Cf* c = head; c != nullptr && whiles < 2; c = c->next) {
      if (c->block->kind != abi::Kind::loop) continue;
      alone = c;
      ++whiles;
    }
  }
  if (making == Making::all || whiles != 1) alone = nullptr;
  if (alone != alone_) alone_since_ = ticks();
  __atomic_store_n(&alone_, alone, __ATOMIC_RELAXED);
}

void ReadyQueue::count(std::vector<std::int64_t>& ready, std::vector<std::int64_t>& bytes, Making making) {
  const std::lock_guard hold(mutex_);
  look_for_alone(making);
  for (std::uint32_t g = newest_; g != kNone; g = groups_[g].older) {
    if (stays(groups_[g].head, making)) continue;
    ready[g] += groups_[g].count;
    bytes[g] += groups_[g].bytes;
  }
  for (Cf* c = structured_.head; c != nullptr; c = c->next) ready[c->block->group] += stays(c, making) ? 0 : 1;
  if (making < Making::movable) return;
  for (const Loops* list : {&due_, &ahead_}) {
    for (Cf* c = list->head; c != nullptr; c = c->next) {
      if (c->block->kind != abi::Kind::range) {
        ready[c->block->group] += stays(c, making) ? 0 : 1;
      } else if (is_offered(c, making)) {
        ready[c->block->group] += iterations_left(c);
      }
    }
  }
}

}  // namespace tessera::runtime
