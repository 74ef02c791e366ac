// Beyond the source: the largest finishing time as small as possible, by few fragments moved. plan_pack.hpp says how;
// here are the ceiling and what the plan is compared with.
#include <algorithm>
#include <cmath>
#include <limits>

#include "balancer/central/plan_lpt.hpp"
#include "balancer/central/plan_pack.hpp"

namespace tessera::balancer {
namespace {

// The lowest ceiling is sought in steps of this part of an average fragment (with 16 fragments a worker, 0.4 %), but
// none below this part of the mean.
constexpr double kStep = 1.0 / 16, kLeast = 3e-4;
constexpr int kMostTries = 64;
// So many pieces for each worker may be placed before the search is content with what it has.
constexpr std::size_t kEffort = 4, kEffortAlways = 4000;

// search has `packer` pack at ceilings upwards in growing steps until nothing better can come, then between the last
// that failed and the best that was reached.
void search(Packer& packer, const LowerBound& bound, std::size_t workers) {
  const double step = std::max(kStep * bound.fragment, kLeast * bound.level);
  double low = bound.ceiling, next = std::max(bound.ceiling, bound.level + step);
  for (int tries = 0; next < packer.reached() && tries < kMostTries; ++tries) {
    packer.pack(next);
    if (packer.reached() <= next) break;
    low = next;
    next += step * std::ldexp(1.0, tries);
  }
  while (packer.reached() - low > std::max(step / 2, 2 * kLeast * low) &&
         packer.effort() < kEffort * workers + kEffortAlways) {
    const double middle = (low + packer.reached()) / 2;
    packer.pack(middle);
    if (packer.reached() > middle) low = middle;
  }
}

}  // namespace

Plan plan_makespan(const std::vector<Load>& loads, const PlanCosts& costs) {
  std::vector<double> finish;
  const LowerBound bound = lower_bound(loads, finish);
  if (bound.receivers == 0) return {};
  const double latest = *std::max_element(finish.begin(), finish.end());
  const auto leaves = [](const Load& l) { return !l.receives && !l.groups.empty(); };
  const bool leaving = std::any_of(loads.begin(), loads.end(), leaves);

  Queues queues(loads);
  Packer packer(loads, finish, queues, costs, bound.level, leaving ? std::numeric_limits<double>::infinity() : latest);
  search(packer, bound, loads.size());
  Plan best = packer.plan();
  // The other planners may leave work where somebody leaves, and look the better for it.
  if (leaving) return best;
  double best_finish = makespan(loads, finish, best, costs);
  const auto consider = [&](Plan other, double gain) {
    const double other_finish = makespan(loads, finish, other, costs);
    if (other_finish >= best_finish - gain) return;
    best = std::move(other);
    best_finish = other_finish;
  };
  if (best_finish > latest) consider({}, 0);
  const double needed = std::max(1e-9 * best_finish, static_cast<double>(costs.min_gain));
  const double m = static_cast<double>(bound.receivers);
  if (best_finish > (4.0 / 3 - 1 / (3 * m)) * bound.finish) consider(plan_lpt(loads), needed);
  if (best_finish > bound.finish + needed) {
    queues.refill();
    consider(plan_mean(loads, finish, queues), needed);
  }
  return best;
}

}  // namespace tessera::balancer
