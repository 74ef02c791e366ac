// `tessera advise`: what to run a program with.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>

#include "balancer/units.hpp"
#include "cli/advise/advice.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/output_file.hpp"
#include "cli/report/run_record.hpp"
#include "cli/simulate/inputs.hpp"
#include "cli/tools.hpp"

namespace tessera::cli {
namespace {

constexpr std::int64_t kMostOfProfile = 200'000;

struct AdviseCommand {
  std::string input, cluster = "uniform", ranks, json;
  std::vector<std::string> balancers;
  std::uint64_t seed = 1;
};

// A trace says so in its first word; a profile is TOML; what is no file is a generated workload.
Source find_input(const AdviseCommand& c, Study& study) {
  std::error_code ignored;
  std::string first;
  if (std::filesystem::is_regular_file(c.input, ignored)) std::ifstream(c.input) >> first;
  if (first.empty() || first == "tessera-trace") {
    find_workload(c.input, study);
    if (study.trace && study.trace->work.fragments.empty()) throw usage_error(c.input + ": the trace has no fragments");
    Source source;
    if (study.trace && study.trace->times.finished > 0 && !study.trace->times.bars.empty()) {
      const RunRecord r = run_of(*study.trace, c.input);
      source.sentences = sentences(r);
      source.run = fmt::format("{} on {} rank{}, balancer {}", balancer::duration_text(r.length()),
                               r.times().ranks.size(), r.times().ranks.size() == 1 ? "" : "s", r.times().balancer);
    }
    return source;
  }
  try {
    const balancer::Profile profile = balancer::load_profile(c.input, {}, "", true);
    study.workload = c.input;
    study.trace.emplace();
    const std::int64_t every = workload_of(profile, kMostOfProfile, study.trace->work);
    if (study.trace->work.fragments.empty()) throw usage_error(c.input + ": the profile has no fragments");
    return {true, every};
  } catch (const balancer::ProfileError& e) {
    throw usage_error(std::string(e.what()) + " (and it is no trace: those begin with `tessera-trace`)");
  }
}

std::vector<const balancer::PolicyInfo*> find_policies(const AdviseCommand& c) {
  std::vector<const balancer::PolicyInfo*> found;
  std::vector<std::string> known;
  for (const balancer::PolicyInfo& p : balancer::policies()) {
    known.emplace_back(p.name);
    if (c.balancers.empty()) found.push_back(&p);
  }
  for (const std::string& name : c.balancers) {
    found.push_back(balancer::find_policy(name));
    if (found.back() == nullptr) {
      throw usage_error("unknown balancer `" + name + "`" + guess(name, known, "`tessera policies` lists them"));
    }
  }
  return found;
}

// 1, 2, 4, ... and all ranks of the cluster.
std::vector<std::int32_t> find_counts(const AdviseCommand& c, const Study& study) {
  std::vector<std::int32_t> counts;
  if (!c.ranks.empty()) {
    counts = parse_counts(c.ranks, "--ranks");
  } else {
    for (std::int32_t n = 1; n < study.cluster.ranks(); n *= 2) counts.push_back(n);
    counts.push_back(study.cluster.ranks());
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

int run(const AdviseCommand& c) {
  Study study;
  const Source source = find_input(c, study);
  study.cluster = find_cluster(c.cluster);
  study.cluster_name = study.cluster.name;
  study.cluster_asked = c.cluster;
  study.seed = c.seed;
  const std::vector<const balancer::PolicyInfo*> policies = find_policies(c);
  const std::vector<std::int32_t> counts = find_counts(c, study);
  check_output("--json", c.json);

  using Clock = std::chrono::steady_clock;
  auto next = Clock::now() + std::chrono::seconds(3);
  const Progress progress = [&](int done) {
    if (Clock::now() < next) return;
    next = Clock::now() + std::chrono::seconds(5);
    std::fprintf(stderr, "tessera: advise: %d simulations so far\n", done);
  };
  const Advice advice = advise(study, source, policies, counts, progress);
  if (c.json != "-") std::fputs(text_of(study, advice, source).c_str(), stdout);
  write_output("--json", c.json, c.json.empty() ? "" : json_of(study, advice, source));
  return runtime::kExitOk;
}

}  // namespace

void add_advise(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("advise", tool_about("advise"));
  const auto c = std::make_shared<AdviseCommand>();
  sub->add_option("program", c->input,
                  "a trace (run --record), a profile (run --save-groups), or a workload of `tessera simulate --list`")
      ->required()
      ->option_text("TRACE|PROFILE");
  sub->add_option("-c,--cluster", c->cluster, "where: a name of `tessera simulate --list`, or FILE.toml (uniform)")
      ->option_text("CLUSTER");
  sub->add_option("-n,--ranks", c->ranks,
                  "numbers of ranks to try: 2,4,8, or 2..64*2 (1, 2, 4, ... up to the cluster's)")
      ->option_text("N,...");
  sub->add_option("-b,--balancer", c->balancers, "only these (all)")->delimiter(',')->option_text("NAME,...");
  sub->add_option("--seed", c->seed, "of everything random (1)")->option_text("N");
  sub->add_option("--json", c->json, "write the advice as JSON; - is stdout, instead of the text")->option_text("FILE");
  sub->footer(
      "Every figure is simulated: same arguments, same answer. docs/advise.md says what is tried and what the words "
      "mean.\n\n"
      "Examples:\n"
      "  tessera run app.fa -n 4 --record app.trace && tessera advise app.trace --cluster my-cluster.toml\n"
      "  tessera advise app.profile --cluster mustafin --ranks 2..64*2 --balancer central,steal");
  sub->callback([c, &action] { action = [c](const Arguments&) { return run(*c); }; });
}

}  // namespace tessera::cli
