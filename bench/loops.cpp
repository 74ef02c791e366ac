// bench_loops: the loop policies on the shapes of their sources, simulated. Prints the tables of
// `bench/run loops`.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>
#include <vector>

#include "balancer/simulator/cluster.hpp"

using namespace tessera::balancer;
using namespace tessera::balancer::simulator;

namespace {

constexpr Time kNodeCost = 50;  // ns per queen placed, on the fastest worker

// Queens placed below a position: columns and diagonals taken, as bits.
std::int64_t queens_below(std::uint32_t all, std::uint32_t columns, std::uint32_t left, std::uint32_t right) {
  std::int64_t placed = 0;
  for (std::uint32_t free = all & ~(columns | left | right); free != 0; free &= free - 1) {
    const std::uint32_t queen = free & -free;
    placed += 1 + queens_below(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
  }
  return placed;
}

// The loop of the source: one fragment for each way to place queens in the first three rows.
Workload queens(int n) {
  Workload w;
  w.groups.resize(1);
  w.groups[0].label = "place at queens.fa:9";
  const std::uint32_t all = (1u << n) - 1;
  const auto rows = [&](const auto& self, int row, std::uint32_t columns, std::uint32_t left,
                        std::uint32_t right) -> void {
    if (row == 3) {
      const Time weight = kNodeCost * (1 + queens_below(all, columns, left, right));
      w.births.push_back({0, Rank{0}, w.add({Group{0}, weight, 100})});
      return;
    }
    for (std::uint32_t free = all & ~(columns | left | right); free != 0; free &= free - 1) {
      const std::uint32_t queen = free & -free;
      self(self, row + 1, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
  };
  rows(rows, 0, 0, 0, 0);
  return w;
}

// 24 workers in three clusters of relative powers 3, 2 and 1: the optimum is 16.
Options multicluster() {
  Options o;
  o.ranks = 24;
  for (const double power : {3, 2, 1}) o.speeds.insert(o.speeds.end(), 8, power / 3);
  o.latency = 100'000;
  o.bandwidth = 1e8;
  return o;
}

struct Row {
  std::string name, balancer;
  Settings settings;
  std::string published_speed_up, published_imbalance;
};

void loops(const std::vector<int>& sizes) {
  const std::vector<Row> rows = {
      {"equal", "equal", {}, "8.1-9.8", "88-130 %"},
      {"equal, 100 pieces", "equal", {{"pieces", "100"}}, "", ""},
      {"predictive", "predictive", {}, "12.8-14.3", "23-58 %"},
      {"predictive, 100 pieces", "predictive", {{"pieces", "100"}}, "", ""},
      {"demand, Li 0", "demand", {{"first_percent", "0"}}, "14.8-15.7", "5-11 %"},
      {"demand, Li 12", "demand", {}, "14.8-15.7", "5-11 %"},
      {"demand, Li 25", "demand", {{"first_percent", "25"}}, "14.8-15.7", "5-11 %"},
      {"demand, Li 75", "demand", {{"first_percent", "75"}}, "12.2-13.9", ""},
      {"demand, Li 100", "demand", {{"first_percent", "100"}}, "", ""},
      {"demand, Li 12, powers not known", "demand", {{"powers", "1"}}, "", ""},
      {"demand, Li 75, powers not known", "demand", {{"first_percent", "75"}, {"powers", "1"}}, "", ""},
      {"steal (ours)", "steal", {}, "", ""},
      {"central (ours, 23 execute)", "central", {}, "", ""},
  };
  std::printf("| policy |");
  for (const int n : sizes) std::printf(" N=%d |", n);
  std::printf(" published, N=17-21 |\n|---|");
  for (std::size_t i = 0; i <= sizes.size(); ++i) std::printf("---|");
  std::printf("\n");
  std::vector<Workload> loops;
  for (const int n : sizes) loops.push_back(queens(n));
  for (const Row& row : rows) {
    std::printf("| %s |", row.name.c_str());
    for (const Workload& w : loops) {
      Options o = multicluster();
      o.balancer = row.balancer;
      o.settings = row.settings;
      const Outcome out = simulate(w, o);
      // The fastest worker alone has power 1.
      std::printf(" %.2f, %.0f %% |", static_cast<double>(w.work()) / static_cast<double>(out.finished),
                  100 * out.imbalance());
    }
    std::printf(" %s%s%s |\n", row.published_speed_up.c_str(), row.published_imbalance.empty() ? "" : ", ",
                row.published_imbalance.c_str());
  }
  std::printf("\nFragments:");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::printf(" N=%d %zu of %.2f ms on average;", sizes[i], loops[i].fragments.size(),
                static_cast<double>(loops[i].work()) / 1e6 / static_cast<double>(loops[i].fragments.size()));
  }
  std::printf(" %lld ns a queen.\n", static_cast<long long>(kNodeCost));
}

// An iterative program: 400 fragments, then one that waits for all of them and starts the next
// iteration. Group 1 has the ends of iterations, which stay where they are.
constexpr int kIterations = 20;
Workload iterative(int iterations) {
  constexpr std::int64_t kUnits = 400, kBytes = 10'000;
  constexpr Time kWeight = 1'000'000;
  Workload w;
  w.groups.resize(2);
  w.groups[0].label = "row at product.fa:7";
  w.groups[1].label = "next at product.fa:12";
  w.groups[1].never_moved = true;
  std::size_t previous = 0;
  for (int i = 0; i < iterations; ++i) {
    std::vector<std::size_t> born;
    Fragment end{Group{1}, 1000};
    end.home = Rank{0};
    for (std::int64_t u = 0; u < kUnits; ++u) {
      Fragment f{Group{0}, kWeight, kBytes};
      f.output = 8;
      f.home = Rank{0};
      born.push_back(w.add(f));
      end.inputs.push_back({born.back(), 8});
    }
    born.push_back(w.add(end));
    if (i == 0) {
      for (const std::size_t f : born) w.births.push_back({0, Rank{0}, f});
    } else {
      w.fragments[previous].children = born;
    }
    previous = born.back();
  }
  return w;
}

// times_of gives the time of each iteration, from programs that stop after it.
std::vector<double> times_of(const std::string& balancer, const Settings& settings, Options o) {
  o.balancer = balancer;
  o.settings = settings;
  std::vector<double> times;
  double before = 0;
  for (int i = 1; i <= kIterations; ++i) {
    const Outcome out = simulate(iterative(i), o);
    for (const std::string& fault : out.faults) std::printf("FAULT: %s\n", fault.c_str());
    const double now = static_cast<double>(out.finished) / 1e6;
    times.push_back(now - before);
    before = now;
  }
  return times;
}

struct Case {
  const char* name;
  Options options;
};

std::vector<Case> cases() {
  Options even;
  even.ranks = 4;
  even.bandwidth = 1e9;
  Options unequal = even;
  unequal.speeds = {1, 1, 0.5, 0.25};
  Options far = even;  // ranks 2 and 3 behind a slow line
  far.hosts = {0, 1, 2, 3};
  far.sites = {0, 0, 1, 1};
  far.between_sites = {1'000'000, 2.5e6, 0};
  Options loaded = even;
  loaded.changes = {{450'000'000, Rank{3}, Change::Kind::outside_load, 2}};
  return {{"4 equal ranks", even},
          {"speeds 1, 1, 1/2, 1/4, not told", unequal},
          {"two of four behind 2.5 MB/s", far},
          {"two other tasks on rank 3 from 0.45 s on", loaded}};
}

void iterations() {
  std::printf(
      "\n| ranks | equal: first | last | proportional: first | second | last | equal / "
      "proportional, last | faster after the first |\n|---|---|---|---|---|---|---|---|\n");
  for (const Case& c : cases()) {
    const auto equal = times_of("equal", {{"transfer_margin", "0"}}, c.options);
    // What a rank can do is to be found out: it is not told.
    const auto ours = times_of("proportional", {{"transfer_margin", "0"}, {"powers", "1"}}, c.options);
    int faster = 0;
    for (std::size_t i = 1; i < ours.size(); ++i) faster += ours[i] < equal[i] ? 1 : 0;
    std::printf("| %s | %.1f ms | %.1f ms | %.1f ms | %.1f ms | %.1f ms | %.2f | %d of %d |\n", c.name, equal.front(),
                equal.back(), ours[0], ours[1], ours.back(), equal.back() / ours.back(), faster, kIterations - 1);
  }
}

}  // namespace

int main() {
  std::printf("Speed-up against the fastest worker, and imbalance; the optimum is 16.\n\n");
  loops({14, 15, 16});
  iterations();
}
