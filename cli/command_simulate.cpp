// `tessera simulate`: which balancing, on how many ranks, with which parameters?
#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/output_file.hpp"
#include "cli/simulate/inputs.hpp"
#include "cli/simulate/sweep.hpp"
#include "cli/tools.hpp"

namespace tessera::cli {
namespace {

namespace sim = balancer::simulator;
constexpr std::size_t kSlices = 120;

struct SimulateCommand {
  bool list = false, timing = false, optimum = false;
  std::string workload;
  std::string cluster = "uniform";
  std::vector<std::string> balancers;
  std::vector<std::string> set;
  std::string ranks, workers;
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;
  std::vector<std::string> sweep;
  std::string json, json_lines, csv, plot, save_trace, record;
};

// Of the complaints of several balancers about one setting: how likely it is the one that was meant.
int helpful(const std::string& complaint) {
  if (complaint.find("expected") != std::string::npos) return 3;
  if (complaint.find("did you mean") != std::string::npos) return 2;
  return complaint.empty() ? 0 : 1;
}

void find_balancers(const SimulateCommand& c, Study& study) {
  std::vector<std::string> known;
  for (const balancer::PolicyInfo& p : balancer::policies()) known.emplace_back(p.name);
  std::vector<std::string> names = c.balancers;
  if (names.empty()) names = {"none", "steal", "central", "auto"};
  if (names.size() == 1 && names[0] == "all") names = known;
  for (const std::string& name : names) study.balancers.push_back(find_balancer(name));
  // A parameter goes to every balancer that has it; somebody must.
  for (const std::string& pair : c.set) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw usage_error("--set: write KEY=VALUE, not `" + pair + "`");
    }
    const balancer::Settings one{{pair.substr(0, equals), pair.substr(equals + 1)}};
    std::string complaint;
    bool taken = false;
    for (Study::Balancer& b : study.balancers) {
      const std::vector<std::string> wrong = balancer::check_settings(*b.policy, one);
      if (wrong.empty()) {
        b.settings[one.begin()->first] = one.begin()->second;
        taken = true;
      } else if (helpful(wrong.front()) > helpful(complaint)) {
        complaint = wrong.front();
      }
    }
    if (!taken) throw usage_error("--set: " + complaint);
  }
}

void save_trace(const std::string& path, const Study& study) {
  try {
    sim::write_trace(path, trace_of("--save-trace", study));
  } catch (const sim::TraceError& e) {
    throw usage_error(std::string("--save-trace: ") + e.what());
  }
}

void list() {
  std::printf("workloads (--workload NAME:parameter=value,...; or a trace file):\n");
  for (const sim::WorkloadInfo& w : sim::workloads()) {
    std::printf("\n%s: %s\n", std::string(w.name).c_str(), std::string(w.summary).c_str());
    for (const balancer::Parameter& p : w.parameters) {
      std::printf("  %-12s %-10s %s\n", std::string(p.name).c_str(), std::string(p.default_value).c_str(),
                  std::string(p.help).c_str());
    }
  }
  std::printf("\nclusters (--cluster NAME; or a file), in %s:\n", clusters_folder().c_str());
  for (const std::string& name : cluster_names()) {
    std::string about;
    try {
      about = sim::load_cluster((clusters_folder() / (name + ".toml")).string()).about;
    } catch (const sim::ClusterError& e) {
      about = e.what();
    }
    std::printf("  %-22s %s\n", name.c_str(), about.c_str());
  }
}

int run(const SimulateCommand& c) {
  if (c.list) {
    list();
    return runtime::kExitOk;
  }
  if (c.workload.empty()) {
    throw usage_error("--workload is missing; `tessera simulate --list` lists workloads and clusters");
  }
  if (!c.ranks.empty() && !c.workers.empty()) {
    throw usage_error("--ranks counts all ranks, --workers those that execute: use one of them");
  }
  Study study;
  find_workload(c.workload, study);
  study.cluster = find_cluster(c.cluster);
  study.cluster_name = study.cluster.name;
  study.cluster_asked = c.cluster;
  find_balancers(c, study);
  study.counts_are_workers = !c.workers.empty();
  if (study.counts_are_workers) {
    study.counts = parse_counts(c.workers, "--workers");
  } else if (!c.ranks.empty()) {
    study.counts = parse_counts(c.ranks, "--ranks");
  } else {
    study.counts = {study.cluster.ranks()};
  }
  study.seed = c.seed;
  study.optimum = c.optimum;
  study.slices = c.plot.empty() ? 0 : kSlices;
  std::vector<std::uint64_t> seeds(c.seeds);
  std::iota(seeds.begin(), seeds.end(), c.seed);
  std::vector<ParameterSweep> sweeps;
  for (const std::string& s : c.sweep) sweeps.push_back(parse_sweep(s, study));
  const Points points(std::move(sweeps), study);
  const bool many = seeds.size() * points.count() > 1;
  if (many && !(c.record.empty() && c.save_trace.empty())) {
    throw usage_error("--record and --save-trace are of one run: leave --seeds out, and give --sweep one value");
  }
  if (points.count() > 1 && !c.plot.empty()) {
    throw usage_error("--plot draws against the number of ranks (-n); of --sweep make a table with --csv");
  }
  if ((c.json == "-") + (c.json_lines == "-") + (c.csv == "-") > 1) {
    throw usage_error("only one of --json, --json-lines and --csv can go to stdout");
  }
  points.apply(0, study);
  check_output("--json", c.json);
  check_output("--json-lines", c.json_lines);
  check_output("--csv", c.csv);
  check_output("--plot", c.plot);
  check_plot(c.plot, study);
  if (!c.save_trace.empty()) save_trace(c.save_trace, study);

  sim::Times times;
  if (!c.record.empty()) {
    if (study.balancers.size() != 1 || study.counts.size() != 1) {
      throw usage_error("--record is of one run: name one balancer (-b NAME) and one number of ranks (-n N)");
    }
    check_output("--record", c.record);
    study.trace = trace_of("--record", study);
    study.record = &times;
  }

  const std::vector<StudyRow> rows = run_studies(study, points, seeds);
  if (!c.record.empty()) write_record(c.record, study, rows.front());
  if (c.json != "-" && c.json_lines != "-" && c.csv != "-") {
    if (many) {
      print_medians(study, points, seeds, rows);
    } else {
      print_table(study, rows);
    }
  }
  write_output("--json", c.json, c.json.empty() ? "" : json_text(study, points, rows));
  write_output("--json-lines", c.json_lines, c.json_lines.empty() ? "" : json_lines(study, points, rows));
  write_output("--csv", c.csv, c.csv.empty() ? "" : csv_text(study, points, rows));
  write_plot(c.plot, study, rows);
  if (c.timing) std::fputs(timing_text(rows).c_str(), stderr);
  return runtime::kExitOk;
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("simulate", tool_about("simulate"));
  const auto c = std::make_shared<SimulateCommand>();
  sub->add_option("-w,--workload,workload", c->workload,
                  "what runs, with -w or without: NAME, NAME:parameter=value,..., or a trace file")
      ->option_text("WORKLOAD");
  sub->add_option("-c,--cluster", c->cluster, "where: a name of --list, or FILE.toml (uniform)")
      ->option_text("CLUSTER");
  sub->add_option("-b,--balancer", c->balancers,
                  "one or more, with commas, or `all` (none,steal,central,auto); also those of configs/balancer: "
                  "central-faithful")
      ->delimiter(',')
      ->option_text("NAME,...");
  sub->add_option("--set", c->set, "a parameter of the balancers, for each that has it; may be repeated")
      ->option_text("KEY=VALUE");
  sub->add_option("-n,--ranks", c->ranks,
                  "numbers of ranks: 8, or 2,4,8, or 2..16, or 2..1024*2 (as many as the cluster)")
      ->option_text("N,...");
  sub->add_option("--workers", c->workers, "the same, but of ranks that execute; a dedicated coordinator is one more")
      ->option_text("N,...");
  sub->add_option("--seed", c->seed, "of everything random (1)")->option_text("N");
  sub->add_option("--seeds", c->seeds, "so many seeds, from --seed on: medians and how sure they are (1)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000}))
      ->option_text("K");
  sub->add_option("--sweep", c->sweep,
                  "values of a parameter of the workload, the balancers or (cluster.link.latency) the cluster, one "
                  "after the other; may be repeated")
      ->option_text("KEY=V,...");
  sub->add_option("--json", c->json, "write all figures here; - is stdout, instead of the table")->option_text("FILE");
  sub->add_option("--json-lines", c->json_lines, "the same, a run a line")->option_text("FILE");
  sub->add_option("--csv", c->csv, "the same without what each rank did, a run a row")->option_text("FILE");
  sub->add_option("--plot", c->plot,
                  "draw time, efficiency and how busy each rank was; .html: as `tessera report` does")
      ->option_text("FILE.svg|.png|.html");
  sub->add_option("--save-trace", c->save_trace, "write the workload as a trace")->option_text("FILE");
  sub->add_option("--record", c->record, "of one balancer and one number of ranks: the run, for `tessera report`")
      ->option_text("FILE");
  sub->add_flag(
      "--optimum", c->optimum,
      "search the best schedule, of up to 64 fragments that are known beforehand, and say how far each is from it");
  sub->add_flag("--timing", c->timing, "say on stderr how fast the simulator itself was");
  sub->add_flag("--list", c->list, "list workloads with their parameters, and clusters");
  sub->footer(
      "Times are virtual: same arguments, same figures, whatever the machine. docs/simulator.md\n"
      "describes the model, the files, and what is not modelled.\n\n"
      "Examples:\n"
      "  tessera simulate --list\n"
      "  tessera simulate -w matmul -c mustafin -n 2..16 -b central,steal --plot matmul.svg\n"
      "  tessera simulate -w loop:items=5000,weights=exponential,weight=2ms -n 8..512*2\n"
      "  tessera simulate -w queens:n=12 -c santana40 -b all\n"
      "  tessera simulate -w loop -n 64 -b all --seeds 20 --sweep weights=exponential,heavy --sweep "
      "cluster.link.latency=50us,5ms\n"
      "  tessera simulate -w app.trace -c my-cluster.toml -b central --set planner=mean");
  sub->callback([c, &action] { action = [c](const Arguments&) { return run(*c); }; });
}

}  // namespace tessera::cli
