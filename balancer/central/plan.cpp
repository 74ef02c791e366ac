#include "balancer/central/plan.hpp"

#include <algorithm>

namespace tessera::balancer {
std::vector<Load> loads_after(std::vector<Load> loads, const Plan& plan) {
  for (const Move& move : plan) {
    for (const GroupCount& f : move.fragments) {
      GroupWork* source = loads[move.from].find(f.group);
      if (source == nullptr) continue;
      source->count -= f.count;
      GroupWork moved = *source;
      if (GroupWork* target = loads[move.to].find(f.group)) {
        // One weight per group and worker is all a Load can say: keep the total right.
        const double total = static_cast<double>(target->count) * static_cast<double>(target->weight) +
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

std::vector<double> finish_times(const std::vector<Load>& loads) {
  std::vector<double> finish;
  finish.reserve(loads.size());
  for (const Load& l : loads) finish.push_back(l.finish());
  return finish;
}

double makespan(const std::vector<Load>& loads, const Plan& plan, const PlanCosts& costs) {
  return makespan(loads, finish_times(loads), plan, costs);
}

double makespan(const std::vector<Load>& loads, std::vector<double> finish, const Plan& plan, const PlanCosts& costs) {
  for (const Move& move : plan) {
    double moved = 0;
    std::int64_t bytes = 0;  // of the first to arrive: the others come while it runs
    for (const GroupCount& f : move.fragments) {
      const GroupWork* w = loads[move.from].find(f.group);
      if (w == nullptr) continue;
      moved += static_cast<double>(f.count) * static_cast<double>(w->weight);
      bytes = std::max(bytes, w->bytes);
    }
    finish[move.from] -= moved / loads[move.from].capacity;
    if (costs.transfer) {
      const auto arrival = static_cast<double>(costs.transfer(move.from, move.to, bytes));
      finish[move.to] = std::max(finish[move.to], arrival);
    }
    finish[move.to] += moved / loads[move.to].capacity;
  }
  return finish.empty() ? 0 : *std::max_element(finish.begin(), finish.end());
}

}  // namespace tessera::balancer
