#include "balancer/central/plan.hpp"

#include <algorithm>

namespace tessera::balancer {
namespace {

GroupWork* find(Load& load, Group g) {
  for (GroupWork& w : load.groups) {
    if (w.group == g) return &w;
  }
  return nullptr;
}

}  // namespace

std::vector<Load> loads_after(std::vector<Load> loads, const Plan& plan) {
  for (const Move& move : plan) {
    for (const GroupCount& f : move.fragments) {
      GroupWork* source = find(loads[move.from], f.group);
      if (source == nullptr) continue;
      source->count -= f.count;
      GroupWork moved = *source;
      if (GroupWork* target = find(loads[move.to], f.group)) {
        // One weight per group and worker is all a Load can say: keep the total right.
        const double total =
            static_cast<double>(target->count) * static_cast<double>(target->weight) +
            static_cast<double>(f.count) * static_cast<double>(moved.weight);
        target->count += f.count;
        target->weight = static_cast<Time>(total / static_cast<double>(target->count));
      } else {
        moved.count = f.count;
        loads[move.to].groups.push_back(moved);
      }
    }
  }
  return loads;
}

double makespan(const std::vector<Load>& loads, const Plan& plan, const PlanCosts& costs) {
  std::vector<double> work(loads.size());
  std::vector<double> start(loads.size());  // of the own queue, pushed back by waiting for arrivals
  for (std::size_t i = 0; i < loads.size(); ++i) {
    work[i] = loads[i].work();
    start[i] = static_cast<double>(loads[i].busy);
  }
  for (const Move& move : plan) {
    double moved = 0;
    std::int64_t bytes = 0;  // of the first to arrive: the others come while it runs
    for (const GroupCount& f : move.fragments) {
      for (const GroupWork& w : loads[move.from].groups) {
        if (w.group != f.group) continue;
        moved += static_cast<double>(f.count) * static_cast<double>(w.weight);
        bytes = std::max(bytes, w.bytes);
      }
    }
    work[move.from] -= moved;
    const double ready = start[move.to] + work[move.to] / loads[move.to].capacity;
    if (costs.transfer) {
      const auto arrival = static_cast<double>(costs.transfer(move.from, move.to, bytes));
      if (arrival > ready) start[move.to] += arrival - ready;
    }
    work[move.to] += moved;
  }
  double last = 0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    last = std::max(last, start[i] + work[i] / loads[i].capacity);
  }
  return last;
}

}  // namespace tessera::balancer
