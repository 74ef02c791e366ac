#include "runtime/work/ready_queue.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "runtime/fragment/horizons.hpp"
#include "runtime/fragment/scope_record.hpp"
#include "runtime/threads/ticks.hpp"
#include "runtime/work/growing.hpp"
#include "runtime/work/worth_giving.hpp"

namespace tessera::runtime {
namespace {

constexpr std::uint64_t kOnlyTicks = 2'500'000;  // about 1 ms
// Of so many loops the iterations are counted: who is told of fewer than there are has enough.
constexpr std::size_t kMostCounted = 1024, kMostLookedAt = 8 * kMostCounted;

// A range's `pending` counts the chunks being run, plus one while it is listed.
bool drop_hold(Cf* range) { return __atomic_sub_fetch(&range->pending, 1u, __ATOMIC_ACQ_REL) == 0; }

// Iterations of a loop that are given away together: so many that they make kBytesAtOnce, but in any case kFewAtOnce.
constexpr double kBytesAtOnce = 32 << 20;
constexpr std::int64_t kFewAtOnce = 32;

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
  atomics_.push(c);
}

// What is listed beside atomic fragments that are ready, and beside ranges, is counted by group.
void ReadyQueue::note_listed(const Cf* c, std::int64_t by, bool behind) {
  const abi::Block& b = *c->block;
  if (b.kind == abi::Kind::range) return;
  Listed& g = listed_[b.group];
  const bool may_stay = b.kind == abi::Kind::loop || b.kind == abi::Kind::atomic || (b.flags & abi::kStays) != 0;
  Listed::Count& listed = may_stay ? g.may_stay : g.others;
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
  return atomics_.has(running) || may_make(then);
}

bool ReadyQueue::pop_expandable(Work& work, Making making, std::int64_t chunk, bool here, Running running) {
  if (making == Making::nothing) return false;
  if (structured_.head != nullptr) {
    work.cf = structured_.head;
    unlink_structured(structured_.head, nullptr);
    return true;
  }
  const bool in_order = running == Running::last_first && making >= Making::due;
  if (in_order && atomics_.growing != nullptr && atomics_.growing->large()) {
    Loops::Place p = makers_.next(loops_, making, *atomics_.growing, true);
    if (p.cf == nullptr) {
      makers_.end_round();
      p = makers_.next(loops_, making, *atomics_.growing, true);
    }
    if (p.cf != nullptr) {
      work.tried = this;
      return claim(work, loops_.make_by(p, here), chunk);
    }
  }
  return claim(work, loops_.make_by_next(making, here), chunk);
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
  if (first != Making::nothing && atomics_.count() > 0 && structured_.head == nullptr) {
    const Cf* c = loops_.next(first).cf;
    if (c != nullptr && c->block->kind == abi::Kind::atomic) first = Making::nothing;  // it has gone behind all others
  }
  if (!pop_expandable(work, first, chunk, true, running)) {
    work.cf = atomics_.pop(running);
    if (work.cf == nullptr && !pop_expandable(work, then, chunk, true, running)) return false;
  }
  if (running == Running::no_growing) return true;
  makers_.popped(work.cf->block->kind == abi::Kind::atomic);
  return true;
}

bool ReadyQueue::pop_maker(Work& work, Making making, std::int64_t chunk, bool here) {
  if (making < Making::due || atomics_.growing == nullptr) return false;
  const std::lock_guard hold(mutex_);
  if (here) loops_.begin_body(making);
  const Loops::Place p = makers_.next(loops_, making, *atomics_.growing, false);
  if (p.cf == nullptr) return false;
  work.tried = this;
  return claim(work, loops_.make_by(p, here), chunk);
}

// The body that this queue's worker is running goes on behind what it has made.
bool ReadyQueue::steal(Work& work, Making then, std::int64_t chunk, Running running) {
  const std::lock_guard hold(mutex_);
  work.cf = atomics_.pop(running);
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
  const abi::Block* const first = loops_.first_of([&](const abi::Block& b) {
    for (const std::uint32_t* g = b.body_groups; g != nullptr && *g != ~0u; ++g) {
      if (is_one(*g)) return true;
    }
    for (const std::uint32_t* w = b.within; w != nullptr && *w != ~0u; w += 2) {
      if (std::any_of(groups.begin(), groups.end(), [w](std::uint32_t g) { return w[0] <= g && g < w[1]; }))
        return true;
    }
    return is_one(b.group);
  });
  if (first != nullptr) makers_.need(*first);
  atomics_.need(groups);
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

std::int64_t ReadyQueue::take(std::uint32_t group, std::int64_t n, balancer::Rank to, std::vector<Cf*>& out,
                              std::vector<Cf*>& exhausted, Making making) {
  const std::lock_guard hold(mutex_);
  if (making == Making::all) atomics_.none_first();
  std::int64_t taken = 0;
  if (const abi::Block* b = atomics_.block_of(group); b != nullptr && !stays(*b, making))
    taken = atomics_.take(group, n, to, out);
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
  if (atomics_.growing == nullptr || weights_ == nullptr || range.body_groups == nullptr) return INT64_MAX;
  double each = 0;
  for (const std::uint32_t* g = range.body_groups; *g != ~0u; ++g) {
    if (weights_->mean(*g) == 0) return kFewAtOnce;
    each += static_cast<double>(atomics_.growing->growth(*g));
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
  while (Cf* c = atomics_.pop()) all.push_back(c);
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
    while (Cf* c = atomics_.pop()) others.push_back(c);
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
  if (making == Making::all) atomics_.none_first();
  look_for_only_while(making);
  atomics_.for_each_group([&](std::uint32_t g, std::int64_t count, std::int64_t of_inputs) {
    if (stays(*atomics_.block_of(g), making)) return;
    ready[g] += count;
    bytes[g] += of_inputs;
  });
  for (std::uint32_t g = 0; g < listed_.size(); ++g) {
    const auto listed = [making](const Listed::Count& l) {
      return l.structured + (making < Making::movable ? 0 : l.behind);
    };
    ready[g] += listed(listed_[g].others);
    const std::int64_t may_stay = listed(listed_[g].may_stay);
    if (may_stay == 0 || stays(*listed_[g].staying, making)) continue;
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
