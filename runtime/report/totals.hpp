// Totals of a run: each rank's own numbers, gathered on rank 0.
#pragma once

#include <atomic>
#include <vector>

#include "runtime/comm/messages.hpp"

namespace tessera::runtime {

// Rank 0: the latest word of every rank.
class TotalsOfAll {
 public:
  explicit TotalsOfAll(std::int32_t ranks)
      : by_rank_(static_cast<std::size_t>(ranks)), final_(static_cast<std::size_t>(ranks)) {}
  void take(Rank from, Totals&& t) {
    const auto r = static_cast<std::size_t>(balancer::index(from));
    if (t.final) final_[r] = true;
    by_rank_[r] = std::move(t);
  }
  // The ranks whose last ones have not come. Any thread.
  std::vector<Rank> missing() const {
    std::vector<Rank> all;
    for (std::size_t r = 0; r < final_.size(); ++r) {
      if (!final_[r]) all.push_back(Rank{static_cast<std::int32_t>(r)});
    }
    return all;
  }
  const std::vector<Totals>& by_rank() const { return by_rank_; }

 private:
  std::vector<Totals> by_rank_;
  std::vector<std::atomic<bool>> final_;
};

// Groups summed over ranks, pooled mean and variance; only groups that ran, by group.
std::vector<GroupTotals> merge_groups(const std::vector<Totals>&);

}  // namespace tessera::runtime
