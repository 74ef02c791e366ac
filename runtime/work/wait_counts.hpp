// WaitCounts: how many fragments of a rank began to wait for inputs, and how many have ceased to.
//
// Each worker counts its own (Counter). Others see only the sums, two numbers on a cache line of their own, to which a
// worker adds in steps. A worker that looks for work reads that line; counters that each fragment changes would be one
// line for each other worker, each of them read anew.
//
// The sums are behind by less than a step of each worker, altogether by less than kTolerance. A worker that has nothing
// to run publishes the rest.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tessera::runtime {

inline constexpr std::size_t kLine = 64;  // bytes that go from core to core together

template <class Cell>
class alignas(kLine) WaitCountsOf {
 public:
  static constexpr std::int64_t kTolerance = 512;
  static constexpr std::int64_t kMostStep = 16;
  // step for so many workers, and the thread that handles messages.
  static constexpr std::int64_t step(std::size_t workers) {
    return std::clamp<std::int64_t>(kTolerance / static_cast<std::int64_t>(workers + 1), 1, kMostStep);
  }

  // Counter: what one thread has counted; for that thread alone.
  class Counter {
   public:
    std::int64_t load(std::memory_order = std::memory_order_relaxed) const { return count_; }
    void store(std::int64_t n, std::memory_order = std::memory_order_relaxed) {
      count_ = n;
      if (n >= publish_at_) [[unlikely]]
        publish();
    }
    void publish() {
      if (unpublished() == 0) return;
      sum_->fetch_add(unpublished(), std::memory_order_relaxed);
      published_ = count_;
      publish_at_ = count_ + step_;
    }
    std::int64_t unpublished() const { return count_ - published_; }

   private:
    friend class WaitCountsOf;
    Cell* sum_ = nullptr;
    std::int64_t count_ = 0, published_ = 0, publish_at_ = INT64_MAX, step_ = 0;
  };

  void join(Counter& began, Counter& ceased, std::int64_t step) {
    for (auto [counter, sum] : {std::pair(&began, &began_), std::pair(&ceased, &ceased_)}) {
      counter->sum_ = sum;
      counter->publish_at_ = counter->step_ = step;
    }
  }

  // What there is to see for the thread whose counters these are: they count in full.
  struct Seen {
    std::int64_t waiting = 0;
    std::int64_t ceased = 0;
  };
  Seen look(const Counter& began, const Counter& ceased) const {
    Seen s;
    s.ceased = ceased_.load(std::memory_order_relaxed) + ceased.unpublished();
    s.waiting = began_.load(std::memory_order_relaxed) + began.unpublished() - s.ceased;
    s.waiting = std::max<std::int64_t>(s.waiting, 0);  // who began to wait may be told of after it has ceased to
    return s;
  }

 private:
  Cell began_{0}, ceased_{0};
};

using WaitCounts = WaitCountsOf<std::atomic<std::int64_t>>;
static_assert(sizeof(WaitCounts) == kLine);

}  // namespace tessera::runtime
