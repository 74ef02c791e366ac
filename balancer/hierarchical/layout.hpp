// Who coordinates whom in `hierarchical`.
#pragma once

#include "balancer/central/cluster_view.hpp"

namespace tessera::balancer {

// Layout divides the ranks: workers 0 .. W-1 in groups of neighbours that differ in size by one at
// most, a leaf coordinator for each group, and one root above the leaves.
//
//   dedicated, 11 ranks, groups of 4:   0 1 2 3 | 4 5 6 7 | 8 leaf of 0-3 | 9 leaf of 4-7 | 10 root
//   colocated:                          the last worker of a group is its leaf, the last rank root
//
// With one group there is no root, and the leaf is what `central`'s coordinator is.
struct Layout {
  std::int32_t ranks = 1;
  std::int32_t workers = 0;
  std::int32_t groups = 0;
  bool colocated = false;

  // `group_size` is the most workers a group may have; 0: chosen by the number of ranks.
  static Layout of(std::int32_t ranks, std::int32_t group_size, bool colocated);

  bool has_root() const { return groups > 1; }
  Rank root() const { return Rank{ranks - 1}; }
  Members members(std::int32_t group) const;
  Rank leaf(std::int32_t group) const;
  std::int32_t group_of(Rank worker) const;
  // The group whose leaf this rank is; -1: none.
  std::int32_t group_led_by(Rank) const;
  bool works(Rank r) const { return index(r) < workers; }
};

}  // namespace tessera::balancer
