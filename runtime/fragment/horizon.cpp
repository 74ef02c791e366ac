#include "runtime/fragment/horizon.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <new>
#include <utility>

#include "runtime/fragment/horizons.hpp"
#include "runtime/memory/pool.hpp"

namespace tessera::runtime {
namespace {

// With more hulls than this only the first index is looked at, which then needs no look at each of them.
constexpr std::size_t kFew = 24;

// Of names that nobody holds any more.
thread_local std::vector<abi::Id> orphans;

void set_hull(HeldHull& h, const abi::Hull& hull) {
  std::copy_n(hull.first, 2, h.first);
  std::copy_n(hull.last, 2, h.last);
}

bool is_narrow(const HeldHull& h) {
  constexpr std::int64_t kFew = 64;
  return h.first[0] != abi::kLeast && h.last[0] != abi::kMost && h.last[0] - h.first[0] < kFew;
}

Horizon::Box box_of(const HeldHull& h) { return {{h.first[0], h.first[1]}, {h.last[0], h.last[1]}}; }

bool lies_in(const Horizon::Value& v, const Horizon::Box& b) {
  return b.first[0] <= v.key[0] && v.key[0] <= b.last[0] && b.first[1] <= v.key[1] && v.key[1] <= b.last[1];
}

bool lies_within(const abi::Hull& inner, const HeldHull& outer) {
  return inner.horizon == outer.of->handle() &&
         std::equal(inner.first, inner.first + 2, outer.first, std::greater_equal<>()) &&
         std::equal(inner.last, inner.last + 2, outer.last, std::less_equal<>());
}

}  // namespace

Horizon::~Horizon() {
  if (all_ != nullptr) all_->forget(*this);
  // None is left but where the run has failed.
  for (const Held& h : held_) pool_free(h.hull, sizeof(HeldHull));
}

HeldHull* Horizon::make_held(const abi::Hull& hull) {
  auto* h = new (pool_allocate(sizeof(HeldHull))) HeldHull;
  set_hull(*h, hull);
  return h;
}

void Horizon::add(HeldHull* h) {
  h->of = this;
  note_way(*h);
  const std::lock_guard lock(mutex_);
  h->at = held_.size();
  held_.push_back({box_of(*h), h});
}

// What has no end on one side is read on towards that side.
void Horizon::note_way(const HeldHull& h) {
  const bool up = h.last[0] == abi::kMost, down = h.first[0] == abi::kLeast;
  if (up != down && goes_.load(std::memory_order_relaxed) == 0) goes_.store(up ? 1 : -1, std::memory_order_relaxed);
}

HeldHull* Horizon::hold(const abi::Hulls& hulls, Horizons* several) {
  HeldHull* all = nullptr;
  for (std::uint32_t k = 0; k < hulls.count; ++k) {
    HeldHull* h = make_held(hulls.at[k]);
    h->also = std::exchange(all, h);
    several == nullptr ? of(hulls.at[k].horizon).add(h) : several->hold(h, hulls.at[k]);
  }
  return all;
}

HeldHull* Horizon::hold_instead(HeldHull* before, const abi::Hulls& hulls, Horizons* several) {
  // In place only where each lies within what it takes the place of: a sweep may come between any two of them.
  std::uint32_t k = hulls.count;  // as `hold` has made them, the last one first
  const HeldHull* same = before;
  while (same != nullptr && k > 0 && lies_within(hulls.at[k - 1], *same)) --k, same = same->also;
  if (same != nullptr || k > 0) {
    HeldHull* const now = hold(hulls, several);
    release(before);
    return now;
  }
  k = hulls.count;
  for (HeldHull* h = before; h != nullptr; h = h->also) {
    const abi::Hull& now = hulls.at[--k];
    const bool up = now.first[0] != h->first[0], down = now.last[0] != h->last[0];
    if (up != down) h->of->goes_.store(up ? 1 : -1, std::memory_order_relaxed);
    const std::lock_guard lock(h->of->mutex_);
    set_hull(*h, now);
    h->of->held_[h->at].box = box_of(*h);
  }
  return before;
}

bool Horizon::reads_few(const HeldHull* all) {
  for (const HeldHull* h = all; h != nullptr; h = h->also) {
    if (!is_narrow(*h)) return false;
  }
  return true;
}

// Not where they are before each other by different names. Who reads on and on is not behind who reads a few rows: what
// a step makes beside the way to the next one would be left, where that reads back further.
bool Horizon::is_behind(const HeldHull* one, const HeldHull* other) {
  bool behind = false;
  for (const HeldHull* a = one; a != nullptr; a = a->also) {
    const int goes = a->of->goes_.load(std::memory_order_relaxed);
    for (const HeldHull* b = other; b != nullptr; b = b->also) {
      if (a->of != b->of || goes == 0) continue;
      if (is_narrow(*b) && !is_narrow(*a)) return false;
      if (goes > 0 ? a->first[0] > b->first[0] : a->last[0] < b->last[0]) return false;
      behind = behind || (goes > 0 ? a->first[0] < b->first[0] : a->last[0] > b->last[0]);
    }
  }
  return behind;
}

void Horizon::release(HeldHull* h) {
  while (h != nullptr) {
    Horizon& horizon = *h->of;
    bool left = false;
    HeldHull* handed = nullptr;
    {
      const std::lock_guard lock(horizon.mutex_);
      Held& place = horizon.held_[h->at];
      place = horizon.held_.back();
      place.hull->at = h->at;
      horizon.held_.pop_back();
      // Of several ranks nobody knows here who else holds it; and one of another home may go as soon as it is let go.
      left = horizon.held_.empty() && horizon.all_ == nullptr;
      if (left) {
        horizon.left_.store(true, std::memory_order_relaxed);
        handed = std::exchange(horizon.handed_, nullptr);
      }
    }
    if (left) horizon.leave_all();
    if (handed != nullptr) release(handed);
    pool_free(std::exchange(h, h->also), sizeof(HeldHull));
  }
}

void Horizon::hand(HeldHull* hulls) {
  if (hulls == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    if (!left_.load(std::memory_order_relaxed)) {
      HeldHull** last = &hulls;
      while (*last != nullptr) last = &(*last)->also;
      *last = std::exchange(handed_, hulls);
      return;
    }
  }
  release(hulls);
}

// It goes, and takes along what is held of it.
void Horizon::forget(const Horizon& other) {
  for (HeldHull** h = &handed_; *h != nullptr;) {
    if ((*h)->of == &other) {
      *h = (*h)->also;
    } else {
      h = &(*h)->also;
    }
  }
}

// Whoever has released the last hull is in the scope still. What is assigned meanwhile sees, with the part's lock, that
// it is left, or is found here.
void Horizon::leave_all() {
  for (Part& p : parts_) {
    const std::lock_guard lock(p.mutex);
    for (const Value& v : p.values) orphans.push_back(v.id);
    orphans.insert(orphans.end(), p.others.begin(), p.others.end());
    if (found_dead != nullptr) *found_dead += p.values.size();
    p.values = {};
    p.others = {};
  }
}

void Horizon::take_left(std::vector<abi::Id>& dead) {
  if (orphans.empty()) return;
  dead.insert(dead.end(), orphans.begin(), orphans.end());
  orphans.clear();
}

void Horizon::open(Horizons* several) {
  abi::Hulls all;
  all.add(handle(), abi::kLeast, abi::kMost);
  open_ = hold(all, several);
}

void Horizon::note(std::size_t part, const abi::Id& id, const std::int64_t (&key)[2], std::uint64_t bytes,
                   std::vector<abi::Id>& dead) {
  Part& p = parts_[part % parts_.size()];
  const std::lock_guard lock(p.mutex);
  if (left_.load(std::memory_order_relaxed)) return dead.push_back(id);
  if (key[0] == abi::kNoIndex || key[1] == abi::kNoIndex) return p.others.push_back(id);
  p.values.push_back({id, {key[0], key[1]}, bytes});
  p.bytes += bytes;
  p.unpaid -= std::min(p.unpaid, kPays + bytes / kPays);
  if (is_due(p)) sweep(p, dead);
}

bool Horizon::is_due(const Part& p) { return (p.values.size() >= p.most || p.bytes >= p.most_bytes) && p.unpaid == 0; }

// Until its values lie in it, too.
void Horizon::widen(Box& b, const Part& p) {
  for (const Value& v : p.values) {
    for (const std::size_t k : {0, 1}) {
      b.first[k] = std::min(b.first[k], v.key[k]);
      b.last[k] = std::max(b.last[k], v.key[k]);
    }
  }
}

namespace {

// Is a box with the same rows, and next to the other or across it, in that dimension? Then both are one.
bool unites(Horizon::Box& one, const Horizon::Box& other, std::size_t along) {
  const std::size_t across = 1 - along;
  if (one.first[across] != other.first[across] || one.last[across] != other.last[across]) return false;
  const auto behind = [](std::int64_t last, std::int64_t first) { return last < first && last + 1 < first; };
  if (behind(one.last[along], other.first[along]) || behind(other.last[along], one.first[along])) return false;
  one.first[along] = std::min(one.first[along], other.first[along]);
  one.last[along] = std::max(one.last[along], other.last[along]);
  return true;
}

// Steps that have been made ahead hold a box each, one beside the other: these are one.
void add_to(std::vector<Horizon::Box>& boxes, Horizon::Box b) {
  while (!boxes.empty() && (unites(b, boxes.back(), 1) || unites(b, boxes.back(), 0))) boxes.pop_back();
  boxes.push_back(b);
}

}  // namespace

// What is held of what lies in this box; where something is held, at least one.
std::vector<Horizon::Box> Horizon::held(const Box& within, std::size_t& holds) {
  std::vector<Box> boxes;
  {
    const std::lock_guard lock(mutex_);
    holds = held_.size();
    for (const auto& [b, hull] : held_) {
      const bool apart = b.first[0] > within.last[0] || b.last[0] < within.first[0] ||  //
                         b.first[1] > within.last[1] || b.last[1] < within.first[1];
      if (!apart) add_to(boxes, b);
    }
    if (boxes.empty() && !held_.empty()) boxes.push_back(held_.front().box);
  }
  if (boxes.size() <= kFew) return boxes;
  // They stand in the order of holders that have come and gone.
  std::sort(boxes.begin(), boxes.end());
  std::vector<Box> united;
  for (const Box& b : boxes) add_to(united, b);
  return united;
}

// Without repetitions; where there is much of it, rather more.
Horizon::Around::Around(std::vector<Box> boxes) : boxes_(std::move(boxes)) {
  std::sort(boxes_.begin(), boxes_.end());
  boxes_.erase(std::unique(boxes_.begin(), boxes_.end()), boxes_.end());
  flat_ = boxes_.size() > kFew;
  if (!flat_) return;
  std::size_t last = 0;
  for (Box& b : boxes_) {
    b = {{b.first[0], abi::kLeast}, {b.last[0], abi::kMost}};
    if (b.first[0] <= boxes_[last].last[0]) {
      boxes_[last].last[0] = std::max(boxes_[last].last[0], b.last[0]);
      boxes_[last].first[1] = abi::kLeast;
      boxes_[last].last[1] = abi::kMost;
    } else {
      boxes_[++last] = b;
    }
  }
  boxes_.resize(last + 1);
}

bool Horizon::Around::has(const Value& v) const {
  if (flat_) {
    const auto behind = std::upper_bound(boxes_.begin(), boxes_.end(), v.key[0],
                                         [](std::int64_t k, const Box& b) { return k < b.first[0]; });
    return behind != boxes_.begin() && std::prev(behind)->last[0] >= v.key[0];
  }
  return std::any_of(boxes_.begin(), boxes_.end(), [&](const Box& b) { return lies_in(v, b); });
}

// The values that are there now: what is assigned from now on, is read by those that hold it now.
void Horizon::sweep(Part& p, std::vector<abi::Id>& dead) {
  std::size_t holds = 0;
  Box all = kNothing;
  widen(all, p);
  const Around around(held(all, holds));
  std::size_t left = 0;
  const std::size_t before = dead.size(), looks = holds + p.values.size();
  p.bytes = 0;
  for (const Value& v : p.values) {
    if (!around.has(v)) {
      dead.push_back(v.id);
      continue;
    }
    p.bytes += v.bytes;
    p.values[left++] = v;
  }
  p.values.resize(left);
  if (found_dead != nullptr) *found_dead += dead.size() - before;
  if (looked_at != nullptr) *looked_at += looks;
  if (least_to_sweep == 0) return;
  p.unpaid = looks;
  p.most = std::max(least_to_sweep, 2 * left);
  p.most_bytes = std::max(kLeastBytes, 2 * p.bytes);
}

// ---------------------------------------------------------------------------- of several ranks

void Horizon::keep(std::size_t part, const Value& v) {
  Part& p = parts_[part % parts_.size()];
  const std::lock_guard lock(p.mutex);
  if (v.key[0] == abi::kNoIndex || v.key[1] == abi::kNoIndex) return p.others.push_back(v.id);
  p.values.push_back(v);
  p.bytes += v.bytes;
}

std::vector<Horizon::Box> Horizon::cut() {
  cut_ = kNothing;
  for (Part& p : parts_) {
    const std::lock_guard lock(p.mutex);
    widen(cut_, p);
  }
  std::size_t holds = 0;
  return held(cut_, holds);
}

void Horizon::find_dead(std::vector<Box> boxes, const std::function<void(const abi::Id&)>& dead) {
  const bool nobody = boxes.empty();
  const Around around(std::move(boxes));
  for (Part& p : parts_) {
    const std::lock_guard lock(p.mutex);
    for (const Value& v : p.values) {
      if (lies_in(v, cut_) && !around.has(v)) dead(v.id);
    }
    if (nobody) std::for_each(p.others.begin(), p.others.end(), dead);
  }
}

void Horizon::remove(const std::unordered_set<std::uint64_t>& gone) {
  for (Part& p : parts_) {
    const std::lock_guard lock(p.mutex);
    std::erase_if(p.values, [&](const Value& v) {
      const bool goes = gone.contains(v.id.lo);
      if (goes) p.bytes -= v.bytes;
      return goes;
    });
    std::erase_if(p.others, [&](const abi::Id& id) { return gone.contains(id.lo); });
  }
}

}  // namespace tessera::runtime
