// The arithmetic of `proportional`: how many units of an iteration each worker gets. Times are in
// seconds here, rates in units per second.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::balancer {

// UnitCost is what one unit costs one worker, as far as it is known before any measurement.
struct UnitCost {
  double work = 0;  // mi / mips * f: seconds of execution there, others' tasks counted
  double wire = 0;  // bytes_per_unit / B
  double each() const { return work + wire; }
};

// reference_time is T: the modelled time of a worker with an equal share of the iteration.
inline double reference_time(std::int64_t units, std::size_t workers, const UnitCost& cost, double latency) {
  if (workers == 0) return 0;
  return 2 * latency + static_cast<double>(units) / static_cast<double>(workers) * cost.each();
}

// modelled_units is n(p) of a worker without history: what it does in T. Never negative (a link
// may take longer than T); 0 where a unit costs nothing that is known.
inline double modelled_units(double reference, double latency, const UnitCost& cost) {
  if (cost.each() <= 0) return 0;
  return std::max(0.0, (reference - 2 * latency) / cost.each());
}

// Measured is one worker's part of an iteration.
struct Measured {
  std::int64_t units = 0;
  double time = 0;
  double rate() const { return time > 0 ? static_cast<double>(units) / time : 0; }
};

// mean_time leaves out workers that had no units.
inline double mean_time(const std::vector<Measured>& parts) {
  double sum = 0;
  std::int64_t workers = 0;
  for (const Measured& m : parts) {
    if (m.units == 0) continue;
    sum += m.time;
    ++workers;
  }
  return workers == 0 ? 0 : sum / static_cast<double>(workers);
}

// balanced: every |time - mean| is within `percent` of the mean; workers without units don't count.
inline bool balanced(const std::vector<Measured>& parts, double percent) {
  const double mean = mean_time(parts);
  return std::all_of(parts.begin(), parts.end(), [&](const Measured& m) {
    return m.units == 0 || std::abs(m.time - mean) <= percent / 100 * mean;
  });
}

// apportion scales the proportions to whole numbers of the given sum: each rounded down, then one
// more for the largest remainders (ties: first). Negative proportions count as 0; all 0: equal.
inline std::vector<std::int64_t> apportion(std::vector<double> n, std::int64_t units) {
  std::vector<std::int64_t> shares(n.size(), 0);
  if (n.empty()) return shares;
  double sum = 0;
  for (double& x : n) {
    x = x > 0 ? x : 0;
    sum += x;
  }
  if (sum <= 0) {
    n.assign(n.size(), 1.0);
    sum = static_cast<double>(n.size());
  }
  struct Remainder {
    double part;
    std::size_t worker;
  };
  std::vector<Remainder> remainders;
  std::int64_t left = units;
  for (std::size_t i = 0; i < n.size(); ++i) {
    const double exact = n[i] / sum * static_cast<double>(units);
    // A share that is whole but for the error of the division is whole.
    shares[i] = std::min(left, static_cast<std::int64_t>(std::floor(exact + 1e-9)));
    left -= shares[i];
    if (n[i] > 0) remainders.push_back({exact - static_cast<double>(shares[i]), i});
  }
  std::stable_sort(remainders.begin(), remainders.end(),
                   [](const Remainder& a, const Remainder& b) { return a.part > b.part; });
  for (std::size_t i = 0; left > 0; i = (i + 1) % remainders.size(), --left) {
    ++shares[remainders[i].worker];
  }
  return shares;
}

// patience is how long a master waits for a share, in seconds: the transfers, the service, and
// five retries of two latencies each.
inline double patience(double latency, double wire, double service) {
  constexpr int kRetries = 5;
  return 2 * latency + wire + service + kRetries * 2 * latency;
}

}  // namespace tessera::balancer
