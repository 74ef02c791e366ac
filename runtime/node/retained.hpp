// Retained: where series run whose fragments the balancer has moved.
//
// Retentive work stealing (Lifflander, Krishnamoorthy, Kale, HPDC 2012): what was moved in one step of an iteration
// begins there in the next, so that balance, once found, is not looked for again in each step. A series
// (abi::Block::series) belongs to the rank where its locator places it: its fragments wait there for their inputs. When
// the policy moves one, from wherever to wherever, that rank gets to know, and from then on sends those that get ready
// there on at once. No other rank sends any on, so none goes round in circles.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

// Of the series that belong to one rank. Any thread.
class Retained {
 public:
  // Nothing is known: find() need not be asked.
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }

  // From now on the series runs on `to`; where it belongs, if that is nothing.
  void put(std::uint64_t series, std::optional<Rank> to) {
    const std::lock_guard hold(mutex_);
    if (!to) {
      ranks_.erase(series);
    } else if (ranks_.size() < kMost || ranks_.count(series) != 0) {
      ranks_.insert_or_assign(series, *to);
    }
    size_.store(ranks_.size(), std::memory_order_relaxed);
  }
  // All of them, in the order of their numbers.
  std::vector<std::pair<std::uint64_t, Rank>> all() const {
    std::vector<std::pair<std::uint64_t, Rank>> list;
    {
      const std::lock_guard hold(mutex_);
      list.assign(ranks_.begin(), ranks_.end());
    }
    std::sort(list.begin(), list.end());
    return list;
  }
  std::optional<Rank> find(std::uint64_t series) const {
    const std::lock_guard hold(mutex_);
    const auto it = ranks_.find(series);
    return it == ranks_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  static constexpr std::size_t kMost = 1 << 18;  // some 10 MB; later ones stay where they belong

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Rank> ranks_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace tessera::runtime
