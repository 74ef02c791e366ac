// Utilisation: how busy each rank was over the run, in equal slices of time.
#pragma once

#include <algorithm>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer::simulator {

// The end of the run is not known beforehand: when the slices are used up, pairs are merged and
// twice as long.
class Utilisation {
 public:
  // slices 0: nothing is kept.
  Utilisation(std::size_t ranks, std::size_t slices) : slices_(slices), busy_(ranks * slices), ranks_(ranks) {}

  void add(std::size_t rank, Time from, Time to) {
    if (slices_ == 0) return;
    while (to > length_ * static_cast<Time>(slices_)) merge();
    Time* of_rank = &busy_[rank * slices_];
    while (from < to) {
      const Time slice = from / length_;
      const Time end = std::min(to, (slice + 1) * length_);
      of_rank[slice] += end - from;
      from = end;
    }
  }
  Time length() const { return length_; }
  // Thread-time per slice, rank after rank.
  std::vector<Time> take() { return std::move(busy_); }

 private:
  void merge() {
    for (std::size_t r = 0; r < ranks_; ++r) {
      Time* of_rank = &busy_[r * slices_];
      for (std::size_t s = 0; s < slices_; ++s) {
        const std::size_t a = 2 * s, b = 2 * s + 1;
        of_rank[s] = (a < slices_ ? of_rank[a] : 0) + (b < slices_ ? of_rank[b] : 0);
      }
    }
    length_ *= 2;
  }

  std::size_t slices_;
  std::vector<Time> busy_;
  std::size_t ranks_;
  Time length_ = 1000;
};

}  // namespace tessera::balancer::simulator
