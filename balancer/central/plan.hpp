// Plans of the central balancer: free functions over plain data. Load per worker in, moves out.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

// GroupWork is the ready fragments of one group on one worker.
struct GroupWork {
  Group group;
  std::int64_t count;
  Time weight;             // of one, ns, > 0
  std::int64_t bytes = 0;  // input bytes that travel with one
  bool movable = true;
  std::int64_t outputs = 0;  // of `bytes`: what one produces, and may send back
  friend bool operator==(const GroupWork&, const GroupWork&) = default;
};

// Load is one worker rank as the coordinator sees it.
struct Load {
  std::vector<GroupWork> groups;
  Time busy = 0;         // until what runs now is done, and what is on its way to it has run
  double capacity = 1;   // threads times relative speed, > 0: work / capacity = time
  bool receives = true;  // false: it is leaving, or not a worker

  // The entry of a group; null when there is none. Quick where groups stand at their own number.
  const GroupWork* find(Group g) const {
    if (index(g) < groups.size() && groups[index(g)].group == g) return &groups[index(g)];
    for (const GroupWork& w : groups) {
      if (w.group == g) return &w;
    }
    return nullptr;
  }
  GroupWork* find(Group g) { return const_cast<GroupWork*>(std::as_const(*this).find(g)); }

  double work() const {  // sum of the weights, ns
    double sum = 0;
    for (const GroupWork& g : groups) {
      sum += static_cast<double>(g.count) * static_cast<double>(g.weight);
    }
    return sum;
  }
  // finish is when the worker runs dry, in ns from now.
  double finish() const { return static_cast<double>(busy) + work() / capacity; }
};

// Move is one message: from where, to where, how many of which groups. From and to are indices of
// the vector of loads.
struct Move {
  std::size_t from;
  std::size_t to;
  std::vector<GroupCount> fragments;
  friend bool operator==(const Move&, const Move&) = default;
};
using Plan = std::vector<Move>;

// PlanCosts is what a planner needs to know of moving. A free move by default, as in the source's
// planner, whose transfer check comes after the plan.
struct PlanCosts {
  // ns until a fragment with inputs of `bytes`, ordered now, is at `to`; null: nothing. A receiver
  // runs what arrives while the rest of a message is still under way.
  std::function<Time(std::size_t from, std::size_t to, std::int64_t bytes)> transfer;
  Time min_gain = 0;  // a message must shorten the later of two finishing times by more than this
};

// plan_mean is the source's planner: the most loaded worker gives to the least loaded, heaviest
// group first while the receiver stays at or below the mean of all loads; then the next receiver;
// it stops when a receiver can be given nothing.
Plan plan_mean(const std::vector<Load>&);

// plan_makespan minimises the largest finishing time, and moves few fragments for it (plan_pack.hpp). Its result is
// never later than plan_mean's or than moving nothing and, on workers that start free with nothing to pay for moves,
// within LPT's bound 4/3 - 1/(3m) of the optimum. A worker that receives may give as well: to make room. Costs some
// microseconds per worker.
Plan plan_makespan(const std::vector<Load>&, const PlanCosts& = {});

// makespan is the largest finishing time after the plan; `costs` delays what is moved.
double makespan(const std::vector<Load>&, const Plan&, const PlanCosts& = {});
// The same for callers that know Load::finish of each already.
double makespan(const std::vector<Load>&, std::vector<double> finish, const Plan&, const PlanCosts&);
std::vector<double> finish_times(const std::vector<Load>&);
// loads_after returns the loads after the plan.
std::vector<Load> loads_after(std::vector<Load>, const Plan&);

}  // namespace tessera::balancer
