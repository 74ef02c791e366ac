#include <algorithm>
#include <cmath>

#include "cli/advise/advice.hpp"

namespace tessera::cli {

namespace sim = balancer::simulator;

namespace {

// Two weights, one on each side of the mean, with the group's mean and variance; the sides take turns. Where the lower
// one would be negative the heavy side is rarer.
struct TwoValued {
  explicit TwoValued(const balancer::ProfileGroup& g) {
    mean = static_cast<double>(g.mean);
    const double deviation = std::sqrt(std::max(0.0, g.variance));
    // heavy: mean + deviation * sqrt((1 - p) / p); light: mean - deviation * sqrt(p / (1 - p)) >= mean / 10.
    const double ratio = deviation > 0 ? 0.9 * mean / deviation : 1;
    heavy_share = ratio >= 1 ? 0.5 : ratio * ratio / (1 + ratio * ratio);
    heavy = mean + deviation * std::sqrt((1 - heavy_share) / heavy_share);
    light = mean - deviation * std::sqrt(heavy_share / (1 - heavy_share));
  }
  balancer::Time next() {
    owed += heavy_share;
    const bool is_heavy = owed >= 1;
    if (is_heavy) owed -= 1;
    return static_cast<balancer::Time>(std::llround(is_heavy ? heavy : light));
  }
  double mean = 0, heavy = 0, light = 0, heavy_share = 0.5, owed = 0.5;
};

}  // namespace

std::int64_t workload_of(const balancer::Profile& profile, std::int64_t most, sim::Workload& w) {
  std::int64_t total = 0;
  for (const balancer::ProfileGroup& g : profile.groups) total += g.count;
  const std::int64_t every = std::max<std::int64_t>(1, (total + most - 1) / most);
  std::vector<TwoValued> weights;
  std::vector<std::int64_t> left;
  for (const balancer::ProfileGroup& g : profile.groups) {
    balancer::GroupInfo info;
    info.label = g.position.empty() ? g.label : g.label + " at " + g.position;
    info.stealable = true;
    info.profile_count = g.count;
    info.profile_weight = g.mean;
    info.profile_variance = g.variance;
    info.never_moved = g.count > 0 && !g.worth_moving;
    w.groups.push_back(std::move(info));
    weights.emplace_back(g);
    left.push_back((g.count + every - 1) / every);
  }
  for (std::size_t g = 0; g < left.size(); ++g) {
    for (; left[g] > 0; --left[g]) {
      w.births.push_back({0, balancer::Rank{0}, w.fragments.size()});
      w.add({.group = balancer::Group{static_cast<std::uint32_t>(g)},
             .weight = weights[g].next(),
             .bytes = profile.groups[g].bytes});
    }
  }
  return every;
}

}  // namespace tessera::cli
