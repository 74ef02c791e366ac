// Many runs for people: medians over the seeds, at each point of the sweeps.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>

#include "balancer/units.hpp"
#include "cli/simulate/interval.hpp"
#include "cli/simulate/sweep.hpp"

namespace tessera::cli {
namespace {

std::string duration_of(double ns) { return balancer::duration_text(static_cast<balancer::Time>(ns + 0.5)); }

// The runs of one balancer on one number of ranks at one point, one of each seed.
using Runs = std::span<const StudyRow>;

double median(Runs runs, const std::function<double(const StudyRow&)>& of) {
  std::vector<double> all;
  for (const StudyRow& r : runs) all.push_back(of(r));
  return median_interval(std::move(all)).median;
}

// How much longer than under the best of these balancers: of each seed by itself, then the median.
double over_best(const std::vector<Runs>& rivals, Runs runs) {
  std::vector<double> all;
  for (std::size_t s = 0; s < runs.size(); ++s) {
    balancer::Time best = std::numeric_limits<balancer::Time>::max();
    for (const Runs& r : rivals) {
      if (r[s].outcome) best = std::min(best, r[s].outcome->finished);
    }
    all.push_back(best > 0 ? static_cast<double>(runs[s].outcome->finished) / static_cast<double>(best) - 1 : 0);
  }
  return median_interval(std::move(all)).median;
}

std::vector<std::string> line_of(const std::vector<Runs>& rivals, Runs runs) {
  std::vector<std::string> cells{runs[0].balancer, std::to_string(runs[0].ranks)};
  const auto lacking = std::find_if(runs.begin(), runs.end(), [](const StudyRow& r) { return !r.outcome; });
  if (lacking != runs.end()) {
    cells.push_back(lacking->why);
    return cells;
  }
  std::vector<double> times;
  for (const StudyRow& r : runs) times.push_back(static_cast<double>(r.outcome->finished));
  const MedianInterval m = median_interval(std::move(times));
  cells.push_back(duration_of(m.median));
  cells.push_back(runs.size() > 1 ? duration_of(m.low) + " .. " + duration_of(m.high) : "");
  cells.push_back(percent_text(median(runs, [](const StudyRow& r) { return r.outcome->efficiency(); })));
  cells.push_back(rivals.size() > 1 ? percent_text(over_best(rivals, runs)) : "");
  const bool searched = runs[0].optimum.has_value();
  const bool proved =
      std::all_of(runs.begin(), runs.end(), [](const StudyRow& r) { return !r.optimum || r.optimum->proved; });
  cells.push_back(!searched ? "" : (proved ? "" : "< ") + percent_text(median(runs, [](const StudyRow& r) {
                                     return r.over_optimum();
                                   })));
  cells.push_back(percent_text(median(runs, [](const StudyRow& r) { return r.outcome->imbalance(); })));
  cells.push_back(fmt::format("{:.1f}", median(runs, [](const StudyRow& r) { return r.messages_per_rank(); })));
  cells.push_back(
      fmt::format("{:.0f}", median(runs, [](const StudyRow& r) { return static_cast<double>(r.outcome->moved); })));
  return cells;
}

// Columns as wide as what is in them, none that is empty in each line. The last cell of a shorter line says why it is,
// and takes what room it needs.
void print_columns(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths(lines.front().size());
  std::vector<bool> used(widths.size());
  for (const std::vector<std::string>& line : lines) {
    const bool whole = line.size() == widths.size();
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (&line != &lines.front() && !line[i].empty()) used[i] = true;
      if (whole || i + 1 < line.size()) widths[i] = std::max(widths[i], line[i].size());
    }
  }
  for (const std::vector<std::string>& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (!used[i]) continue;
      const bool reason = line.size() < widths.size() && i + 1 == line.size();
      text += (text.empty() ? "" : "  ") + (reason ? line[i] : fmt::format("{:>{}}", line[i], widths[i]));
    }
    std::printf("%s\n", text.c_str());
  }
}

}  // namespace

void print_medians(const Study& study, const Points& points, const std::vector<std::uint64_t>& seeds,
                   const std::vector<StudyRow>& rows) {
  std::printf("%s on %s, ", study.workload.c_str(), study.cluster_name.c_str());
  if (seeds.size() > 1) {
    const double sureness = median_interval(std::vector<double>(seeds.size())).sureness;
    std::printf("seeds %llu to %llu: medians, and where they are with a probability of %s\n\n",
                static_cast<unsigned long long>(seeds.front()), static_cast<unsigned long long>(seeds.back()),
                percent_text(sureness).c_str());
  } else {
    std::printf("seed %llu\n\n", static_cast<unsigned long long>(seeds.front()));
  }
  std::vector<std::vector<std::string>> lines(1);
  for (const ParameterSweep& s : points.sweeps()) lines[0].push_back(s.parameter);
  for (const char* title : {"balancer", "ranks", "time", "interval", "eff.", "over best", "over optimum", "imbalance",
                            "msgs/rank", "moved"})
    lines[0].emplace_back(title);
  const std::size_t counts = study.counts.size(), per_point = study.balancers.size() * counts;
  const auto runs_of = [&](std::size_t point, std::size_t which) {
    return Runs(rows).subspan((point * per_point + which) * seeds.size(), seeds.size());
  };
  for (std::size_t p = 0; p < points.count(); ++p) {
    for (std::size_t i = 0; i < per_point; ++i) {
      std::vector<Runs> rivals;
      for (std::size_t b = 0; b < study.balancers.size(); ++b) rivals.push_back(runs_of(p, b * counts + i % counts));
      lines.push_back(points.values(p));
      for (std::string& cell : line_of(rivals, runs_of(p, i))) lines.back().push_back(std::move(cell));
    }
  }
  print_columns(lines);
}

}  // namespace tessera::cli
