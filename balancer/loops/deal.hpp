// Dealing the fragments of a loop one after another, before anything is known of their weights:
// pure arithmetic, workers by their position in a list.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace tessera::balancer {

// An order of dealing is a block of worker positions; fragment w goes to order[w mod block].
using DealOrder = std::vector<std::size_t>;

// equal_order is `equal`: fragment w goes to worker w mod B.
inline DealOrder equal_order(std::size_t workers) {
  DealOrder order(workers);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

// deal_ratios is cr of `predictive`: cr_j = round(P_j / P_min), from 1 to kMostPerBlock. The powers
// are positive.
inline constexpr std::int64_t kMostPerBlock = 1000;
inline std::vector<std::int64_t> deal_ratios(const std::vector<double>& powers) {
  std::vector<std::int64_t> ratios;
  if (powers.empty()) return ratios;
  const double least = *std::min_element(powers.begin(), powers.end());
  for (const double p : powers) {
    const double ratio = std::min(p / least, static_cast<double>(kMostPerBlock));
    ratios.push_back(std::max<std::int64_t>(1, std::llround(ratio)));
  }
  return ratios;
}

// predictive_order is the block of `predictive`: rounds over the workers, leaving out those that
// hold their ratio already. Ratios 3 3 2 2 1 1 give m1 m2 m3 m4 m5 m6 m1 m2 m3 m4 m1 m2.
inline DealOrder predictive_order(const std::vector<std::int64_t>& ratios) {
  DealOrder order;
  const std::int64_t rounds = ratios.empty() ? 0 : *std::max_element(ratios.begin(), ratios.end());
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (std::size_t j = 0; j < ratios.size(); ++j) {
      if (ratios[j] > round) order.push_back(j);
    }
  }
  return order;
}

// deal_counts tells how many of the fragments first .. first + n - 1 go to each worker.
inline std::vector<std::int64_t> deal_counts(const DealOrder& order, std::size_t workers, std::int64_t first,
                                             std::int64_t n) {
  std::vector<std::int64_t> counts(workers, 0);
  const auto block = static_cast<std::int64_t>(order.size());
  if (block == 0) return counts;
  const std::int64_t whole = n / block;
  if (whole > 0) {
    for (const std::size_t j : order) counts[j] += whole;
  }
  for (std::int64_t w = first + whole * block; w < first + n; ++w) {
    ++counts[order[static_cast<std::size_t>(w % block)]];
  }
  return counts;
}

}  // namespace tessera::balancer
