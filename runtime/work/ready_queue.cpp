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
constexpr std::uint64_t kOnlyTicks = 2'500'000;  // about 1 ms
// Of so many loops the iterations are counted: who is told of fewer than there are has enough.
constexpr std::size_t kMostCounted = 1024, kMostLookedAt = 8 * kMostCounted;

// A range's `pending` counts the chunks being run, plus one while it is listed.
bool drop_hold(Cf* range) { return __atomic_sub_fetch(&range->pending, 1u, __ATOMIC_ACQ_REL) == 0; }

// Iterations of a loop that are given away together: so many that they make kBytesAtOnce, but in any case kFewAtOnce.
constexpr double kBytesAtOnce = 32 << 20;
constexpr std::int64_t kFewAtOnce = 32;

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
    const std::uint64_t lacks = v->size - v->size / static_cast<std::uint64_t>(others) * have;
    bytes += lacks / static_cast<std::uint64_t>(1 + read_here(v));
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / kUnit, UINT32_MAX));
}

// It runs here: the next one to read these bears them.
void bears_no_longer(const Cf* c) {
  for (unsigned k = 0; k < c->block->input_count; ++k) {
    abi::Value* v = abi::input(c, *c->block, k);
    if (v == nullptr) continue;
    if ((__atomic_fetch_and(&v->borne, static_cast<std::uint16_t>(~1), __ATOMIC_RELAXED) & 1) != 0) note_read(v);
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
  if (weights_ != nullptr) c->pending = units_to_move(c, others);
  append(c);
}

void ReadyQueue::append(Cf* c) {
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
  if (weights_ != nullptr) list.bytes += c->pending * kUnit;
  add_atomics(1);
}

// Of the group's list, where `before` comes before it.
void ReadyQueue::unlink(std::uint32_t group, Cf* c, Cf* before) {
  GroupList& list = groups_[group];
  (before == nullptr ? list.head : before->next) = c->next;
  if (list.tail == c) list.tail = before;
  --list.count;
  if (weights_ != nullptr) list.bytes -= c->pending * kUnit;
  if (list.head != nullptr) return;
  if (list.newer != kNone) groups_[list.newer].older = list.older;
  if (list.older != kNone) groups_[list.older].newer = list.newer;
  if (newest_ == group) newest_ = list.older;
  list.newer = list.older = kNone;
}

Cf* ReadyQueue::pop_front(std::uint32_t group) {
  Cf* c = groups_[group].head;
  unlink(group, c, nullptr);
  add_atomics(-1);
  return c;
}

void ReadyQueue::put_first(std::uint32_t group, Cf* c, Cf* before) {
  unlink(group, c, before);
  c->next = nullptr;
  (first_ == nullptr ? first_ : last_of_first_->next) = c;
  last_of_first_ = c;
}

Cf* ReadyQueue::pop_first() {
  Cf* c = first_;
  first_ = c->next;
  add_atomics(-1);
  return c;
}

// All may be taken: they are listed again.
void ReadyQueue::none_first() {
  while (first_ != nullptr) append(pop_first());
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
  const std::uint32_t first = newest_;
  switch (running) {
    case Running::no_growing: {
      if (growing == nullptr || !growing->of_one()) return nearest_to_end(false);
      // Of one worker: what it has made last, which is warm.
      std::uint32_t newest = first;
      while (newest != kNone && growing->grows(newest)) newest = groups_[newest].older;
      return newest;
    }
    case Running::last_first:
      if (growing == nullptr || !growing->of_one()) return nearest_to_end(true);
      [[fallthrough]];
    default:
      return first == kNone || weights_ == nullptr ? first : next_group();
  }
}

std::uint32_t ReadyQueue::nearest_to_end(bool growing_too) const {
  std::uint32_t nearest = kNone;
  Growing::Does does{};
  for (std::uint32_t g = newest_; g != kNone; g = groups_[g].older) {
    const Growing::Does now = growing == nullptr ? Growing::Does::keeps : growing->does(g);
    if (now == Growing::Does::grows && !growing_too) continue;
    if (nearest == kNone || now < does || (now == does && g > nearest)) nearest = g, does = now;
  }
  return nearest;
}

Cf* ReadyQueue::pop_atomic(Running running) {
  const std::uint32_t g = first_ != nullptr ? kNone : first_group(running);
  if (g == kNone && first_ == nullptr) return nullptr;
  Cf* c = g == kNone ? pop_first() : pop_front(g);
  if (weights_ == nullptr) return c;
  if (c->pending > 0) bears_no_longer(c);
  return c;
}

// What is listed beside atomic fragments that are ready, and beside ranges, is counted by group.
void ReadyQueue::note_listed(const Cf* c, std::int64_t by, bool behind) {
  const abi::Block& b = *c->block;
  if (b.kind == abi::Kind::range) return;
  GroupList& g = groups_[b.group];
  const bool may_stay = b.kind == abi::Kind::loop || b.kind == abi::Kind::atomic || (b.flags & abi::kStays) != 0;
  GroupList::Listed& listed = may_stay ? g.may_stay : g.others;
  (behind ? listed.behind : listed.structured) += by;
  if (may_stay) g.staying = &b;
  if (b.kind != abi::Kind::loop) return;
  whiles_ += by;
  any_while_ ^= reinterpret_cast<std::uintptr_t>(c);
  if (c == only_while_) __atomic_store_n(&only_while_, nullptr, __ATOMIC_RELAXED);
}

void ReadyQueue::push_loop(Cf* c) {
  loops_.push(c);
  note_listed(c, 1, true);
  add_others(1, true);
}

void ReadyQueue::push_last(Cf* c) {
  const std::lock_guard hold(mutex_);
  loops_.push_last(c);
  note_listed(c, 1, true);
  add_others(1, true);
}

void ReadyQueue::push_structured(Cf* c) {
  Cf** const at = structured_.last != nullptr ? &structured_.last->next : &structured_.head;
  c->next = *at;
  *at = c;
  structured_.last = c;
  note_listed(c, 1, false);
  add_others(1, false);
}

void ReadyQueue::remove_loop(const Loops::Place& p) {
  loops_.remove(p);
  note_listed(p.cf, -1, true);
  add_others(-1, true);
}

void ReadyQueue::unlink_structured(Cf* c, Cf* before) {
  (before == nullptr ? structured_.head : before->next) = c->next;
  if (structured_.last == c) structured_.last = before;
  note_listed(c, -1, false);
  add_others(-1, false);
}

bool ReadyQueue::may_make(Making making) const {
  if (making == Making::nothing) return false;
  return structured_.head != nullptr || loops_.next(making).cf != nullptr;
}

bool ReadyQueue::has(Making then, Running running) {
  const std::lock_guard hold(mutex_);
  return first_ != nullptr || first_group(running) != kNone || may_make(then);
}

bool ReadyQueue::pop_expandable(Work& work, Making making, std::int64_t chunk, bool here, Running running) {
  if (making == Making::nothing) return false;
  if (structured_.head != nullptr) {
    work.cf = structured_.head;
    unlink_structured(structured_.head, nullptr);
    return true;
  }
  if (running == Running::last_first && growing != nullptr && growing->large()) {
    Loops::Place p = next_maker(making, true);
    if (p.cf == nullptr) {
      ++round_;
      p = next_maker(making, true);
    }
    if (p.cf != nullptr) {
      work.tried = this;
      return claim(work, loops_.make_by(p, here), chunk);
    }
  }
  return claim(work, loops_.make_by_next(making, here), chunk);
}

// The one that lets most go, or makes least grow; of these the one nearest to the end of the program, and of one loop
// that which has been listed longest: those stand last, but for those of a family. A loop around others makes the next
// ones when these have come to their end, though they have been in vain this round.
Loops::Place ReadyQueue::next_maker(Making making, bool growing_too) {
  Loops::Place nearest;
  Growing::Does does{};
  std::size_t seen = 0;
  std::vector<std::uint32_t> vain;
  std::as_const(loops_).for_each([&](const Cf* c) {
    const std::uint32_t g = c->block->group;
    if (groups_[g].vain == round_ && (vain.empty() || vain.back() != g)) vain.push_back(g);
    return ++seen < kSeen;
  });
  const auto is_around_one = [&](const abi::Block& b) {
    if ((b.flags & abi::kNested) == 0) return false;
    for (const std::uint32_t* w = b.within; w != nullptr && *w != ~0u; w += 2) {
      if (std::any_of(vain.begin(), vain.end(), [w](std::uint32_t g) { return w[0] <= g && g < w[1]; })) return true;
    }
    return false;
  };
  seen = 0;
  loops_.for_each([&](const Loops::Place& p) {
    const abi::Block& b = *p.cf->block;
    const bool may = making == Making::all || p.due || (making == Making::movable && (b.flags & abi::kStays) == 0);
    if (may && groups_[b.group].vain != round_ && !is_around_one(b)) {
      const Growing::Does now = growing->makes(b);
      const auto comes_first = [&] {
        if (nearest.cf == nullptr || now != does) return nearest.cf == nullptr || now < does;
        const std::uint32_t other = nearest.cf->block->group;
        return b.group > other || (b.group == other && (p.cf->flags & kFamily) == 0);
      };
      if ((growing_too || now != Growing::Does::grows) && comes_first()) nearest = p, does = now;
    }
    return ++seen < kSeen;
  });
  return nearest;
}

bool ReadyQueue::claim(Work& work, const Loops::Place& next, std::int64_t chunk) {
  if (next.cf == nullptr) return false;
  Cf* const range = next.cf;
  work.cf = range;
  if (range->block->kind != abi::Kind::range) {
    remove_loop(next);
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
    remove_loop(next);  // the listing's hold becomes the chunk's
  }
  return true;
}

bool ReadyQueue::pop(Work& work, Making first, Making then, std::int64_t chunk, Running running) {
  const std::lock_guard hold(mutex_);
  structured_.last = nullptr;
  loops_.begin_body(then);
  if (first != Making::nothing && atomics_ > 0 && structured_.head == nullptr) {
    const Cf* c = loops_.next(first).cf;
    if (c != nullptr && c->block->kind == abi::Kind::atomic) first = Making::nothing;  // it has gone behind all others
  }
  if (!pop_expandable(work, first, chunk, true, running)) {
    work.cf = pop_atomic(running);
    if (work.cf == nullptr && !pop_expandable(work, then, chunk, true, running)) return false;
  }
  if (running == Running::no_growing) return true;
  if (work.cf->block->kind == abi::Kind::atomic && ++grown_ < kInRound) return true;
  grown_ = 0;
  ++round_;
  return true;
}

bool ReadyQueue::pop_maker(Work& work, Making making, std::int64_t chunk, bool here) {
  if (making < Making::due || growing == nullptr) return false;
  const std::lock_guard hold(mutex_);
  if (here) loops_.begin_body(making);
  const Loops::Place p = next_maker(making, false);
  if (p.cf == nullptr) return false;
  work.tried = this;
  return claim(work, loops_.make_by(p, here), chunk);
}

void ReadyQueue::in_vain(std::uint32_t group) {
  const std::lock_guard hold(mutex_);
  groups_[group].vain = round_;
}

std::optional<ReadyQueue::Grows> ReadyQueue::next_that_grows() {
  const std::lock_guard hold(mutex_);
  if (first_ != nullptr || growing == nullptr) return std::nullopt;
  const std::uint32_t g = nearest_to_end(true);
  if (g == kNone || growing->does(g) != Growing::Does::grows) return std::nullopt;
  return Grows{g, first_counter(groups_[g].head)};
}

// The body that this queue's worker is running goes on behind what it has made.
bool ReadyQueue::steal(Work& work, Making then, std::int64_t chunk, Running running) {
  const std::lock_guard hold(mutex_);
  work.cf = pop_atomic(running);
  return work.cf != nullptr || pop_expandable(work, then, chunk, false, running);
}

bool ReadyQueue::is_around_others_next() {
  const std::lock_guard hold(mutex_);
  const Cf* const c = loops_.next(Making::all).cf;
  return c != nullptr && c->block->kind == abi::Kind::range && (c->block->flags & abi::kNested) != 0;
}

bool ReadyQueue::another_loop_first() {
  const std::lock_guard hold(mutex_);
  return loops_.another_first();
}

void ReadyQueue::loop_first_of(const std::vector<std::uint32_t>& groups) {
  const auto is_one = [&](std::uint32_t g) { return std::find(groups.begin(), groups.end(), g) != groups.end(); };
  const std::lock_guard hold(mutex_);
  loops_.first_of([&](const abi::Block& b) {
    for (const std::uint32_t* g = b.body_groups; g != nullptr && *g != ~0u; ++g) {
      if (is_one(*g)) return true;
    }
    for (const std::uint32_t* w = b.within; w != nullptr && *w != ~0u; w += 2) {
      if (std::any_of(groups.begin(), groups.end(), [w](std::uint32_t g) { return w[0] <= g && g < w[1]; }))
        return true;
    }
    return is_one(b.group);
  });
}

void ReadyQueue::in_order() {
  if (!loops_.are_out_of_order()) return;
  const std::lock_guard hold(mutex_);
  loops_.in_order();
}

void ReadyQueue::take_turns(std::uint32_t number) {
  if (loops_.turns() == number) return;
  const std::lock_guard hold(mutex_);
  loops_.take_turns(number);
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
  if (making == Making::all) none_first();
  std::int64_t taken = 0;
  if (groups_[group].head != nullptr) put_nearest_first(groups_[group], n, to);
  while (taken < n && groups_[group].head != nullptr && !stays(*groups_[group].head->block, making)) {
    out.push_back(pop_front(group));
    ++taken;
  }
  Cf* before = nullptr;
  for (Cf* c = structured_.head; c != nullptr && taken < n;) {
    Cf* next = c->next;
    if (c->block->group == group && !stays(*c->block, making) && !is_only_while(c)) {
      unlink_structured(c, before);
      out.push_back(c);
      ++taken;
    } else {
      before = c;
    }
    c = next;
  }
  if (making < Making::movable) return taken;
  loops_.for_each([&](const Loops::Place& p) {
    if (taken < n && p.cf->block->group == group) taken += take_of_loop(p, n - taken, out, exhausted, making);
    return taken < n;
  });
  return taken;
}

// What makes nothing but what has a place; or a chain, or a `while`, that takes in each run what others make meanwhile:
// it would go in step with them, by messages.
bool ReadyQueue::stays(const abi::Block& b, Making making) const {
  if (making == Making::all || weights_ == nullptr) return false;
  if (b.kind != abi::Kind::atomic && b.kind != abi::Kind::range && (b.flags & abi::kStays) != 0) return true;
  constexpr unsigned kChain = abi::kRepeats | abi::kBulk;
  if (b.kind == abi::Kind::atomic)
    return (b.flags & kChain) == abi::kRepeats && weights_->mean(b.group) < kFollowingTicks;
  return b.kind == abi::Kind::loop && b.carried != nullptr && !is_heavy(b.carried, *weights_);
}

bool ReadyQueue::is_only_while(const Cf* c) const {
  return c == only_while_ && weights_ != nullptr && ticks() - only_since_ < kOnlyTicks;
}

bool ReadyQueue::is_offered(const Cf* range, Making making) const {
  if (making == Making::all) return true;
  if ((range->block->flags & (abi::kStays | abi::kPlaces)) != 0) return false;
  return weights_ == nullptr ||
         (worth_giving(*range->block, iterations_left(range), *weights_) && !is_light(*range->block, *weights_));
}

// Whoever gets iterations runs them one after the other, and what comes to him later waits for all of them: no more
// than make so much, and few that nobody has seen run.
std::int64_t ReadyQueue::most_of_loop(const abi::Block& range) const {
  if (growing == nullptr || weights_ == nullptr || range.body_groups == nullptr) return INT64_MAX;
  double each = 0;
  for (const std::uint32_t* g = range.body_groups; *g != ~0u; ++g) {
    if (weights_->mean(*g) == 0) return kFewAtOnce;
    each += static_cast<double>(growing->growth(*g));
  }
  return each * kFewAtOnce <= kBytesAtOnce && each > 0 ? static_cast<std::int64_t>(kBytesAtOnce / each)
         : each > 0                                    ? kFewAtOnce
                                                       : INT64_MAX;
}

std::int64_t ReadyQueue::take_of_loop(const Loops::Place& p, std::int64_t n, std::vector<Cf*>& out,
                                      std::vector<Cf*>& exhausted, Making making) {
  Cf* const c = p.cf;
  if (c->block->kind != abi::Kind::range) {
    if (stays(*c->block, making) || is_only_while(c)) return 0;
    remove_loop(p);
    out.push_back(c);
    return 1;
  }
  if (!is_offered(c, making)) return 0;
  std::int64_t part = std::min(n, iterations_left(c));
  if (making != Making::all) part = std::min(part, most_of_loop(*c->block));
  // The first ones: what is made last of a loop may be read last, and would be kept until then.
  std::int64_t& first = abi::frame_int(c, 0);
  // Enrolled here, under the lock: the original's own count of the scope still covers it.
  Cf* copy = copy_range(c, first, first + part - 1);
  if (copy->scope != nullptr) {
    static_cast<ScopeRecord*>(copy->scope)->count.add();
    copy->flags |= kEnrolled;
  }
  // Likewise what they may still read, until they board a shipment.
  if ((c->flags & kHolding) != 0) {
    reinterpret_cast<HeldHull*&>(abi::frame_int(copy, c->block->hold_word)) = Horizon::hold(hulls_of(copy), horizons);
    copy->flags |= kHolding;
  }
  out.push_back(copy);
  first += part;
  if (iterations_left(c) == 0) {
    remove_loop(p);
    if (drop_hold(c)) exhausted.push_back(c);
  }
  return part;
}

std::vector<Cf*> ReadyQueue::take_all() {
  const std::lock_guard hold(mutex_);
  std::vector<Cf*> all;
  while (Cf* c = pop_atomic()) all.push_back(c);
  while (structured_.head != nullptr) {
    all.push_back(structured_.head);
    unlink_structured(structured_.head, nullptr);
  }
  loops_.for_each([&](const Loops::Place& p) {
    remove_loop(p);
    all.push_back(p.cf);
    return true;
  });
  return all;
}

void ReadyQueue::hand_over(ReadyQueue& to) {
  std::vector<Cf*> others, loops;
  {
    const std::lock_guard hold(mutex_);
    while (Cf* c = pop_atomic()) others.push_back(c);
    for (; structured_.head != nullptr; unlink_structured(structured_.head, nullptr))
      others.push_back(structured_.head);
    loops_.for_each([&](const Loops::Place& p) {
      remove_loop(p);
      loops.push_back(p.cf);
      return true;
    });
  }
  for (Cf* c : others) to.push(c);
  const std::lock_guard hold(to.mutex_);
  for (auto c = loops.rbegin(); c != loops.rend(); ++c) {
    to.loops_.push_first(*c);
    to.note_listed(*c, 1, true);
    to.add_others(1, true);
  }
}

void ReadyQueue::look_for_only_while(Making making) {
  const auto* only = making != Making::all && whiles_ == 1 ? reinterpret_cast<const Cf*>(any_while_) : nullptr;
  if (only != only_while_) only_since_ = ticks();
  __atomic_store_n(&only_while_, only, __ATOMIC_RELAXED);
}

void ReadyQueue::count(std::vector<std::int64_t>& ready, std::vector<std::int64_t>& bytes, Making making) {
  const std::lock_guard hold(mutex_);
  if (making == Making::all) none_first();
  look_for_only_while(making);
  for (std::uint32_t g = newest_; g != kNone; g = groups_[g].older) {
    if (stays(*groups_[g].head->block, making)) continue;
    ready[g] += groups_[g].count;
    bytes[g] += groups_[g].bytes;
  }
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    const auto listed = [making](const GroupList::Listed& l) {
      return l.structured + (making < Making::movable ? 0 : l.behind);
    };
    ready[g] += listed(groups_[g].others);
    const std::int64_t may_stay = listed(groups_[g].may_stay);
    if (may_stay == 0 || stays(*groups_[g].staying, making)) continue;
    ready[g] +=
        may_stay - (only_while_ != nullptr && only_while_->block->group == g && is_only_while(only_while_) ? 1 : 0);
  }
  if (making < Making::movable) return;
  std::size_t counted = 0, seen = 0;
  std::as_const(loops_).for_each([&](const Cf* c) {
    if (c->block->kind == abi::Kind::range && is_offered(c, making)) {
      ready[c->block->group] += iterations_left(c);
      ++counted;
    }
    return making == Making::all || (counted < kMostCounted && ++seen < kMostLookedAt);
  });
}

}  // namespace tessera::runtime
