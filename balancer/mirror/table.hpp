// The state table of `mirror`: what one rank believes of all, and the source's formulas on it.
//
// Work is counted in units of 1 ns of one thread on a rank of power 1. A rank's rate is
// speed / tasks, units per ns.
#pragma once

#include <cstdint>
#include <vector>

#include "balancer/message.hpp"
#include "balancer/types.hpp"

namespace tessera::balancer {

// N <- (N*T + n*D) / (T + D): the mean over the run so far of the tasks that share a rank's cores,
// after `since` ns with `now_tasks` of them. Never below 1: the rank itself is one.
double smoothed_tasks(double tasks, Time run_time, double now_tasks, Time since);

// P = (V*T/C) / N, from 0 to 1; nothing assigned is done.
double share_done(double speed, Time run_time, Time assigned, double tasks);

// C * (1 - P), from 0 to C.
Time remaining_work(Time assigned, double share);

// n+1-p for positions 1..n.
std::int32_t mirrored(std::int32_t position, std::int32_t count);

// One side of a transfer. `done` are units that it has run since the start.
struct Side {
  double rate = 1;
  Time done = 0;
};
// share_of_receiver is what a victim with `pending` units gives so that both finish together, when each needs
// `post_processing` ns more for every unit that it will have run (the source's C + Ce te - Cr tr). From 0 to pending.
Time share_of_receiver(Time pending, const Side& receiver, const Side& victim, double post_processing);

// StateTable has a row per rank. A row is what its rank announced last; between announcements its
// work is taken to shrink at its rate.
class StateTable {
 public:
  // All ranks present, without work; `speeds` by rank, missing: 1.
  StateTable(std::int32_t ranks, const std::vector<double>& speeds);

  void announced(Rank rank, const MirrorState& state, Time now);
  // The rank refused us: nothing there, or nothing while something still runs here.
  void refused(Rank rank, bool while_idle) {
    if (while_idle) row(rank).assigned = 0;
    row(rank).for_idle = true;
  }
  void left(Rank rank);
  void joined(Rank rank);

  bool known(Rank rank) const { return index(rank) >= 0 && static_cast<std::size_t>(index(rank)) < rows_.size(); }
  bool present(Rank rank) const { return known(rank) && row(rank).present; }
  Time remaining(Rank rank, Time now) const;
  // worth_asking: there is that much work, and it has not been refused to a rank like this.
  bool worth_asking(Rank rank, Time now, Time worth, bool idle) const {
    return (idle || !row(rank).for_idle) && remaining(rank, now) >= worth;
  }
  double rate(Rank rank) const { return row(rank).speed / row(rank).tasks; }

  // by_remaining is the ranks that are present, least work first, ties by rank. `self` counts as
  // empty.
  std::vector<Rank> by_remaining(Rank self, Time now) const;
  // search_order is whom `self` asks when it is dry: the rank in the mirrored position first, then
  // on towards more work, then towards less.
  std::vector<Rank> search_order(Rank self, Time now) const;

 private:
  struct Row {
    double speed = 1;
    double tasks = 1;
    Time assigned = 0;  // units at `since`
    Time since = 0;
    bool present = true;
    bool for_idle = false;  // what it has goes to ranks where nothing runs
  };
  Row& row(Rank r) { return rows_[static_cast<std::size_t>(index(r))]; }
  const Row& row(Rank r) const { return rows_[static_cast<std::size_t>(index(r))]; }

  std::vector<Row> rows_;
};

}  // namespace tessera::balancer
