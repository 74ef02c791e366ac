// SeriesRuns: fragments of series that one worker has run, for the policy to be told of.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::runtime {

// Written by its worker, taken by the communication thread.
class SeriesRuns {
 public:
  void add(const balancer::SeriesWork& w) {
    const std::lock_guard hold(mutex_);
    if (ran_.size() < kMost) ran_.push_back(w);
  }
  // Appends them, and forgets them.
  void take(std::vector<balancer::SeriesWork>& all) {
    const std::lock_guard hold(mutex_);
    all.insert(all.end(), ran_.begin(), ran_.end());
    ran_.clear();
  }

 private:
  static constexpr std::size_t kMost = 1 << 16;  // between two looks; of more, later ones are not told of

  std::mutex mutex_;
  std::vector<balancer::SeriesWork> ran_;
};

}  // namespace tessera::runtime
