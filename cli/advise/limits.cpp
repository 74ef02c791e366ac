// What costs the time: the same run with one thing made free at a time.
#include <fmt/format.h>

#include <algorithm>

#include "balancer/simulator/bound.hpp"
#include "balancer/units.hpp"
#include "cli/advise/advice.hpp"

namespace tessera::cli {
namespace {

namespace sim = balancer::simulator;
using balancer::duration_text;
using balancer::Time;

constexpr double kUsesItsRanks = 0.9;  // of the time that work / power would take: nothing to complain of
constexpr std::int64_t kFragmentBytes = 1000;
constexpr double kCounts = 0.25;       // of what is lost

struct Lost {
  double time, by_work;
  // The part of what is lost that would not be if it took `other`.
  double share(double other) const { return std::clamp((time - other) / (time - by_work), 0.0, 1.0); }
};

Time longest_fragment(const Study& study) {
  Time longest = 0;
  if (study.trace) {
    for (const sim::Fragment& f : study.trace->work.fragments) longest = std::max(longest, f.weight);
  }
  return longest;
}

// The part of the time that threads have nothing in which fragments wait on other ranks.
double idle_beside_ready(const sim::Outcome& o, std::int32_t threads) {
  double nothing = static_cast<double>(o.finished) * threads * o.executing;
  for (std::int32_t r = 0; r < o.executing; ++r) nothing -= static_cast<double>(o.busy[static_cast<std::size_t>(r)]);
  return nothing > 0 ? std::min(1.0, static_cast<double>(o.idle_beside_ready) / nothing) : 0;
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

}  // namespace

std::vector<Limit> find_limits(const Study& study, const Tried& tried, const std::optional<Tried>& usual, std::int32_t count,
                               const Progress& progress, int& simulations) {
  const sim::Outcome& o = *tried.row.outcome;
  sim::Options options;
  const auto run_with = [&](const std::function<void(sim::Options&)>& change) {
    const StudyRow row = run_row(study, tried.balancer, count, kMostEventsOfAdvice, change);
    progress(++simulations);
    return row.outcome && row.outcome->ended ? static_cast<double>(row.outcome->finished)
                                             : static_cast<double>(o.finished);
  };
  const double no_processing = run_with([&](sim::Options& x) {
    options = x;
    x.processing = x.coordinator = {};
  });
  const Lost lost{static_cast<double>(o.finished), static_cast<double>(sim::best_time(options, o.work, 0))};
  std::vector<Limit> limits;
  if (lost.by_work >= kUsesItsRanks * lost.time) return limits;
  const double no_transfer = run_with([](sim::Options& x) {
    constexpr double kInstant = 1e18;
    x.bandwidth = x.inside_host.bandwidth = x.between_sites.bandwidth = kInstant;
  });
  const double no_latency = run_with([](sim::Options& x) {
    constexpr Time kLeast = 1000;
    x.latency = x.inside_host.latency = x.between_sites.latency = kLeast;
    x.jitter = x.inside_host.jitter = x.between_sites.jitter = 0;
  });

  const double path = lost.time - (std::max(lost.by_work, static_cast<double>(o.bound)) - lost.by_work);
  const Time longest = longest_fragment(study);
  if (longest > 0 && static_cast<double>(longest) >= 0.7 * lost.time) {
    limits.push_back({"granularity", lost.share(path),
                      fmt::format("one fragment takes {}: cut the long ones", duration_text(longest))});
  } else {
    limits.push_back({"critical path", lost.share(path),
                      fmt::format("the longest chain of fragments that wait for each other takes {}",
                                  duration_text(o.critical_path))});
  }
  // What moves without inputs to speak of is the fragments themselves.
  const bool data = o.bytes_moved + o.bytes_fetched > kFragmentBytes * o.moved;
  limits.push_back({"transfers", data ? lost.share(no_transfer) : 0,
                    fmt::format("with links of endless bandwidth it would take {}",
                                duration_text(static_cast<Time>(no_transfer)))});
  limits.push_back({"coordinator", lost.share(no_processing),
                    fmt::format("the busiest host works {} of the time for its balancer; if that cost nothing the run "
                                "would take {}",
                                percent(tried.row.coordinator_load()), duration_text(static_cast<Time>(no_processing)))});
  const auto largest = [&] {
    return std::max_element(limits.begin(), limits.end(),
                            [](const Limit& a, const Limit& b) { return a.share < b.share; })->share;
  };
  if (usual && largest() < kCounts) {
    limits.push_back({"balancer", lost.share(static_cast<double>(usual->time())),
                      fmt::format("work waits while ranks have none; under {} it would take {}", usual->row.balancer,
                                  duration_text(usual->time()))});
  }
  const Time mean = o.executed > 0 ? o.work / o.executed : 0;
  const bool fine = mean < 2 * (2 * options.latency + options.processing.event + options.processing.send);
  const double explained = largest();
  limits.push_back({"granularity", std::max({data ? 0 : lost.share(no_transfer), lost.share(no_latency), fine && explained < kCounts ? 1 - explained : 0}),
                    fmt::format("a fragment takes {} in the mean, a message {}: make fewer, longer ones",
                                duration_text(mean), duration_text(options.latency))});
  std::stable_sort(limits.begin(), limits.end(), [](const Limit& a, const Limit& b) { return a.share > b.share; });
  std::erase_if(limits, [](const Limit& l) { return l.share < kCounts; });
  if (!limits.empty()) return limits;
  const StudyRow watched = run_row(study, tried.balancer, count, kMostEventsOfAdvice, [&](sim::Options& x) {
    constexpr Time kLooks = 1000;
    x.watch = std::max<Time>(1, o.finished / kLooks);
  });
  progress(++simulations);
  const double left = watched.outcome && watched.outcome->ended ? idle_beside_ready(*watched.outcome, options.threads) : 0;
  if (left >= kCounts) {
    return {{"balancer", left,
             fmt::format("work waits on some ranks in {} of the time that others have none", percent(left))}};
  }
  return {{"dependencies", 1,
           "no single one of critical path, transfers, coordinator, balancer and granularity; ranks wait for fragments "
           "that are not ready yet"}};
}

}  // namespace tessera::cli
