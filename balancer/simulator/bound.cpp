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

Time best_time(const Options& o, Time work, Time critical_path) {
  std::vector<State> ranks(static_cast<std::size_t>(executing_ranks(o)));
  double fastest = 0;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (r < o.speeds.size()) ranks[r].speed = o.speeds[r];
    ranks[r].threads = o.threads;
    ranks[r].cores = r < o.cores.size() ? o.cores[r] : o.threads;
    fastest = std::max(fastest, ranks[r].speed);
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
  const double by_path = fastest > 0 ? static_cast<double>(critical_path) / fastest : 0;
  return static_cast<Time>(std::ceil(std::max(by_work, by_path)));
}

}  // namespace tessera::balancer::simulator
