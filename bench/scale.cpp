// bench_scale: how many workers one coordinator can look after, and a tree of them, in simulation.
// Prints the table of `bench/run scale`; with arguments only the rows of that policy:
//
//   bench_scale hierarchical
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>

#include "balancer/random.hpp"
#include "balancer/simulator/workloads.hpp"

using namespace tessera::balancer;
using namespace tessera::balancer::simulator;

namespace {

// Every worker begins with an exponentially distributed number of fragments, `each` on average; on
// one of four stretches of 64 workers three times as many as elsewhere. Weights differ up to 1 : 3.
Workload uneven(std::int32_t workers, double each, Time weight) {
  Workload w;
  w.groups.resize(1);
  w.groups[0].label = "work";
  Random random(3);
  for (std::int32_t i = 0; i < workers; ++i) {
    const double most = each * (i / 64 % 4 == 0 ? 2.0 : 2.0 / 3);
    const std::int64_t count = std::lround(-std::log(1 - random.unit()) * most);
    for (std::int64_t k = 0; k < count; ++k) {
      const double x = static_cast<double>(weight) * (0.5 + random.unit());
      w.births.push_back({0, Rank{i}, w.add({Group{0}, static_cast<Time>(x), 1000})});
    }
  }
  return w;
}

void row(const std::string& only, const std::string& balancer, std::int32_t workers, double each, Time weight) {
  if (!only.empty() && only != balancer) return;
  Options o;
  o.balancer = balancer;
  o.ranks = workers;
  while (executing_ranks(*find_policy(balancer), o.settings, o.ranks) < workers) ++o.ranks;
  o.latency = 5000;
  o.jitter = 5000;
  o.bandwidth = 5e9;
  // A message or an event costs its host a microsecond, a plan one per worker it is about.
  o.processing = {1000, 1000, 0};
  o.coordinator = {1000, 1000, 1000};
  o.event_limit = 4'000'000'000;
  const Workload w = uneven(workers, each, weight);
  const std::clock_t start = std::clock();
  const Outcome r = simulate(w, o);
  const double power = static_cast<double>(workers);
  Time busiest = 0;
  for (std::int32_t i = workers; i < o.ranks; ++i) {
    busiest = std::max(busiest, r.host_busy[static_cast<std::size_t>(i)]);
  }
  std::printf(
      "| %s | %d | %d | %lld ms | %zu | %.3f | %.3f | %.2f | %lld | %lld | %d | %.0f s |\n", balancer.c_str(), workers,
      o.ranks, static_cast<long long>(weight / 1'000'000), w.fragments.size(), static_cast<double>(r.finished) / 1e9,
      static_cast<double>(w.work()) / power / static_cast<double>(r.finished),
      static_cast<double>(busiest) / static_cast<double>(r.finished), static_cast<long long>(r.messages),
      static_cast<long long>(r.moved), r.most_moves, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  const std::string only = count > 1 ? words[1] : "";
  std::printf(
      "| policy | workers | ranks | fragment | fragments | seconds | efficiency | coordinator busy "
      "| "
      "messages | moved | one at most | simulated in |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  constexpr Time kMs = 1'000'000;
  row(only, "none", 1024, 40, 60 * kMs);
  for (const std::int32_t workers : {256, 1024, 4096}) row(only, "central", workers, 40, 60 * kMs);
  for (const std::int32_t workers : {256, 1024, 4096, 16'384}) {
    row(only, "central", workers, 60, 10 * kMs);
  }
  for (const std::int32_t workers : {1024, 4096, 16'384, 65'536}) {
    row(only, "hierarchical", workers, 60, 10 * kMs);
  }
}
