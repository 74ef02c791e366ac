// Skips: what statements of loops need not make again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/journal/ranges.hpp"

namespace tessera::runtime::journal {

class Skips {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  // Of whoever asks: where it found the last one, and of which loop there was nothing.
  struct Near {
    std::uint32_t loop = 0, interval = 0;
    std::uint64_t none = 0;
  };

  // While there is to be added. False: there is another loop that this one can't be told from.
  bool add(const Range&);
  // This fragment is to be made, if it is in a range.
  void take_out(const Id& fragment);
  void finish();

  bool empty() const { return loops_.empty(); }
  std::uint64_t fragments() const { return fragments_; }
  bool has(const Id& fragment, std::uint32_t group, Near& near) const {
    const std::uint32_t s = statement_of(group);
    if (s == kNone) return false;
    const Sibling sibling = sibling_of(fragment, s);
    return find(sibling.hi, s, near) && end_of(near, index_in(loops_[near.loop].id, sibling)) != kNowhere;
  }
  // The first iteration from `i` on in which the loop makes something of this group that is not to be skipped.
  std::int64_t next(const Id& loop, std::uint32_t group, std::int64_t i, Near& near) const {
    const std::uint32_t s = statement_of(group);
    if (s == kNone || !find(loop.hi, s, near)) return i;
    if (loops_[near.loop].id != loop || loops_[near.loop].group != group) return i;
    const std::int64_t end = end_of(near, i);
    return end == kNowhere ? i : end;
  }
  template <class F>
  void for_each(F f) const {
    for (const Loop& l : loops_) {
      for (std::uint32_t k = l.from; k < l.to; ++k)
        f(Range{l.id, intervals_[k].first, intervals_[k].second - 1, l.statement, l.group});
    }
  }

 private:
  static constexpr std::int64_t kNowhere = INT64_MIN;
  using Interval = std::pair<std::int64_t, std::int64_t>;  // up to, not with, the second
  struct Loop {
    Id id;
    std::uint32_t statement, group;
    std::uint32_t from, to;  // intervals
  };
  struct Added {
    std::uint32_t loop;
    Interval interval;
  };
  static std::uint64_t key_of(std::uint64_t hi, std::uint32_t statement) {
    return hi + statement * 0x9E3779B97F4A7C15u;
  }
  std::uint32_t statement_of(std::uint32_t group) const {
    return group < statements_.size() ? statements_[group] : kNone;
  }
  bool find(std::uint64_t hi, std::uint32_t statement, Near& near) const {
    for (std::uint32_t k = near.loop; k < std::min<std::size_t>(near.loop + 2, loops_.size()); ++k) {
      if (loops_[k].id.hi != hi || loops_[k].statement != statement) continue;
      if (k != near.loop) near.loop = k, near.interval = loops_[k].from;
      return true;
    }
    const std::uint64_t key = key_of(hi, statement);
    if (near.none == key) return false;
    const auto at = numbers_.find(key);
    if (at == numbers_.end() || loops_[at->second].id.hi != hi || loops_[at->second].statement != statement) {
      near.none = key;
      return false;
    }
    near.loop = at->second, near.interval = loops_[at->second].from;
    return true;
  }
  // Of the interval that has it.
  std::int64_t end_of(Near& near, std::int64_t i) const {
    const auto in = [&](std::uint32_t k) { return i >= intervals_[k].first && i < intervals_[k].second; };
    const Loop& l = loops_[near.loop];
    if (near.interval >= l.from && near.interval < l.to && in(near.interval)) return intervals_[near.interval].second;
    const auto begin = intervals_.begin() + l.from, end = intervals_.begin() + l.to;
    const auto at = std::upper_bound(begin, end, i, [](std::int64_t x, const Interval& v) { return x < v.second; });
    if (at == end || i < at->first) return kNowhere;
    near.interval = static_cast<std::uint32_t>(at - intervals_.begin());
    return at->second;
  }

  std::vector<std::uint32_t> statements_;  // by group
  std::vector<Loop> loops_;                // in the order in which they were done
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::vector<Interval> intervals_;  // by loop, sorted
  std::uint64_t fragments_ = 0;
  // Until it is finished.
  std::vector<Added> added_, out_;
  std::vector<std::uint32_t> all_statements_;
};

}  // namespace tessera::runtime::journal
