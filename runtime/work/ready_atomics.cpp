#include "runtime/work/ready_atomics.hpp"

#include <algorithm>
#include <utility>

#include "balancer/ready_order.hpp"
#include "runtime/memory/value.hpp"
#include "runtime/work/growing.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kSeen = static_cast<std::size_t>(balancer::kSeen);

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

}  // namespace

void ReadyAtomics::push(Cf* c) {
  if (weights_ != nullptr) c->pending = units_to_move(c, others);
  append(c);
}

void ReadyAtomics::append(Cf* c) {
  const std::uint32_t g = c->block->group;
  List& list = groups_[g];
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
  add(1);
}

// Of the group's list, where `before` comes before it.
void ReadyAtomics::unlink(std::uint32_t group, Cf* c, Cf* before) {
  List& list = groups_[group];
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

Cf* ReadyAtomics::pop_front(std::uint32_t group) {
  Cf* c = groups_[group].head;
  unlink(group, c, nullptr);
  add(-1);
  return c;
}

void ReadyAtomics::put_first(std::uint32_t group, Cf* c, Cf* before) {
  unlink(group, c, before);
  c->next = nullptr;
  (first_ == nullptr ? first_ : last_of_first_->next) = c;
  last_of_first_ = c;
}

Cf* ReadyAtomics::pop_first() {
  Cf* c = first_;
  first_ = c->next;
  add(-1);
  return c;
}

void ReadyAtomics::none_first() {
  while (first_ != nullptr) append(pop_first());
}

std::uint32_t ReadyAtomics::next_group() const {
  const List& newest = groups_[newest_];
  if (newest.older == kNone || newest.count >= plenty_ || newest.bytes >= balancer::kPlentyBytes) {
    return newest_;
  }
  const auto older = [&](auto visit) {
    for (std::uint32_t g = newest.older; g != kNone; g = groups_[g].older) visit(g);
  };
  return balancer::next_group(newest_, older, [this](std::uint32_t g) { return weights_->mean(g); });
}

std::uint32_t ReadyAtomics::first_group(Running running) const {
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

std::uint32_t ReadyAtomics::nearest_to_end(bool growing_too) const {
  const auto is_needed = [this](std::uint32_t g) {
    return std::find(needed_.begin(), needed_.end(), g) != needed_.end();
  };
  std::uint32_t nearest = kNone;
  Growing::Does does{};
  for (std::uint32_t g = newest_; g != kNone; g = groups_[g].older) {
    const Growing::Does now = growing == nullptr ? Growing::Does::keeps : growing->does(g);
    if (now == Growing::Does::grows && !growing_too) continue;
    const auto comes_first = [&] {
      if (nearest == kNone || now != does) return nearest == kNone || now < does;
      if (now == Growing::Does::grows && is_needed(g) != is_needed(nearest)) return is_needed(g);
      return g > nearest;
    };
    if (comes_first()) nearest = g, does = now;
  }
  return nearest;
}

Cf* ReadyAtomics::pop(Running running) {
  const std::uint32_t g = first_ != nullptr ? kNone : first_group(running);
  if (g == kNone && first_ == nullptr) return nullptr;
  Cf* c = g == kNone ? pop_first() : pop_front(g);
  if (weights_ == nullptr) return c;
  if (c->pending > 0) bears_no_longer(c);
  return c;
}

std::optional<ReadyAtomics::Grows> ReadyAtomics::next_that_grows() const {
  if (first_ != nullptr || growing == nullptr) return std::nullopt;
  const std::uint32_t g = nearest_to_end(true);
  if (g == kNone || growing->does(g) != Growing::Does::grows) return std::nullopt;
  return Grows{g, first_counter(groups_[g].head)};
}

// The first n become those for which the least has to travel: again and again the one whose decisive inputs
// `to` lacks least, counting as there what the ones before it bring; among equals one that no third rank has something
// of, the earliest of those. So fragments that share inputs go together, and what a rank has made is left for it. Looks
// at the first kSeen only.
void ReadyAtomics::put_nearest_first(List& list, std::int64_t n, balancer::Rank to) {
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

std::int64_t ReadyAtomics::take(std::uint32_t group, std::int64_t n, balancer::Rank to, std::vector<Cf*>& out) {
  std::int64_t taken = 0;
  if (groups_[group].head != nullptr) put_nearest_first(groups_[group], n, to);
  for (; taken < n && groups_[group].head != nullptr; ++taken) out.push_back(pop_front(group));
  return taken;
}

}  // namespace tessera::runtime
