// The source's planner. Golden example (policies.md): loads 50/20/20/10 become 32/24/20/24.
#include <algorithm>
#include <queue>

#include "balancer/central/plan_queue.hpp"

namespace tessera::balancer {

Plan plan_mean(const std::vector<Load>& loads) {
  Queues queues(loads);
  return plan_mean(loads, finish_times(loads), queues);
}

Plan plan_mean(const std::vector<Load>& loads, std::vector<double> finish, Queues& queues) {
  double work = 0, capacity = 0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (!loads[i].receives) continue;
    work += finish[i] * loads[i].capacity;
    capacity += loads[i].capacity;
  }
  if (capacity <= 0) return {};
  const double mean = work / capacity;

  // Every receiver is served once, least loaded first; the giver is whoever is most loaded then.
  // Ties go to the lower rank.
  std::vector<std::size_t> receivers;
  std::priority_queue<std::pair<double, std::ptrdiff_t>> givers;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (loads[i].receives && finish[i] < mean) receivers.push_back(i);
    givers.emplace(finish[i], -static_cast<std::ptrdiff_t>(i));
  }
  std::stable_sort(receivers.begin(), receivers.end(),
                   [&](std::size_t a, std::size_t b) { return finish[a] < finish[b]; });

  Plan plan;
  for (const std::size_t to : receivers) {
    const auto from = static_cast<std::size_t>(-givers.top().second);
    if (from == to || finish[from] <= mean) break;
    givers.pop();
    Move move{from, to, {}};
    const auto queue = queues.of(from);
    for (Queues::Item& g : queue) {
      const double room = (mean - finish[to]) * loads[to].capacity + 1e-6 * mean;
      if (room < queue.back().weight) break;  // the lightest
      const auto fits = static_cast<std::int64_t>(room / g.weight);
      const std::int64_t n = std::min(fits, g.left);
      if (n <= 0) continue;
      const double weight = static_cast<double>(n) * g.weight;
      g.left -= n;
      finish[to] += weight / loads[to].capacity;
      finish[from] -= weight / loads[from].capacity;
      move.fragments.push_back({g.group(), n});
    }
    givers.emplace(finish[from], -static_cast<std::ptrdiff_t>(from));
    if (move.fragments.empty()) break;  // "stop when nothing fits"
    plan.push_back(std::move(move));
  }
  return plan;
}

}  // namespace tessera::balancer
