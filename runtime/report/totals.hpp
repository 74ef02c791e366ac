// Totals of a run: each rank's own numbers, gathered on rank 0.
#pragma once

#include <vector>

#include "runtime/comm/messages.hpp"

namespace tessera::runtime {

class Node;

Totals own_totals(Node&, bool final);

// Rank 0: the latest word of every rank.
class TotalsOfAll {
 public:
  explicit TotalsOfAll(std::int32_t ranks) : by_rank_(static_cast<std::size_t>(ranks)) {}
  void take(Rank from, Totals&& t) { by_rank_[static_cast<std::size_t>(balancer::index(from))] = std::move(t); }
  const std::vector<Totals>& by_rank() const { return by_rank_; }

 private:
  std::vector<Totals> by_rank_;
};

// Groups summed over ranks, pooled mean and variance; only groups that ran, by group.
std::vector<GroupTotals> merge_groups(const std::vector<Totals>&);

}  // namespace tessera::runtime
