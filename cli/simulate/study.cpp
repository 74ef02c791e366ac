#include "cli/simulate/study.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <new>
#include <span>

#include "cli/failure.hpp"
#include "cli/simulate/sweep.hpp"

namespace tessera::cli {
namespace {

namespace sim = balancer::simulator;
constexpr std::int64_t kMostEvents = 20'000'000'000;

// How many ranks `count` means for this balancer, and how many of them execute.
struct Ranks {
  std::int32_t all = 0, executing = 0;
};
Ranks ranks_for(const Study& study, const Study::Balancer& b, std::int32_t count) {
  if (!study.counts_are_workers) {
    return {count, balancer::executing_ranks(*b.policy, b.settings, count)};
  }
  for (std::int32_t all = count; all <= 2 * count + 1; ++all) {
    const std::int32_t executing = balancer::executing_ranks(*b.policy, b.settings, all);
    if (executing >= count) return {all, executing};
  }
  return {count, 0};
}

// Nothing, and `why`: not on this cluster.
std::optional<sim::Outcome> run_one(const Study& study, const Study::Balancer& b, const Ranks& ranks,
                                    std::int64_t most_events, const std::function<void(sim::Options&)>& change,
                                    std::string& why) {
  sim::Options options;
  options.balancer = std::string(b.policy->name);
  options.settings = b.settings;
  options.seed = study.seed;
  options.slices = study.slices;
  options.event_limit = most_events;
  options.record = study.record;
  sim::apply_cluster(study.cluster, ranks.executing, ranks.all - ranks.executing, options);
  const std::vector<std::string> wrong = sim::check_options(options);
  if (!wrong.empty()) {
    why = wrong.front();
    return std::nullopt;
  }
  if (change) change(options);
  if (study.trace) return sim::simulate(study.trace->work, options);
  sim::Generated made =
      sim::generate(*study.generator, study.parameters, sim::Surroundings{ranks.executing, study.seed});
  return made.graph ? sim::simulate(*made.graph, options) : sim::simulate(*made.program, options);
}

// The search begins with the best of the runs on as many executing ranks.
void find_optima(const Study& study, std::span<StudyRow> rows) {
  std::map<std::int32_t, std::vector<StudyRow*>> alike;
  for (StudyRow& r : rows) {
    if (r.outcome) alike[r.outcome->executing].push_back(&r);
  }
  for (const auto& [executing, runs] : alike) {
    const auto sooner = [](const StudyRow* a, const StudyRow* b) {
      return a->outcome->finished < b->outcome->finished;
    };
    const balancer::Time known = (*std::min_element(runs.begin(), runs.end(), sooner))->outcome->finished;
    sim::Options options;
    options.balancer = "none";
    options.seed = study.seed;
    sim::apply_cluster(study.cluster, executing, 0, options);
    std::optional<sim::Workload> made;
    if (!study.trace) {
      sim::Generated work = sim::generate(*study.generator, study.parameters, sim::Surroundings{executing, study.seed});
      made = work.graph ? std::move(*work.graph) : sim::unfold(*work.program);
    }
    if (!study.trace && !made)
      throw usage_error("--optimum: " + study.workload + " has more than " + std::to_string(sim::kMostSearched) +
                        " fragments");
    const sim::Workload& work = study.trace ? study.trace->work : *made;
    const std::string why = sim::why_no_optimum(work, options);
    if (!why.empty()) throw usage_error("--optimum: " + why);
    const sim::Optimum best = sim::optimum(work, options, known);
    for (StudyRow* r : runs) r->optimum = best;
  }
}

}  // namespace

double StudyRow::over_optimum() const {
  const balancer::Time best = optimum->proved ? optimum->found : optimum->least;
  return best > 0 ? std::max(0.0, static_cast<double>(outcome->finished) / static_cast<double>(best) - 1) : 0;
}

double StudyRow::messages_per_rank() const { return static_cast<double>(outcome->messages) / ranks; }

double StudyRow::coordinator_load() const {
  const auto most = std::max_element(outcome->host_busy.begin(), outcome->host_busy.end());
  return outcome->finished > 0 ? static_cast<double>(*most) / static_cast<double>(outcome->finished) : 0;
}

StudyRow run_row(const Study& study, const Study::Balancer& b, std::int32_t count, std::int64_t most_events,
                 const std::function<void(sim::Options&)>& change) {
  StudyRow row;
  row.balancer = b.name();
  row.seed = study.seed;
  const Ranks ranks = ranks_for(study, b, count);
  row.ranks = ranks.all;
  if (ranks.executing <= 0) {
    row.why = kNeedsMoreRanks;
    return row;
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::string where = study.workload + " under " + row.balancer + " on " + std::to_string(row.ranks) + " ranks: ";
  try {
    row.outcome = run_one(study, b, ranks, most_events, change, row.why);
  } catch (const sim::SimulationError& e) {
    throw usage_error(where + e.what());
  } catch (const std::bad_alloc&) {
    throw environment_error(where + "the simulation needs more memory than there is; take fewer fragments");
  }
  if (!row.outcome) return row;
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const sim::Outcome& o = *row.outcome;
  if (!o.faults.empty() && o.ended) {
    throw Failure(runtime::kExitInternal, "tessera: internal error: balancer " + row.balancer + " on " +
                                              std::to_string(row.ranks) + " ranks broke a rule: " + o.faults.front());
  }
  return row;
}

std::vector<StudyRow> run_study(const Study& study) {
  std::vector<StudyRow> rows;
  for (const Study::Balancer& b : study.balancers) {
    for (const std::int32_t count : study.counts) {
      rows.push_back(run_row(study, b, count, kMostEvents));
      const StudyRow& row = rows.back();
      if (row.outcome && !row.outcome->ended) {
        throw Failure(runtime::kExitInternal, "tessera: internal error: balancer " + row.balancer + " on " +
                                                  std::to_string(row.ranks) + " ranks never falls quiet");
      }
    }
  }
  const auto unfit = [](const StudyRow& r) { return !r.outcome && r.why != kNeedsMoreRanks; };
  const bool none = std::none_of(rows.begin(), rows.end(), [](const StudyRow& r) { return r.outcome.has_value(); });
  if (const auto row = std::find_if(rows.begin(), rows.end(), unfit); none && row != rows.end()) {
    throw usage_error("cluster " + study.cluster_asked + ": " + row->why);
  }
  if (study.optimum) find_optima(study, rows);
  return rows;
}

std::vector<StudyRow> run_studies(Study study, const Points& points, const std::vector<std::uint64_t>& seeds) {
  std::vector<StudyRow> all;
  for (std::size_t p = 0; p < points.count(); ++p) {
    points.apply(p, study);
    std::vector<std::vector<StudyRow>> by_seed;
    for (const std::uint64_t seed : seeds) {
      study.seed = seed;
      by_seed.push_back(run_study(study));
    }
    for (std::size_t i = 0; i < by_seed.front().size(); ++i) {
      for (std::vector<StudyRow>& rows : by_seed) {
        rows[i].point = p;
        all.push_back(std::move(rows[i]));
      }
    }
  }
  return all;
}

}  // namespace tessera::cli
