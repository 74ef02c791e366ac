// Who sends a large value on. A rank that had all who need it served by itself would have one line for all of
// them: the product of a row and a column is read by every rank. So it sends the value once, and has each
// further rank served by one that came before: the second and third by the first, the fourth and fifth by the
// second, and so on, a binary tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

inline constexpr std::int64_t kRelayed = 65536;  // bytes; for less, asking another rank costs more than it saves

// Of those that have been sent the value before, by number: who sends it to the next one. There is at least one.
inline std::size_t next_giver(std::size_t given) { return (given - 1) / 2; }

// Puts `to` on the list of those that have been sent the value, and says who sends it: `self`, or one on the list.
inline Rank giver(std::vector<Rank>& given, Rank self, Rank to) {
  // Again: what it was to have from another has not come, or is gone.
  if (std::find(given.begin(), given.end(), to) != given.end()) return self;
  given.push_back(to);
  return given.size() == 1 ? self : given[next_giver(given.size() - 1)];
}

}  // namespace tessera::balancer
