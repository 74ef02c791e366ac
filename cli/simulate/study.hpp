// A study: one workload on one cluster, under some balancers, on some numbers of ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "balancer/simulator/cluster_model.hpp"
#include "balancer/simulator/optimum.hpp"
#include "balancer/simulator/trace.hpp"
#include "balancer/simulator/workloads/catalogue.hpp"

namespace tessera::cli {

struct Study {
  std::string workload;                                          // as it was asked for
  const balancer::simulator::WorkloadInfo* generator = nullptr;  // else `trace`
  balancer::Settings parameters;                                 // of the generator
  std::optional<balancer::simulator::Trace> trace;
  std::string cluster_name, cluster_asked;  // its own, and what was asked for, maybe a file
  balancer::simulator::ClusterModel cluster;
  struct Balancer {
    const balancer::PolicyInfo* policy = nullptr;
    balancer::Settings settings;
    std::string configuration{};  // of configs/balancer that it is, rather than the policy as such
    std::string name() const { return configuration.empty() ? std::string(policy->name) : configuration; }
  };
  std::vector<Balancer> balancers;
  std::vector<std::int32_t> counts;  // of ranks, or of those that execute
  bool counts_are_workers = false;
  std::uint64_t seed = 1;
  std::size_t slices = 0;                        // of time, for the utilisation
  balancer::simulator::Times* record = nullptr;  // --record
  bool optimum = false;                          // --optimum
};

inline constexpr const char* kNeedsMoreRanks = "needs more ranks: none would execute anything";

// One simulated run. `outcome` is missing when the balancer can't run there: then `why` not.
struct StudyRow {
  std::string balancer;
  std::int32_t ranks = 0;
  std::uint64_t seed = 1;
  std::size_t point = 0;  // of the sweeps
  std::optional<balancer::simulator::Outcome> outcome;
  std::string why;
  double seconds = 0;                                   // that simulating took
  std::optional<balancer::simulator::Optimum> optimum;  // of as many executing ranks; with Study::optimum

  double messages_per_rank() const;
  // How much longer than the best schedule; than any could be, where that is not known.
  double over_optimum() const;
  double coordinator_load() const;  // share of the time that the busiest host worked
};

// run_row simulates one balancer on one number of ranks. `change` may alter the cluster that it runs on. A run of
// more than `most_events` is given up: its outcome has not `ended`.
StudyRow run_row(const Study&, const Study::Balancer&, std::int32_t count, std::int64_t most_events,
                 const std::function<void(balancer::simulator::Options&)>& change = {});

// Runs all, balancer by balancer. A usage error when the cluster is one on which none can run.
std::vector<StudyRow> run_study(const Study&);

// The workload as a graph. Throws a usage error, in which `option` is what needs it, where it is none.
balancer::simulator::Trace trace_of(const char* option, const Study&);
// The simulated run of `study` that was noted last (Study::record), as a record that `tessera report` reads. Throws a
// usage error.
balancer::simulator::Trace record_of(const Study&, const StudyRow&);
void write_record(const std::string& path, const Study&, const StudyRow&);

class Points;
// Runs all at each point, with each of the seeds. Point by point, then balancer by balancer, number by number of ranks,
// seed by seed.
std::vector<StudyRow> run_studies(Study, const Points&, const std::vector<std::uint64_t>& seeds);

std::string percent_text(double share);  // `12.3 %`
void print_table(const Study&, const std::vector<StudyRow>&);
// What went on in the simulator itself, for stderr.
std::string timing_text(const std::vector<StudyRow>&);
// Of several seeds or points: medians over the seeds, and how sure they are.
void print_medians(const Study&, const Points&, const std::vector<std::uint64_t>& seeds, const std::vector<StudyRow>&);
std::string json_text(const Study&, const Points&, const std::vector<StudyRow>&);
// A run is a line.
std::string json_lines(const Study&, const Points&, const std::vector<StudyRow>&);
std::string csv_text(const Study&, const Points&, const std::vector<StudyRow>&);
std::string svg_text(const Study&, const std::vector<StudyRow>&);

// --plot, by the ending of the file: .svg, .png, or .html, the page of `tessera report` of each balancer on the largest
// number of ranks. A usage error when there is no such picture.
void check_plot(const std::string& path, const Study&);
void write_plot(const std::string& path, Study, const std::vector<StudyRow>&);

}  // namespace tessera::cli
