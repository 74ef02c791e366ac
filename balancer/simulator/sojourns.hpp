// Sojourns: how long items were there, from when they came until they had run. Of any number of them in little room:
// the mean and the longest are exact, a share is within 1 %.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer::simulator {

class Sojourns {
 public:
  void add(Time t) {
    ++count_;
    sum_ += static_cast<double>(t);
    longest_ = std::max(longest_, t);
    const std::size_t at = bucket(t);
    if (at >= buckets_.size()) buckets_.resize(at + 1);
    ++buckets_[at];
  }
  std::int64_t count() const { return count_; }
  double mean() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
  Time longest() const { return longest_; }
  // A share of them were not longer than this.
  Time quantile(double share) const {
    auto left = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_)));
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      left -= buckets_[i];
      if (left <= 0) return std::min(longest_, static_cast<Time>(std::exp((static_cast<double>(i) + 0.5) * kStep) - 1));
    }
    return longest_;
  }

 private:
  static constexpr double kStep = 0.01;
  static std::size_t bucket(Time t) {
    return static_cast<std::size_t>(std::log(static_cast<double>(std::max<Time>(t, 0)) + 1) / kStep);
  }
  std::int64_t count_ = 0;
  double sum_ = 0;
  Time longest_ = 0;
  std::vector<std::int64_t> buckets_;  // of equal length in the logarithm
};

}  // namespace tessera::balancer::simulator
