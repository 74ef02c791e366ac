// What the planners share: queues of movable fragments, heaviest first.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "balancer/central/plan.hpp"

namespace tessera::balancer {

// Queues holds, per worker, its movable fragments in the order to give them away: heaviest group
// first, then by number. A queue is made when first asked for: few workers of many give.
class Queues {
 public:
  struct Item {
    Group group;
    double weight;
    std::int64_t bytes;
    std::int64_t count;
    std::int64_t left;  // of count
  };

  explicit Queues(const std::vector<Load>& loads) : loads_(loads), queues_(loads.size()) {}

  std::vector<Item>& of(std::size_t worker) {
    std::optional<std::vector<Item>>& queue = queues_[worker];
    if (queue) return *queue;
    queue.emplace().reserve(loads_[worker].groups.size());
    for (const GroupWork& g : loads_[worker].groups) {
      if (!g.movable || g.count <= 0) continue;
      queue->push_back({g.group, static_cast<double>(g.weight), g.bytes, g.count, g.count});
    }
    const auto before = [](const Item& a, const Item& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.group < b.group;
    };
    if (!std::is_sorted(queue->begin(), queue->end(), before)) {
      std::sort(queue->begin(), queue->end(), before);
    }
    return *queue;
  }
  // refill makes everything movable again, for the next planner.
  void refill() {
    for (auto& queue : queues_) {
      if (!queue) continue;
      for (Item& item : *queue) item.left = item.count;
    }
  }

 private:
  const std::vector<Load>& loads_;
  std::vector<std::optional<std::vector<Item>>> queues_;
};

// plan_mean for who has the finishing times and the queues (full) already.
Plan plan_mean(const std::vector<Load>&, std::vector<double> finish, Queues&);

}  // namespace tessera::balancer
