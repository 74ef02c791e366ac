// What the planners share: queues of movable fragments, heaviest first.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "balancer/central/plan.hpp"

namespace tessera::balancer {

// Queues holds, per worker, its movable fragments in the order to give them away: heaviest group
// first, then by number. A queue is made when first asked for: few workers of many give.
class Queues {
 public:
  struct Item {
    const GroupWork* work;
    double weight;
    std::int64_t left;  // of work->count
    Group group() const { return work->group; }
    std::int64_t bytes() const { return work->bytes; }
  };

  explicit Queues(const std::vector<Load>& loads) : loads_(loads), ranges_(loads.size()) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < loads.size(); ++i) {
      ranges_[i].begin = begin;
      begin += loads[i].groups.size();
    }
    items_ = std::make_unique_for_overwrite<Item[]>(begin);
  }

  // of returns what is left of a worker's queue: what was given away in front is not shown again.
  std::span<Item> of(std::size_t worker) {
    Range& range = ranges_[worker];
    if (!range.made) make(worker, range);
    while (range.gone < range.size && items_[range.begin + range.gone].left <= 0) ++range.gone;
    return {items_.get() + range.begin + range.gone, range.size - range.gone};
  }
  // refill makes everything movable again, for the next planner.
  void refill() {
    for (Range& range : ranges_) {
      range.gone = 0;
      for (std::size_t i = 0; i < range.size; ++i) {
        Item& item = items_[range.begin + i];
        item.left = item.work->count;
      }
    }
  }

 private:
  struct Range {
    std::size_t begin = 0;
    std::uint32_t size = 0;
    std::uint32_t gone = 0;  // in front, with nothing left
    bool made = false;
  };

  void make(std::size_t worker, Range& range) {
    const std::vector<GroupWork>& groups = loads_[worker].groups;
    sort_groups(groups);
    range.made = true;
    for (const std::uint32_t at : order_) {
      const GroupWork& g = groups[at];
      if (!g.movable || g.count <= 0) continue;
      items_[range.begin + range.size++] = {&g, static_cast<double>(std::max<Time>(g.weight, 1)), g.count};
    }
  }
  // Workers mostly have the same groups with the same weights: the order of the last one sorted is
  // tried first, and mostly right.
  void sort_groups(const std::vector<GroupWork>& groups) {
    if (order_.size() != groups.size()) {
      order_.resize(groups.size());
      std::iota(order_.begin(), order_.end(), 0u);
    }
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      return groups[a].weight != groups[b].weight ? groups[a].weight > groups[b].weight
                                                  : groups[a].group < groups[b].group;
    };
    if (!std::is_sorted(order_.begin(), order_.end(), before)) {
      std::sort(order_.begin(), order_.end(), before);
    }
  }

  const std::vector<Load>& loads_;
  std::vector<Range> ranges_;
  std::unique_ptr<Item[]> items_;     // of all workers, each at its range
  std::vector<std::uint32_t> order_;  // positions in Load::groups, of the last queue made
};

// plan_mean for who has the finishing times and the queues (full) already.
Plan plan_mean(const std::vector<Load>&, std::vector<double> finish, Queues&);

}  // namespace tessera::balancer
