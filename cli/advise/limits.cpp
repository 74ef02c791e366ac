// What costs the time: the same run with one thing made free at a time.
#include <fmt/format.h>

#include <algorithm>

#include "balancer/simulator/bound.hpp"
#include "balancer/units.hpp"
#include "cli/advise/advice.hpp"

namespace tessera::cli {

std::string one_is_long(balancer::Time longest) {
  return fmt::format("one fragment takes {}: cut the long ones", balancer::duration_text(longest));
}
std::string chain_is_long(balancer::Time chain) {
  return fmt::format("the longest chain of fragments that wait for each other takes {}",
                     balancer::duration_text(chain));
}
std::string one_is_short(const std::string& label, balancer::Time mean, std::int64_t count) {
  return fmt::format("a fragment{} takes {} in the mean ({} of them): make fewer, longer ones",
                     label.empty() ? "" : " of " + label, balancer::duration_text(mean), count);
}

namespace {

namespace sim = balancer::simulator;
using balancer::duration_text;
using balancer::Time;

constexpr double kUsesItsRanks = 0.9;  // of the time that work / power would take: nothing to complain of
constexpr std::int64_t kFragmentBytes = 1000;
constexpr double kCounts = 0.25;  // of what is lost

struct Lost {
  double time, by_work;
  // The part of what is lost that would not be if it took `other`.
  double share(double other) const { return std::clamp((time - other) / (time - by_work), 0.0, 1.0); }
};

// The fragments of a group, or of all where groups are not known beforehand.
struct Kind {
  std::string label;
  std::int64_t count = 0;
  Time work = 0;
  Time mean() const { return count > 0 ? work / count : 0; }
};
std::vector<Kind> kinds(const Study& study, const sim::Outcome& o) {
  if (!study.trace) return {{"", o.executed - o.turns, o.work}};
  std::vector<Kind> all;
  for (const balancer::GroupInfo& g : study.trace->work.groups) all.push_back({g.label, 0, 0});
  for (const sim::Fragment& f : study.trace->work.fragments) {
    if (study.trace->work.groups[balancer::index(f.group)].range) continue;  // a turn of a loop
    Kind& k = all[balancer::index(f.group)];
    ++k.count;
    k.work += f.weight;
  }
  return all;
}

// What to say of fragments that are short beside a message: of the group that has most of them. A mean over groups
// would tell of none of them.
std::string granularity_text(const std::vector<Kind>& all, Time fine, Time message) {
  const Kind* most = nullptr;
  for (const Kind& k : all) {
    if (k.mean() < fine && (most == nullptr || k.count > most->count)) most = &k;
  }
  if (most == nullptr || most->count == 0) {
    return fmt::format("fragments wait for messages, which take {} each: have more of them ready at a time",
                       duration_text(message));
  }
  const std::string text = one_is_short(most->label, most->mean(), most->count);
  const std::size_t colon = text.rfind(": ");
  return text.substr(0, colon) + fmt::format(", a message {}", duration_text(message)) + text.substr(colon);
}

Time longest_fragment(const Study& study) {
  Time longest = 0;
  if (study.trace) {
    for (const sim::Fragment& f : study.trace->work.fragments) longest = std::max(longest, f.weight);
  }
  return longest;
}

// What moves without inputs to speak of is the fragments themselves.
bool moves_data(const sim::Outcome& o) { return o.bytes_moved + o.bytes_fetched > kFragmentBytes * o.moved; }

// The part of the time that threads have nothing in which fragments wait on other ranks.
double idle_beside_ready(const sim::Outcome& o, std::int32_t threads) {
  double nothing = static_cast<double>(o.finished) * threads * o.executing;
  for (std::int32_t r = 0; r < o.executing; ++r) nothing -= static_cast<double>(o.busy[static_cast<std::size_t>(r)]);
  return nothing > 0 ? std::min(1.0, static_cast<double>(o.idle_beside_ready) / nothing) : 0;
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

}  // namespace

std::vector<Limit> find_limits(const Study& study, const Tried& tried, const std::optional<Tried>& usual,
                               std::int32_t count, const Progress& progress, int& simulations) {
  const sim::Outcome& o = *tried.row.outcome;
  sim::Options options;
  const auto run_of = [&](const Study::Balancer& b, const std::function<void(sim::Options&)>& change) {
    StudyRow row = run_row(study, b, count, kMostEventsOfAdvice, change);
    progress(++simulations);
    if (row.outcome && !row.outcome->ended) row.outcome.reset();
    return std::move(row.outcome);
  };
  bool data = moves_data(o);
  // How long it would take. A balancer that leaves all where it is may be the best one just because of what is to be
  // made free: the default is asked, too. What it would save without that, too, is not saved by that.
  const auto run_with = [&](const std::function<void(sim::Options&)>& change) {
    double least = static_cast<double>(o.finished);
    if (const auto free = run_of(tried.balancer, change); free && static_cast<double>(free->finished) < least) {
      least = static_cast<double>(free->finished);
      data = data || moves_data(*free);  // which it may have left where it was for that
    }
    if (!usual || words_of(usual->balancer) == words_of(tried.balancer)) return least;
    const auto free = run_of(usual->balancer, change);
    if (!free) return least;
    const double saved = static_cast<double>(std::min(o.finished, usual->time()) - free->finished);
    if (saved <= static_cast<double>(o.finished) - least) return least;
    data = data || moves_data(*free);
    return static_cast<double>(o.finished) - saved;
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
    limits.push_back({"granularity", lost.share(path), one_is_long(longest)});
  } else {
    limits.push_back({"critical path", lost.share(path), chain_is_long(o.critical_path)});
  }
  limits.push_back(
      {"transfers", data ? lost.share(no_transfer) : 0,
       fmt::format("with links of endless bandwidth it would take {}", duration_text(static_cast<Time>(no_transfer)))});
  limits.push_back(
      {"coordinator", lost.share(no_processing),
       fmt::format("the busiest host works {} of the time for its balancer; if that cost nothing the run "
                   "would take {}",
                   percent(tried.row.coordinator_load()), duration_text(static_cast<Time>(no_processing)))});
  const auto largest = [&] {
    return std::max_element(limits.begin(), limits.end(),
                            [](const Limit& a, const Limit& b) { return a.share < b.share; })
        ->share;
  };
  if (usual && largest() < kCounts) {
    limits.push_back({"balancer", lost.share(static_cast<double>(usual->time())),
                      fmt::format("work waits while ranks have none; under {} it would take {}", usual->row.balancer,
                                  duration_text(usual->time()))});
  }
  const Time two_round_trips = 2 * (2 * options.latency + options.processing.event + options.processing.send);
  const std::vector<Kind> all = kinds(study, o);
  Time work_of_fine = 0;
  for (const Kind& k : all) work_of_fine += k.mean() < two_round_trips ? k.work : 0;
  const bool fine = 2 * work_of_fine > o.work;
  const double explained = largest();
  limits.push_back({"granularity",
                    std::max({data ? 0 : lost.share(no_transfer), lost.share(no_latency),
                              fine && explained < kCounts ? 1 - explained : 0}),
                    granularity_text(all, two_round_trips, options.latency)});
  std::stable_sort(limits.begin(), limits.end(), [](const Limit& a, const Limit& b) { return a.share > b.share; });
  std::erase_if(limits, [](const Limit& l) { return l.share < kCounts; });
  if (!limits.empty()) return limits;
  const StudyRow watched = run_row(study, tried.balancer, count, kMostEventsOfAdvice, [&](sim::Options& x) {
    constexpr Time kLooks = 1000;
    x.watch = std::max<Time>(1, o.finished / kLooks);
  });
  progress(++simulations);
  const double left =
      watched.outcome && watched.outcome->ended ? idle_beside_ready(*watched.outcome, options.threads) : 0;
  if (left >= kCounts) {
    return {{"balancer", left,
             fmt::format("work waits on some ranks in {} of the time that others have none", percent(left))}};
  }
  return {{"dependencies", 1,
           "no single one of critical path, transfers, coordinator, balancer and granularity; ranks wait for fragments "
           "that are not ready yet"}};
}

}  // namespace tessera::cli
