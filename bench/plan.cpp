// bench_plan: what a plan of the central balancer costs and how good it is. Prints the table of
// `bench/run plan`.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "balancer/central/plan_lpt.hpp"
#include "balancer/random.hpp"

using namespace tessera::balancer;

namespace {

constexpr int kRepetitions = 9;

// Groups that every worker has some fragments of. `uneven`: every tenth has ten times as many.
std::vector<Load> of_groups(std::size_t workers, std::uint32_t groups, bool uneven) {
  Random random(11);
  std::vector<Load> loads(workers);
  for (std::size_t i = 0; i < workers; ++i) {
    for (std::uint32_t g = 0; g < groups; ++g) {
      const std::uint64_t most = uneven && i % 10 == 0 ? 200 : 20;
      loads[i].groups.push_back({Group{g}, static_cast<std::int64_t>(random.below(most)),
                                 static_cast<Time>(1'000'000 + g * 997'000)});
    }
  }
  return loads;
}

// Fragments each of its own exponentially distributed weight. `skewed`: all on a tenth of the
// workers.
std::vector<Load> exponential(std::size_t workers, std::uint32_t each, bool skewed) {
  Random random(12);
  std::vector<Load> loads(workers);
  for (std::size_t i = 0; i < workers * each; ++i) {
    const double x = -std::log(1 - random.unit()) * 10e6;
    Load& load = loads[skewed ? i % (workers / 10) : i % workers];
    const auto number = static_cast<std::uint32_t>(load.groups.size());
    load.groups.push_back({Group{number}, 1, std::max<Time>(1, static_cast<Time>(x))});
  }
  return loads;
}

// Everything on one worker.
std::vector<Load> heap(std::size_t workers, std::int64_t each) {
  std::vector<Load> loads(workers);
  loads[0].groups.push_back({Group{0}, static_cast<std::int64_t>(workers) * each, 10'000'000});
  return loads;
}

template <class Planner>
Plan measured(const std::vector<Load>& loads, const Planner& planner, double& ms) {
  Plan plan;
  ms = 1e9;
  for (int i = 0; i < kRepetitions; ++i) {
    const std::clock_t start = std::clock();  // of this process: the machine may be shared
    plan = planner(loads);
    ms = std::min(ms, static_cast<double>(std::clock() - start) * 1e3 / CLOCKS_PER_SEC);
  }
  return plan;
}

void row(const std::string& name, const std::vector<Load>& loads) {
  const double bound = lower_bound(loads).finish;
  double ms = 0, mean_ms = 0;
  const Plan own = measured(
      loads, [](const auto& l) { return plan_makespan(l); }, ms);
  const Plan mean = measured(
      loads, [](const auto& l) { return plan_mean(l); }, mean_ms);
  std::printf("| %s | %.3f | %zu | %.3f | %.3f | %.3f | %zu | %.3f |\n", name.c_str(),
              makespan(loads, {}) / bound, own.size(), ms, makespan(loads, own) / bound, mean_ms,
              mean.size(), makespan(loads, mean) / bound);
  std::fflush(stdout);
}

}  // namespace

int main() {
  std::printf(
      "| loads | before / bound | makespan: messages | ms | finish / bound | mean: ms | messages | "
      "finish / bound |\n|---|---|---|---|---|---|---|---|\n");
  row("1,000 workers x 50 groups", of_groups(1000, 50, false));
  row("the same, every tenth with ten times as much", of_groups(1000, 50, true));
  row("1,000 workers x 16 exponential fragments", exponential(1000, 16, false));
  row("16,000 exponential fragments on 100 of 1,000 workers", exponential(1000, 16, true));
  row("65,536 workers x 16 groups", of_groups(65'536, 16, false));
  row("65,536 workers x 16 exponential fragments", exponential(65'536, 16, false));
  row("1,048,576 exponential fragments on 6,553 of 65,536 workers", exponential(65'536, 16, true));
  row("1,048,576 equal fragments on 1 of 65,536 workers", heap(65'536, 16));
}
