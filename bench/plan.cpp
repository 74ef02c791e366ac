// bench_plan: what a plan of the central balancer costs, how good it is and how much it moves. Prints the table of
// `bench/run plan`.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "balancer/central/plan_lpt.hpp"
#include "balancer/random.hpp"

using namespace tessera::balancer;

namespace {

constexpr int kRepetitions = 5;
constexpr std::uint64_t kFirstSeed = 101;  // tuned on 1 to 20; kEffort was doubled after these had been seen
constexpr std::uint32_t kEach = 16;        // fragments per worker

using Weight = std::function<double(Random&, std::size_t worker)>;

// Groups that every worker has some fragments of. `uneven`: every tenth has ten times as many.
std::vector<Load> of_groups(std::uint64_t seed, std::size_t workers, std::uint32_t groups, bool uneven) {
  Random random(seed);
  std::vector<Load> loads(workers);
  for (std::size_t i = 0; i < workers; ++i) {
    for (std::uint32_t g = 0; g < groups; ++g) {
      const std::uint64_t most = uneven && i % 10 == 0 ? 200 : 20;
      loads[i].groups.push_back(
          {Group{g}, static_cast<std::int64_t>(random.below(most)), static_cast<Time>(1'000'000 + g * 997'000)});
    }
  }
  return loads;
}

// Fragments each of its own weight. `skewed`: all on a tenth of the workers.
std::vector<Load> of_fragments(std::uint64_t seed, std::size_t workers, bool skewed, const Weight& weight) {
  Random random(seed);
  std::vector<Load> loads(workers);
  for (std::size_t i = 0; i < workers * kEach; ++i) {
    const std::size_t worker = skewed ? i % (workers / 10) : i / kEach;
    Load& load = loads[worker];
    const auto number = static_cast<std::uint32_t>(load.groups.size());
    const auto ns = static_cast<Time>(weight(random, worker) * 10e6);
    load.groups.push_back({Group{number}, 1, std::max<Time>(1, ns)});
  }
  return loads;
}

double exponential(Random& random, std::size_t) { return -std::log(1 - random.unit()); }
double uniform(Random& random, std::size_t) { return 2 * random.unit(); }
double hotspot(Random& random, std::size_t worker) { return (worker % 10 == 0 ? 5 : 1) * (0.5 + random.unit()); }
double bimodal(Random& random, std::size_t) { return (random.below(10) == 0 ? 10 : 1) * (0.9 + 0.2 * random.unit()); }
double lognormal(Random& random, std::size_t) {
  const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
  return std::exp(1.5 * radius * std::cos(6.283185307179586 * random.unit()));
}

// Everything on one worker.
std::vector<Load> heap(std::size_t workers, std::int64_t each) {
  std::vector<Load> loads(workers);
  loads[0].groups.push_back({Group{0}, static_cast<std::int64_t>(workers) * each, 10'000'000});
  return loads;
}

// What a plan does, summed over instances.
struct Result {
  double before = 0, after = 0, bound = 0, fragments = 0, weight = 0, messages = 0, ms = 0, mean_after = 0;
};

void add(Result& sum, const std::vector<Load>& loads) {
  Plan plan;
  double ms = 1e9;
  for (int i = 0; i < kRepetitions; ++i) {
    const std::clock_t start = std::clock();  // of this process: the machine may be shared
    plan = plan_makespan(loads);
    ms = std::min(ms, static_cast<double>(std::clock() - start) * 1e3 / CLOCKS_PER_SEC);
  }
  double work = 0, fragments = 0, moved_work = 0, moved = 0;
  for (const Load& load : loads) {
    work += load.work();
    for (const GroupWork& g : load.groups) fragments += static_cast<double>(g.count);
  }
  for (const Move& m : plan) {
    for (const GroupCount& f : m.fragments) {
      const auto n = static_cast<double>(f.count);
      moved += n;
      moved_work += n * static_cast<double>(loads[m.from].find(f.group)->weight);
    }
  }
  const auto workers = static_cast<double>(loads.size());
  const double mean = work / workers, after = makespan(loads, plan);
  sum.before += makespan(loads, {}) / mean;
  sum.after += after / mean;
  sum.bound += after / lower_bound(loads).finish;
  sum.fragments += moved / fragments;
  sum.weight += moved_work / work;
  sum.messages += static_cast<double>(plan.size()) / workers;
  sum.ms += ms;
  sum.mean_after += makespan(loads, plan_mean(loads)) / mean;
}

// row prints means over `seeds` instances. `former`: of the planner before this one (4f896e7) on the same instances,
// measured in the same hour on the machine of docs/benchmarks.md.
void row(const std::string& name, int seeds, const std::string& former,
         const std::function<std::vector<Load>(std::uint64_t)>& make) {
  Result r;
  for (int i = 0; i < seeds; ++i) add(r, make(kFirstSeed + static_cast<std::uint64_t>(i)));
  const double n = seeds;
  std::printf("| %s | %.3f | %.4f | %.4f | %.1f %% | %.1f %% | %.2f | %.3g | %s | %.3f |\n", name.c_str(), r.before / n,
              r.after / n, r.bound / n, 100 * r.fragments / n, 100 * r.weight / n, r.messages / n, r.ms / n,
              former.c_str(), r.mean_after / n);
  std::fflush(stdout);
}

struct Distribution {
  const char* name;
  Weight weight;
  const char* former[4];  // by size
};

}  // namespace

int main() {
  std::printf(
      "| loads | before | after | after / bound | fragments moved | weight moved | messages per rank | ms | former "
      "planner: after; fragments, weight moved; ms | `mean`: after |\n|---|---|---|---|---|---|---|---|---|---|\n");
  const Distribution distributions[] = {
      {"exponential",
       exponential,
       {"1.013; 12.6 %, 9.6 %; 0.0278", "1.024; 13.4 %, 9.6 %; 1.12", "1.039; 16.7 %, 9.9 %; 49.7",
        "1.038; 16.8 %, 9.9 %; 307"}},
      {"hotspot",
       hotspot,
       {"1.066; 11.0 %, 29.6 %; 0.0628", "1.076; 8.8 %, 27.2 %; 1.48", "1.097; 8.2 %, 26.7 %; 58.2",
        "1.118; 8.2 %, 26.7 %; 357"}},
      {"lognormal",
       lognormal,
       {"3.001; 13.5 %, 21.8 %; 0.0388", "10.908; 13.0 %, 25.8 %; 1.32", "24.108; 13.0 %, 26.5 %; 53.9",
        "24.038; 12.9 %, 26.2 %; 259"}},
      {"uniform",
       uniform,
       {"1.014; 9.0 %, 5.6 %; 0.0408", "1.028; 8.9 %, 5.7 %; 1.38", "1.032; 8.3 %, 5.8 %; 55.3",
        "1.045; 8.3 %, 5.8 %; 206"}},
      {"bimodal",
       bimodal,
       {"1.030; 18.1 %, 14.8 %; 0.0405", "1.050; 18.5 %, 14.6 %; 1.24", "1.080; 18.4 %, 14.7 %; 42.9",
        "1.081; 18.5 %, 14.8 %; 227"}},
  };
  constexpr std::size_t kWorkers[] = {64, 1024, 16'384, 65'536};
  constexpr int kSeeds[] = {20, 5, 1, 1};
  for (const Distribution& d : distributions) {
    for (std::size_t i = 0; i < std::size(kWorkers); ++i) {
      row(std::string(d.name) + ", " + std::to_string(kWorkers[i]) + " ranks", kSeeds[i], d.former[i],
          [&](std::uint64_t seed) { return of_fragments(seed, kWorkers[i], false, d.weight); });
    }
  }
  row("exponential on 100 of 1,000 ranks", 5, "1.003; 90.5 %, 90.0 %; 3.47",
      [](std::uint64_t seed) { return of_fragments(seed, 1000, true, exponential); });
  row("exponential on 6,553 of 65,536 ranks", 1, "1.011; 90.9 %, 90.0 %; 436",
      [](std::uint64_t seed) { return of_fragments(seed, 65'536, true, exponential); });
  row("1,000 ranks x 50 groups", 5, "1.000; 2.3 %, 3.9 %; 0.797",
      [](std::uint64_t seed) { return of_groups(seed, 1000, 50, false); });
  row("the same, every tenth with ten times as much", 5, "1.001; 31.1 %, 43.8 %; 1.09",
      [](std::uint64_t seed) { return of_groups(seed, 1000, 50, true); });
  row("65,536 ranks x 16 groups", 1, "1.001; 4.3 %, 6.9 %; 108",
      [](std::uint64_t seed) { return of_groups(seed, 65'536, 16, false); });
  row("1,048,576 equal fragments on 1 of 65,536 ranks", 1, "1.000; 100.0 %, 100.0 %; 11",
      [](std::uint64_t) { return heap(65'536, kEach); });
}
