#include "balancer/central/plan_lpt.hpp"

#include <algorithm>
#include <map>
#include <queue>

namespace tessera::balancer {
namespace {

// Finish of every worker when everything movable were gone.
std::vector<double> bases(const std::vector<Load>& loads) {
  std::vector<double> base(loads.size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    double fixed = 0;
    for (const GroupWork& g : loads[i].groups) {
      if (!g.movable) fixed += static_cast<double>(g.count) * static_cast<double>(g.weight);
    }
    base[i] = static_cast<double>(loads[i].busy) + fixed / loads[i].capacity;
  }
  return base;
}

// water_level pours `work` over workers that finish at `finish`: all that end up wet end up equal.
double water_level(const std::vector<Load>& loads, const std::vector<double>& finish,
                   const std::vector<std::size_t>& workers, double work) {
  std::vector<std::size_t> order = workers;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return finish[a] < finish[b]; });
  double capacity = 0, weighted = 0, level = 0;
  for (const std::size_t i : order) {
    if (capacity > 0 && finish[i] >= level) break;
    capacity += loads[i].capacity;
    weighted += finish[i] * loads[i].capacity;
    level = (work + weighted) / capacity;
  }
  return level;
}

std::vector<std::size_t> receivers_of(const std::vector<Load>& loads) {
  std::vector<std::size_t> receivers;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (loads[i].receives) receivers.push_back(i);
  }
  return receivers;
}

// Fragments of one weight, wherever they are.
struct Class {
  std::vector<std::pair<std::size_t, const GroupWork*>> where;  // by worker
  std::int64_t count = 0;
};

// deal gives the class's fragments out; returns how many each worker gets. Greedy on equal weights
// is: everybody up to the water level, the rest one by one.
std::vector<std::int64_t> deal(const std::vector<Load>& loads, double weight, std::int64_t count,
                               const std::vector<std::size_t>& receivers, std::vector<double>& finish) {
  std::vector<std::int64_t> dealt(loads.size(), 0);
  const double level = water_level(loads, finish, receivers, weight * static_cast<double>(count));
  for (const std::size_t i : receivers) {
    const double room = (level - finish[i]) * loads[i].capacity / weight;
    const auto n = std::min(count, static_cast<std::int64_t>(std::max(0.0, room)));
    dealt[i] = n;
    count -= n;
    finish[i] += static_cast<double>(n) * weight / loads[i].capacity;
  }
  using Place = std::pair<double, std::size_t>;  // finish with one more, worker
  std::priority_queue<Place, std::vector<Place>, std::greater<>> next;
  for (const std::size_t i : receivers) next.emplace(finish[i] + weight / loads[i].capacity, i);
  for (; count > 0; --count) {
    const auto [after, i] = next.top();
    next.pop();
    ++dealt[i];
    finish[i] = after;
    next.emplace(after + weight / loads[i].capacity, i);
  }
  return dealt;
}

}  // namespace

LowerBound lower_bound(const std::vector<Load>& loads) {
  std::vector<double> finish;
  return lower_bound(loads, finish);
}

LowerBound lower_bound(const std::vector<Load>& loads, std::vector<double>& finish) {
  LowerBound bound;
  const std::vector<std::size_t> receivers = receivers_of(loads);
  bound.receivers = receivers.size();
  std::vector<double> base(loads.size());
  finish.resize(loads.size());
  double all_movable = 0, fastest = 0;
  Time heaviest = 0;
  std::int64_t fragments = 0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (loads[i].receives) fastest = std::max(fastest, loads[i].capacity);
    double fixed = 0, movable = 0;
    for (const GroupWork& g : loads[i].groups) {
      const double work = static_cast<double>(g.count) * static_cast<double>(g.weight);
      (g.movable ? movable : fixed) += work;
      if (g.movable) fragments += g.count;
      if (g.movable && g.count > 0) heaviest = std::max(heaviest, g.weight);
    }
    all_movable += movable;
    base[i] = static_cast<double>(loads[i].busy) + fixed / loads[i].capacity;
    finish[i] = static_cast<double>(loads[i].busy) + (fixed + movable) / loads[i].capacity;
    bound.finish = std::max(bound.finish, base[i]);
  }
  if (receivers.empty()) return bound;
  bound.level = water_level(loads, base, receivers, all_movable);
  if (fragments > 0) bound.fragment = all_movable / static_cast<double>(fragments) / fastest;
  bound.ceiling = std::max(bound.level, static_cast<double>(heaviest) / fastest);
  bound.finish = std::max(bound.finish, bound.ceiling);
  return bound;
}

Plan plan_lpt(const std::vector<Load>& loads) {
  const std::vector<std::size_t> receivers = receivers_of(loads);
  if (receivers.empty()) return {};
  std::map<Time, Class, std::greater<>> classes;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    for (const GroupWork& g : loads[i].groups) {
      if (!g.movable || g.count <= 0) continue;
      Class& c = classes[g.weight];
      c.where.emplace_back(i, &g);
      c.count += g.count;
    }
  }
  std::vector<double> finish = bases(loads);
  std::map<std::pair<std::size_t, std::size_t>, std::vector<GroupCount>> moves;
  for (const auto& [weight, c] : classes) {
    std::vector<std::int64_t> lacking = deal(loads, static_cast<double>(weight), c.count, receivers, finish);
    // What a worker was dealt it takes from its own first; only the surplus travels.
    std::vector<std::int64_t> surplus;
    for (const auto& [i, g] : c.where) {
      const std::int64_t kept = std::min(g->count, lacking[i]);
      lacking[i] -= kept;
      surplus.push_back(g->count - kept);
    }
    std::size_t to = 0;
    for (std::size_t k = 0; k < c.where.size(); ++k) {
      while (surplus[k] > 0) {
        while (lacking[to] == 0) ++to;
        const std::int64_t n = std::min(surplus[k], lacking[to]);
        surplus[k] -= n;
        lacking[to] -= n;
        moves[{c.where[k].first, to}].push_back({c.where[k].second->group, n});
      }
    }
  }
  Plan plan;
  for (auto& [pair, fragments] : moves) plan.push_back({pair.first, pair.second, std::move(fragments)});
  return plan;
}

}  // namespace tessera::balancer
