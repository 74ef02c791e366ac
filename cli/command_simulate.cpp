// `tessera simulate`: which balancing, on how many ranks, with which parameters?
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/simulate/study.hpp"
#include "runtime/launch/words.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

namespace sim = balancer::simulator;
constexpr std::int32_t kMostRanks = 1 << 20;
constexpr std::size_t kSlices = 120;

struct SimulateCommand {
  bool list = false, timing = false;
  std::string workload;
  std::string cluster = "uniform";
  std::vector<std::string> balancers;
  std::vector<std::string> set;
  std::string ranks, workers;
  std::uint64_t seed = 1;
  std::string json, plot, save_trace;
};

std::string guess(const std::string& word, const std::vector<std::string>& known,
                  const std::string& otherwise) {
  const std::string nearest = launch::nearest(word, known);
  return nearest.empty() ? "; " + otherwise : "; did you mean `" + nearest + "`?";
}

// Beside the executable when installed, in the source tree otherwise.
fs::path clusters_folder() {
  std::error_code ignored;
  const fs::path prefix = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  const fs::path installed = prefix / "share" / "tessera" / "configs" / "clusters";
  return fs::is_directory(installed, ignored) ? installed : fs::path(TESSERA_BUILD_CONFIGS) / "clusters";
}

std::vector<std::string> cluster_names() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(clusters_folder(), ignored)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

sim::ClusterModel find_cluster(const std::string& name) {
  const std::vector<std::string> known = cluster_names();
  const bool file = name.find('/') != std::string::npos || fs::path(name).extension() == ".toml";
  try {
    if (file) return sim::load_cluster(name);
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      return sim::load_cluster((clusters_folder() / (name + ".toml")).string());
    }
  } catch (const sim::ClusterError& e) {
    throw usage_error(e.what());
  }
  throw usage_error("unknown cluster `" + name + "`" +
                    guess(name, known, "`tessera simulate --list` lists them; a file of your own is "
                                       "given as FILE.toml"));
}

void find_workload(const std::string& asked, Study& study) {
  study.workload = asked;
  std::error_code ignored;
  if (fs::is_regular_file(asked, ignored)) {
    try {
      study.trace = sim::read_trace(asked);
    } catch (const sim::TraceError& e) {
      throw usage_error(e.what());
    }
    return;
  }
  std::vector<std::string> wrong;
  const sim::WorkloadRequest request = sim::parse_workload(asked, wrong);
  study.generator = sim::find_workload(request.name);
  if (study.generator == nullptr) {
    std::vector<std::string> known;
    for (const sim::WorkloadInfo& w : sim::workloads()) known.emplace_back(w.name);
    throw usage_error("unknown workload `" + request.name + "`, and no such trace file" +
                      guess(request.name, known, "`tessera simulate --list` lists them"));
  }
  if (wrong.empty()) wrong = sim::check_workload(*study.generator, request.settings);
  if (!wrong.empty()) throw usage_error("--workload: " + wrong.front());
  study.parameters = request.settings;
}

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
  if (names.empty()) names = {"none", "steal", "central"};
  if (names.size() == 1 && names[0] == "all") names = known;
  for (const std::string& name : names) {
    const balancer::PolicyInfo* policy = balancer::find_policy(name);
    if (policy == nullptr) {
      throw usage_error("unknown balancer `" + name + "`" +
                        guess(name, known, "`tessera policies` lists them"));
    }
    study.balancers.push_back({policy, {}});
  }
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

// `2,4,8`, `2..16`, `2..1024*2` (times two each).
std::vector<std::int32_t> parse_counts(const std::string& text, const std::string& option) {
  const auto wrong = [&](const std::string& part) {
    return usage_error(option + ": `" + part + "` is no number of ranks from 1 to " +
                       std::to_string(kMostRanks) + "; write 8, or 2,4,8, or 2..16, or 2..1024*2");
  };
  const auto number = [&](std::string_view s) {
    std::int32_t n = 0;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
    if (error != std::errc{} || end != s.data() + s.size() || n < 1 || n > kMostRanks) {
      throw wrong(text);
    }
    return n;
  };
  std::vector<std::int32_t> counts;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dots = part.find("..");
    if (dots == std::string::npos) {
      counts.push_back(number(part));
      continue;
    }
    const std::size_t star = part.find('*', dots);
    const std::int64_t from = number(part.substr(0, dots));
    const std::int64_t to = number(part.substr(dots + 2, star == std::string::npos ? star : star - dots - 2));
    const std::int64_t factor = star == std::string::npos ? 1 : number(part.substr(star + 1));
    if (star != std::string::npos && factor < 2) throw wrong(part);
    for (std::int64_t n = from; n <= to; n = factor > 1 ? n * factor : n + 1) {
      counts.push_back(static_cast<std::int32_t>(n));
    }
  }
  if (counts.empty()) throw wrong(text);
  return counts;
}

// Before anything is simulated: can the file be written? Leaves nothing behind.
void check_output(const std::string& option, const std::string& path) {
  if (path.empty() || path == "-") return;
  std::error_code ignored;
  const bool existed = fs::exists(path, ignored);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) throw usage_error(option + ": " + path + " cannot be written: " + std::strerror(errno));
  ::close(fd);
  if (!existed) ::unlink(path.c_str());
}

void write_output(const std::string& option, const std::string& path, const std::string& text) {
  if (path.empty()) return;
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw usage_error(option + ": " + path + " cannot be written: " + std::strerror(errno));
}

void save_trace(const std::string& path, const Study& study) {
  sim::Trace trace;
  if (study.trace) {
    trace = *study.trace;
  } else {
    sim::Generated made = sim::generate(*study.generator, study.parameters,
                                        sim::Surroundings{study.counts.front(), study.seed});
    if (!made.graph) {
      throw usage_error("--save-trace: workload " + std::string(study.generator->name) +
                        " makes its fragments while it runs; only those that are known "
                        "beforehand can be saved (matmul, rowreduce, queens_loop, iterate, stencil)");
    }
    trace.program = study.workload;
    trace.work = std::move(*made.graph);
  }
  try {
    sim::write_trace(path, trace);
  } catch (const sim::TraceError& e) {
    throw usage_error(std::string("--save-trace: ") + e.what());
  }
}

void list() {
  std::printf("workloads (--workload NAME:parameter=value,...; or a trace file):\n");
  for (const sim::WorkloadInfo& w : sim::workloads()) {
    std::printf("\n%s: %s\n", std::string(w.name).c_str(), std::string(w.summary).c_str());
    for (const balancer::Parameter& p : w.parameters) {
      std::printf("  %-12s %-10s %s\n", std::string(p.name).c_str(),
                  std::string(p.default_value).c_str(), std::string(p.help).c_str());
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
  study.slices = c.plot.empty() ? 0 : kSlices;
  check_output("--json", c.json);
  check_output("--plot", c.plot);
  if (!c.save_trace.empty()) save_trace(c.save_trace, study);

  const std::vector<StudyRow> rows = run_study(study);
  if (c.json != "-") print_table(study, rows);
  write_output("--json", c.json, c.json.empty() ? "" : json_text(study, rows));
  write_output("--plot", c.plot, c.plot.empty() ? "" : svg_text(study, rows));
  if (c.timing) std::fputs(timing_text(rows).c_str(), stderr);
  return runtime::kExitOk;
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  CLI::App* sub =
      app.add_subcommand("simulate", "run a workload on a simulated cluster, under any balancer");
  const auto c = std::make_shared<SimulateCommand>();
  sub->add_option("-w,--workload", c->workload,
                  "what runs: NAME, NAME:parameter=value,..., or a trace file")
      ->option_text("WORKLOAD");
  sub->add_option("-c,--cluster", c->cluster, "where: a name of --list, or FILE.toml (uniform)")
      ->option_text("CLUSTER");
  sub->add_option("-b,--balancer", c->balancers,
                  "one or more, with commas, or `all` (none,steal,central)")
      ->delimiter(',')
      ->option_text("NAME,...");
  sub->add_option("--set", c->set,
                  "a parameter of the balancers, for each that has it; may be repeated")
      ->option_text("KEY=VALUE");
  sub->add_option("-n,--ranks", c->ranks,
                  "numbers of ranks: 8, or 2,4,8, or 2..16, or 2..1024*2 (as many as the cluster)")
      ->option_text("N,...");
  sub->add_option("--workers", c->workers,
                  "the same, but of ranks that execute; a dedicated coordinator is one more")
      ->option_text("N,...");
  sub->add_option("--seed", c->seed, "of everything random (1)")->option_text("N");
  sub->add_option("--json", c->json, "write all figures here; - is stdout, instead of the table")
      ->option_text("FILE");
  sub->add_option("--plot", c->plot, "draw time, efficiency and how busy each rank was")
      ->option_text("FILE.svg");
  sub->add_option("--save-trace", c->save_trace, "write the workload as a trace")
      ->option_text("FILE");
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
      "  tessera simulate -w app.trace -c my-cluster.toml -b central --set planner=mean");
  sub->callback([c, &action] { action = [c](const Arguments&) { return run(*c); }; });
}

}  // namespace tessera::cli
