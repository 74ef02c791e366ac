#include "balancer/simulator/workloads.hpp"

#include <algorithm>
#include <cmath>

#include "balancer/random.hpp"

namespace tessera::balancer::simulator {
namespace {

constexpr Time kMs = 1'000'000;
constexpr std::int64_t kMB = 1'000'000;

GroupInfo group(std::string label, bool stealable = true) {
  GroupInfo g;
  g.label = std::move(label);
  g.stealable = stealable;
  return g;
}

}  // namespace

Workload matrix_multiplication() {
  Workload w;
  w.groups = {group("init at matmul.fa:10"), group("mul at matmul.fa:24")};
  // Initialisations come in pairs A[i][k], B[k][j]; every second one releases ten products.
  for (int pair = 0; pair < 100; ++pair) {
    w.births.push_back({0, Rank{0}, w.add({Group{0}, 26 * kMs / 10, 0, {}})});
    Fragment second{Group{0}, 26 * kMs / 10, 0, {}};
    for (int k = 0; k < 10; ++k) {
      second.children.push_back(w.add({Group{1}, 60 * kMs, 2 * kMB, {}}));
    }
    w.births.push_back({0, Rank{0}, w.add(std::move(second))});
  }
  return w;
}

Workload row_reduction(std::int32_t rows) {
  Workload w;
  w.groups = {group("pivot at rows.fa:12"), group("reduce at rows.fa:20")};
  // The pivot of a row comes after one of the reductions of the row before.
  std::size_t previous = 0;
  for (std::int32_t i = 0; i < rows; ++i) {
    Fragment pivot{Group{0}, kMs / 2, 24 * kMB / 10, {}};
    std::size_t last = 0;
    for (std::int32_t k = 1; k < rows; ++k) {
      last = w.add({Group{1}, kMs, 24 * kMB / 10, {}});
      pivot.children.push_back(last);
    }
    const std::size_t p = w.add(std::move(pivot));
    if (i == 0) {
      w.births.push_back({0, Rank{0}, p});
    } else {
      w.fragments[previous].children.push_back(p);
    }
    previous = last;
  }
  return w;
}

Workload heap(std::int64_t n, Time weight, std::int64_t bytes) {
  Workload w;
  w.groups = {group("work at heap.fa:3")};
  for (std::int64_t i = 0; i < n; ++i) {
    w.births.push_back({0, Rank{0}, w.add({Group{0}, weight, bytes, {}})});
  }
  return w;
}

Workload bursts(std::int32_t ranks, std::uint64_t seed) {
  Workload w;
  Random random(seed);
  w.groups = {group("light at bursts.fa:3"), group("heavy at bursts.fa:5")};
  for (int burst = 0; burst < 8; ++burst) {
    const Rank rank{static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(ranks)))};
    const Time at = burst * (80 * kMs);
    for (int i = 0; i < 60; ++i) {
      const bool heavy = i % 6 == 0;
      w.births.push_back({at, rank, w.add({Group{heavy ? 1u : 0u}, heavy ? 12 * kMs : 2 * kMs, heavy ? kMB : 0, {}})});
    }
  }
  return w;
}

Workload heavy_tailed(std::int64_t n, std::uint64_t seed) {
  Workload w;
  Random random(seed);
  w.groups = {group("tail at tail.fa:3")};
  for (std::int64_t i = 0; i < n; ++i) {
    // Pareto with shape 1.3, cut at 400 times the least.
    const double x = std::min(400.0, std::pow(1 - random.unit(), -1 / 1.3));
    w.births.push_back({0, Rank{0}, w.add({Group{0}, static_cast<Time>(x * 1e6), 1000, {}})});
  }
  return w;
}

Workload spawning(std::int64_t n, std::uint64_t seed) {
  Workload w;
  Random random(seed);
  w.groups = {group("node at tree.fa:3"), group("leaf at tree.fa:9")};
  w.births.push_back({0, Rank{0}, w.add({Group{0}, 2 * kMs, 0, {}})});
  for (std::size_t parent = 0; static_cast<std::int64_t>(w.fragments.size()) < n; ++parent) {
    const std::uint64_t children = parent < 4 ? 3 : 1 + random.below(3);
    for (std::uint64_t c = 0; c < children; ++c) {
      const bool leaf = random.below(2) == 0;
      const std::size_t child =
          w.add({Group{leaf ? 1u : 0u}, static_cast<Time>((1 + random.below(8)) * 1'000'000), 10'000, {}});
      w.fragments[parent].children.push_back(child);
    }
  }
  return w;
}

Workload ranges(std::int64_t n, Time weight) {
  Workload w;
  w.groups = {group("for i at loop.fa:3"), group("body at loop.fa:4")};
  w.groups[0].range = true;
  w.groups[0].body = {Group{1}};
  for (std::int64_t i = 0; i < n; ++i) {
    Fragment iteration{Group{0}, 1000, 0, {}};
    iteration.children.push_back(w.add({Group{1}, weight, 0, {}}));
    w.births.push_back({0, Rank{0}, w.add(std::move(iteration))});
  }
  return w;
}

}  // namespace tessera::balancer::simulator
