#include "balancer/auction/neighbourhood.hpp"

#include <algorithm>

namespace tessera::balancer {

Grid most_square(std::int32_t ranks) {
  std::int32_t rows = 1;
  for (std::int32_t d = 2; static_cast<std::int64_t>(d) * d <= ranks; ++d) {
    if (ranks % d == 0) rows = d;
  }
  return {rows, ranks / rows};
}

std::vector<std::int32_t> neighbours(Shape shape, std::int32_t position, std::int32_t count) {
  std::vector<std::int32_t> all;
  if (shape == Shape::everyone) {
    for (std::int32_t i = 0; i < count; ++i) all.push_back(i);
  } else if (shape == Shape::tree) {
    all = {(position - 1) / 2, 2 * position + 1, 2 * position + 2};
  } else {
    const auto [rows, cols] = most_square(count);
    const std::int32_t row = position / cols, col = position % cols;
    all = {(row + rows - 1) % rows * cols + col, (row + 1) % rows * cols + col, row * cols + (col + cols - 1) % cols,
           row * cols + (col + 1) % cols};
  }
  std::erase_if(all, [&](std::int32_t i) { return i == position || i >= count; });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<Rank> neighbours_among(Shape shape, Rank self, const std::vector<bool>& present) {
  std::vector<Rank> ranks;
  std::int32_t position = -1;
  for (std::size_t r = 0; r < present.size(); ++r) {
    if (!present[r]) continue;
    const Rank rank{static_cast<std::int32_t>(r)};
    if (rank == self) position = static_cast<std::int32_t>(ranks.size());
    ranks.push_back(rank);
  }
  std::vector<Rank> found;
  if (position < 0) return found;
  for (const std::int32_t i : neighbours(shape, position, static_cast<std::int32_t>(ranks.size()))) {
    found.push_back(ranks[static_cast<std::size_t>(i)]);
  }
  return found;
}

}  // namespace tessera::balancer
