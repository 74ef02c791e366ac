// Who asks whom: the one difference between `auction`, `torus` and `tree`.
#pragma once

#include <cstdint>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

enum class Shape : std::uint8_t { everyone, torus, tree };

// Grid has rows <= cols, rows * cols ranks, counted along the rows.
struct Grid {
  std::int32_t rows;
  std::int32_t cols;
  friend bool operator==(const Grid&, const Grid&) = default;
};

// most_square is the factorisation of `ranks` > 0 with the smallest difference of its sides. A
// prime count gives one row: a ring.
Grid most_square(std::int32_t ranks);

// neighbours of the rank at `position` of `count`: positions in ascending order, each once, never
// itself. The relation is symmetric.
//   torus: left, right, up and down in most_square(count), wrapped both ways; where a side is
//          below 3 some of them coincide, and there are fewer.
//   tree:  heap order, parent (i-1)/2 and children 2i+1, 2i+2.
std::vector<std::int32_t> neighbours(Shape shape, std::int32_t position, std::int32_t count);

// neighbours_among applies the shape to the ranks that are present (by rank), in their order, so
// that a rank that left leaves no hole in the torus and does not cut the tree in two. Empty when
// `self` is not present.
std::vector<Rank> neighbours_among(Shape shape, Rank self, const std::vector<bool>& present);

}  // namespace tessera::balancer
