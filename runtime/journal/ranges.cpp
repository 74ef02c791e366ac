#include "runtime/journal/ranges.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tessera::runtime::journal {
namespace {

constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15u;  // of abi::mix
constexpr std::uint64_t inverse_of(std::uint64_t odd) {
  std::uint64_t x = odd;  // right in its lowest three bits; each turn doubles them
  for (int k = 0; k < 5; ++k) x *= 2 - odd * x;
  return x;
}
constexpr std::uint64_t kBack = inverse_of(kStep);
static_assert(kStep * kBack == 1);

// mix but for its first line.
Id undone(Id a) {
  a.hi ^= abi::fold(a.lo, 0xE7037ED1A0B428DBu);
  a.lo ^= abi::fold(a.hi, 0xA0761D6478BD642Fu);
  a.hi ^= abi::fold(a.lo, 0xD6E8FEB86659FD93u);
  return a;
}

std::uint64_t key_of(std::uint64_t hi, std::uint32_t statement) { return hi + statement * kStep; }

// An index that no loop has: the loop was not the one that was looked for.
bool is_index(std::int64_t i) { return i >= -(std::int64_t{1} << 40) && i <= std::int64_t{1} << 40; }

}  // namespace

Sibling sibling_of(const Id& fragment, std::uint64_t statement) {
  Id a = undone(fragment);
  a.lo ^= (statement + 1) * kStep;
  a = undone(a);
  return {a.hi, a.lo};
}

std::int64_t index_in(const Id& loop, const Sibling& s) {
  return static_cast<std::int64_t>((s.hidden ^ loop.lo) * kBack - 1);
}

Id fragment_of(const Id& loop, std::int64_t index, std::uint32_t statement) {
  return abi::mix(abi::mix(loop, static_cast<std::uint64_t>(index)), statement);
}

void Ranges::add(const Id& fragment, std::uint32_t group, std::uint32_t part, std::int64_t index) {
  Group& g = this->group(group);
  if (part != 0 && g.count(part, index)) return;
  stop_counting(g);
  if (!undo(fragment, g, group) || part == 0 || ranges_[g.range_].last != index) return;
  g.part_ = part;
  g.next_ = index + 1;
}

Ranges Ranges::take() {
  Ranges taken(*loops_);
  for (Group& g : groups_) stop_counting(g);
  taken.ranges_ = std::exchange(ranges_, {});
  taken.singles_ = std::exchange(singles_, {});
  latest_.clear();
  for (Group& g : groups_) g.range_ = kNone;
  return taken;
}

// Tried for the first ones, and then ever more rarely.
bool Ranges::learn(Group& g, const Id& fragment) {
  if (g.failed_ >= 8 && !std::has_single_bit(g.failed_)) {
    ++g.failed_;
    return false;
  }
  Id loop;
  for (std::uint32_t s = 0; s < kStatements; ++s) {
    const Sibling sibling = sibling_of(fragment, s);
    if (!loops_->find(sibling.hi, loop) || !is_index(index_in(loop, sibling))) continue;
    g.statement_ = s;
    return true;
  }
  ++g.failed_;
  return false;
}

std::uint32_t Ranges::range_of(const Group& g, const Sibling& s) {
  if (g.range_ != kNone && ranges_[g.range_].loop.hi == s.hi) return g.range_;
  const auto at = latest_.find(key_of(s.hi, g.statement_));
  const bool its =
      at != latest_.end() && ranges_[at->second].loop.hi == s.hi && ranges_[at->second].statement == g.statement_;
  return its ? at->second : kNone;
}

void Ranges::open(Group& g, const Id& loop, std::int64_t i, std::uint32_t group) {
  g.range_ = static_cast<std::uint32_t>(ranges_.size());
  ranges_.push_back({loop, i, i, g.statement_, group});
  latest_[key_of(loop.hi, g.statement_)] = g.range_;
}

bool Ranges::alone(const Id& fragment) {
  singles_.push_back(fragment);
  return false;
}

bool Ranges::undo(const Id& fragment, Group& g, std::uint32_t group) {
  if (g.statement_ == kNone && !learn(g, fragment)) return alone(fragment);
  const Sibling s = sibling_of(fragment, g.statement_);
  Id loop;
  const std::uint32_t at = range_of(g, s);
  if (at != kNone) {
    loop = ranges_[at].loop;
  } else if (!loops_->find(s.hi, loop)) {
    return alone(fragment);
  }
  const std::int64_t i = index_in(loop, s);
  if (at != kNone) {
    Range& r = ranges_[at];
    g.range_ = at;
    if (i >= r.first - 1 && i <= r.last + 1) {
      r.first = std::min(r.first, i);
      r.last = std::max(r.last, i);
      return true;
    }
  }
  if (!is_index(i)) return alone(fragment);
  open(g, loop, i, group);
  return true;
}

}  // namespace tessera::runtime::journal
