#include "balancer/hierarchical/layout.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::balancer {
namespace {

// A coordinator keeps up with this many workers at fragments of some milliseconds; with more than
// kGroup^2 workers the groups grow with the number of groups.
constexpr std::int32_t kGroup = 256;

std::int64_t first_of(const Layout& l, std::int64_t group) { return group * l.workers / l.groups; }

}  // namespace

Layout Layout::of(std::int32_t ranks, std::int32_t group_size, bool colocated) {
  Layout l;
  l.ranks = ranks;
  l.colocated = colocated;
  const std::int32_t size =
      group_size > 0 ? group_size : std::max(kGroup, static_cast<std::int32_t>(std::ceil(std::sqrt(ranks))));
  if (colocated) {
    l.workers = ranks;
    l.groups = std::max(1, (ranks + size - 1) / size);
    return l;
  }
  l.groups = 1;
  l.workers = ranks - 1;
  if (l.workers <= size) return l;
  // Each group has its leaf, and one rank is the root: ranks = workers + groups + 1. Not more
  // groups than leave every one a worker.
  l.groups = std::clamp((ranks - 1 + size) / (size + 1), 2, std::max(2, (ranks - 1) / 2));
  l.workers = ranks - 1 - l.groups;
  if (l.workers < l.groups) {
    l.groups = 1;
    l.workers = ranks - 1;
  }
  return l;
}

Members Layout::members(std::int32_t group) const {
  const std::int64_t first = first_of(*this, group);
  return {Rank{static_cast<std::int32_t>(first)}, static_cast<std::int32_t>(first_of(*this, group + 1) - first)};
}

Rank Layout::leaf(std::int32_t group) const {
  if (!colocated) return Rank{groups == 1 ? ranks - 1 : workers + group};
  const Members m = members(group);
  return m.rank(static_cast<std::size_t>(m.count - 1));
}

std::int32_t Layout::group_of(Rank worker) const {
  auto group = static_cast<std::int32_t>(static_cast<std::int64_t>(index(worker)) * groups / std::max(1, workers));
  while (group + 1 < groups && first_of(*this, group + 1) <= index(worker)) ++group;
  while (group > 0 && first_of(*this, group) > index(worker)) --group;
  return group;
}

std::int32_t Layout::group_led_by(Rank r) const {
  if (colocated) return leaf(group_of(r)) == r ? group_of(r) : -1;
  if (groups == 1) return index(r) == ranks - 1 ? 0 : -1;
  const std::int32_t group = index(r) - workers;
  return group >= 0 && group < groups ? group : -1;
}

}  // namespace tessera::balancer
