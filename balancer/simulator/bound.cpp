#include "balancer/simulator/bound.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::balancer::simulator {
namespace {

struct State {
  double speed = 1, threads = 1, cores = 1, tasks = 0;
  bool here = true;
  double power() const { return here && threads > 0 ? speed * threads * share(threads, tasks, cores) : 0; }
};

}  // namespace

double fastest_speed(const Options& o) {
  const auto ranks = static_cast<std::size_t>(executing_ranks(o));
  const auto given = o.speeds.begin() + static_cast<std::ptrdiff_t>(std::min(ranks, o.speeds.size()));
  const double most = o.speeds.begin() < given ? *std::max_element(o.speeds.begin(), given) : 1;
  return o.speeds.size() < ranks ? std::max(most, 1.0) : most;
}

Time best_time(const Options& o, Time work, Time critical_path) {
  std::vector<State> ranks(static_cast<std::size_t>(executing_ranks(o)));
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (r < o.speeds.size()) ranks[r].speed = o.speeds[r];
    ranks[r].threads = o.threads;
    ranks[r].cores = r < o.cores.size() ? o.cores[r] : o.threads;
  }
  for (const Rank r : o.absent) {
    if (static_cast<std::size_t>(index(r)) < ranks.size()) {
      ranks[static_cast<std::size_t>(index(r))].here = false;
    }
  }
  std::vector<Change> changes = o.changes;
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
  double power = 0;
  for (const State& s : ranks) power += s.power();
  double left = static_cast<double>(work), now = 0;
  for (const Change& c : changes) {
    const auto at = static_cast<double>(c.at);
    if (left <= power * (at - now)) break;
    left -= power * (at - now);
    now = at;
    if (static_cast<std::size_t>(index(c.rank)) >= ranks.size()) continue;
    State& s = ranks[static_cast<std::size_t>(index(c.rank))];
    power -= s.power();
    if (c.kind == Change::Kind::outside_load) {
      s.tasks = c.tasks;
    } else {
      s.here = c.kind == Change::Kind::join;
    }
    power += s.power();
  }
  const double by_work = power > 1e-12 ? now + left / power : now;
  return static_cast<Time>(std::ceil(std::max(by_work, static_cast<double>(critical_path))));
}

}  // namespace tessera::balancer::simulator
