// The outcome of a study for people.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "balancer/units.hpp"
#include "cli/simulate/study.hpp"

namespace tessera::cli {
namespace {

std::string count(double x) {
  if (x < 9.995 && x != static_cast<double>(static_cast<std::int64_t>(x))) {
    return fmt::format("{:.1f}", x);
  }
  return fmt::format("{:.0f}", x);
}

// How far from the best schedule each is.
void print_optima(const std::vector<StudyRow>& rows, std::size_t width) {
  if (std::none_of(rows.begin(), rows.end(), [](const StudyRow& r) { return r.optimum.has_value(); })) return;
  std::printf("\nAgainst the best schedule, for which lines are never busy and hosts need no time:\n\n");
  std::fputs(fmt::format("{:<{}} {:>6} {:>12} {:>9}\n", "balancer", width, "ranks", "best", "over").c_str(), stdout);
  bool given_up = false;
  for (const StudyRow& r : rows) {
    if (!r.optimum) continue;
    given_up = given_up || !r.optimum->proved;
    const std::string best = r.optimum->proved ? balancer::duration_text(r.optimum->found)
                                               : "> " + balancer::duration_text(r.optimum->least);
    std::fputs(fmt::format("{:<{}} {:>6} {:>12} {:>9}\n", r.balancer, width, r.ranks, best,
                           (r.optimum->proved ? "" : "< ") + percent_text(r.over_optimum()))
                   .c_str(),
               stdout);
  }
  if (given_up) std::printf("\n>: the search was given up; no schedule is shorter than this.\n");
}

// Of items that came while others ran: how long they were there.
void print_sojourns(const std::vector<StudyRow>& rows, std::size_t width) {
  const auto open = [](const StudyRow& r) { return r.outcome && r.outcome->sojourns.count() > 0; };
  if (std::none_of(rows.begin(), rows.end(), open)) return;
  const auto line = [&](const std::string& name, const std::string& ranks, const std::vector<std::string>& cells) {
    std::string text = fmt::format("{:<{}} {:>6}", name, width, ranks);
    for (const std::string& cell : cells) text += fmt::format(" {:>9}", cell);
    std::printf("%s\n", text.c_str());
  };
  std::printf("\nHow long an item was there, from when it came until it had run:\n\n");
  line("balancer", "ranks", {"mean", "half", "95 %", "99 %", "longest"});
  for (const StudyRow& r : rows) {
    if (!open(r)) continue;
    const balancer::simulator::Sojourns& s = r.outcome->sojourns;
    std::vector<std::string> cells = {balancer::duration_text(static_cast<balancer::Time>(s.mean()))};
    for (const double share : {0.5, 0.95, 0.99}) cells.push_back(balancer::duration_text(s.quantile(share)));
    cells.push_back(balancer::duration_text(s.longest()));
    line(r.balancer, std::to_string(r.ranks), cells);
  }
}

}  // namespace

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

void print_table(const Study& study, const std::vector<StudyRow>& rows) {
  std::printf("%s on %s, seed %llu\n", study.workload.c_str(), study.cluster_name.c_str(),
              static_cast<unsigned long long>(study.seed));
  std::set<std::string> results;
  for (const StudyRow& r : rows) {
    if (r.outcome && !r.outcome->result.empty()) results.insert(r.outcome->result);
  }
  for (const std::string& r : results) std::printf("%s\n", r.c_str());
  std::size_t width = 8;
  for (const StudyRow& r : rows) width = std::max(width, r.balancer.size());
  std::fputs(fmt::format("\n{:<{}} {:>6} {:>9} {:>9} {:>7} {:>9} {:>9} {:>7} {:>9} {:>9} {:>6}\n", "balancer", width,
                         "ranks", "time", "bound", "eff.", "imbalance", "msgs/rank", "coord.", "moved", "bytes", "most")
                 .c_str(),
             stdout);
  std::string last;
  for (const StudyRow& r : rows) {
    if (!last.empty() && last != r.balancer && study.counts.size() > 1) std::printf("\n");
    last = r.balancer;
    std::string line = fmt::format("{:<{}} {:>6} ", r.balancer, width, r.ranks);
    if (r.outcome) {
      const balancer::simulator::Outcome& o = *r.outcome;
      line += fmt::format("{:>9} {:>9} {:>7} {:>9} {:>9} {:>7} {:>9} {:>9} {:>6}", balancer::duration_text(o.finished),
                          balancer::duration_text(o.bound), percent_text(o.efficiency()), percent_text(o.imbalance()),
                          count(r.messages_per_rank()), percent_text(r.coordinator_load()), o.moved,
                          balancer::bytes_text(static_cast<double>(o.bytes_moved)), o.most_moves);
    } else {
      line += r.why;
    }
    std::printf("%s\n", line.c_str());
  }
  print_optima(rows, width);
  print_sojourns(rows, width);
}

std::string timing_text(const std::vector<StudyRow>& rows) {
  double seconds = 0, events = 0;
  for (const StudyRow& r : rows) {
    seconds += r.seconds;
    if (r.outcome) events += static_cast<double>(r.outcome->events);
  }
  return fmt::format("simulated {:.0f} events in {:.2f} s: {:.2f} million per second\n", events, seconds,
                     seconds > 0 ? events / seconds / 1e6 : 0);
}

}  // namespace tessera::cli
