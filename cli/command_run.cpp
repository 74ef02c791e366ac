#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "cli/allocation.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/launch_ranks.hpp"
#include "cli/mpirun.hpp"
#include "cli/process.hpp"
#include "cli/toolchain.hpp"
#include "runtime/launch/options.hpp"
#include "runtime/transport/launcher.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::cli {
namespace {

constexpr std::int32_t kMostRanks = 4096;

struct RunCommand {
  BuildRequest build;
  runtime::RunOptions options;
  std::optional<std::int32_t> ranks;
  std::string ranks_said;  // by -n
  std::filesystem::path hostfile;
  Launch launch;
  std::optional<std::int32_t> restarts;
};

constexpr std::int32_t kRestarts = 3;  // with a journal

// How many ranks are to be started; nothing: the program runs in this process.
std::optional<std::int32_t> ranks_of(RunCommand& c) {
  if (!c.hostfile.empty()) c.launch.hosts.emplace(c.hostfile);
  if (c.ranks_said == "auto" || (c.ranks_said.empty() && c.launch.hosts)) {
    const Allocation a = c.launch.hosts ? Allocation{c.launch.hosts->slots(), c.hostfile.string()} : allocation();
    if (!c.options.quiet) {
      fmt::print(stderr, "tessera: {} rank{}{}\n", a.ranks, a.ranks == 1 ? "" : "s",
                 a.from.empty() ? ": neither a host file nor a batch job says how many" : ", by " + a.from);
    }
    return a.ranks;
  }
  if (c.ranks_said.empty()) return std::nullopt;
  std::int32_t n = 0;
  const char* const end = c.ranks_said.data() + c.ranks_said.size();
  const auto [at, error] = std::from_chars(c.ranks_said.data(), end, n);
  if (error != std::errc() || at != end) {
    throw usage_error("--ranks: `" + c.ranks_said + "` is no number of ranks, nor `auto`");
  }
  return n;
}

// Everything that can be known to be wrong is, before a compiler starts.
void check(const RunCommand& c) {
  if (c.ranks && *c.ranks < 1) {
    throw usage_error("-n " + std::to_string(*c.ranks) + ": a program runs on at least 1 rank");
  }
  if (c.ranks && *c.ranks > kMostRanks) {
    throw usage_error("-n " + std::to_string(*c.ranks) + ": a program runs on at most " + std::to_string(kMostRanks) +
                      " ranks");
  }
  if (c.ranks && c.options.transport == "inproc") {
    throw usage_error("-n starts ranks as processes, --inproc-ranks as threads: use one of them");
  }
  if (c.ranks && runtime::started_by_mpirun()) {
    throw usage_error("-n " + std::to_string(*c.ranks) +
                      ": already started by mpirun, which says how many ranks there are:"
                      " leave out -n");
  }
  const bool launched = runtime::started_by_launcher() || c.options.transport == "mpi";
  if (c.restarts && (c.options.journal.empty() || (!c.ranks && launched))) {
    throw usage_error(fmt::format("--restarts {}: {}", *c.restarts,
                                  c.options.journal.empty()
                                      ? "without a journal all would be done again; add --journal DIR"
                                      : "whoever has started the ranks would have to start them again"));
  }
  if (c.options.spares > 0 && !c.ranks && !launched && c.options.transport != "inproc") {
    throw usage_error("--spare " + std::to_string(c.options.spares) +
                      ": there is one rank and nobody to stand in for; add -n N");
  }
  if (!c.ranks && launched) return;
  try {
    const std::int32_t here = c.options.transport == "inproc" ? c.options.ranks - c.options.spares : 1;
    launch::check_ranks(c.options, c.ranks.value_or(here));
  } catch (const launch::OptionsError& e) {
    throw usage_error(e.what());
  }
}

// In a step of srun's, whose tasks are to be the ranks.
void check_srun(const RunCommand& c) {
  const char* nodes = std::getenv("SLURM_STEP_NUM_NODES");
  if (nodes != nullptr && std::atoi(nodes) > 1) {
    // mpirun would ask Slurm for another step on the nodes that this one holds, and wait for it for ever.
    throw usage_error(
        fmt::format("-n {}: srun has started this command on {} nodes, and mpirun can't start ranks there until it has "
                    "ended. Leave out -n: "
                    "the run has a rank for each task; or leave out srun",
                    *c.ranks, nodes));
  }
  if (!c.options.quiet && runtime::launcher_size() > 1 && runtime::launcher_rank() == 0) {
    fmt::print(stderr,
               "tessera: warning: srun has started this command {} times, and each of them starts {} ranks of its own: "
               "as many runs of the program. For "
               "one run leave out -n: it has a rank for each task\n",
               runtime::launcher_size(), *c.ranks);
  }
}

// What would end this process in its first moments, and while it compiles, ends it as it will later.
void see_to_signals(const RunCommand& c) {
  if (c.ranks) exits_with(runtime::kExitInterrupted, {SIGINT, SIGTERM, SIGHUP});
  if (!c.options.journal.empty()) exits_with(runtime::kExitContinue, {SIGTERM, SIGHUP});
}

int run(RunCommand& c, const Arguments& arguments) {
  try {
    launch::name_groups(c.options, c.build.program);
  } catch (const launch::OptionsError& e) {
    throw usage_error(e.what());
  }
  c.ranks = ranks_of(c);
  see_to_signals(c);
  check(c);
  check_program(c.build.program);
  if (c.ranks) find_mpirun();
  if (!c.ranks && !c.launch.mpirun_words.empty()) throw usage_error("--mpirun-args: no mpirun is started without -n");
  if (c.ranks && runtime::started_by_srun()) check_srun(c);
  c.build.colour = colour_on_stderr();
  c.build.quiet = c.options.quiet;
  const Built program = build(c.build);
  if (!c.options.quiet && runtime::launcher_rank() == 0) std::fputs(program.warnings.c_str(), stderr);
  c.options.progress = !c.options.quiet && isatty(STDERR_FILENO) != 0;
  c.options.check_inputs = c.options.check_inputs || c.build.debug;
  // Where Tessera itself is compiled with one, it is there.
  const bool preload = !c.build.sanitize.empty() && std::string_view(TESSERA_SANITIZE_FLAGS).empty();
  if (preload) c.launch.sanitizer = find_sanitizer(c.build.sanitize);
  if (c.ranks) {
    c.launch.ranks = *c.ranks + c.options.spares;
    c.launch.restarts = c.options.journal.empty() ? 0 : c.restarts.value_or(kRestarts);
    return run_on_ranks(program.file, c.launch, c.options, arguments);
  }
  if (c.restarts.value_or(0) > 0 && !preload) return run_again(program.file, *c.restarts, c.options, arguments);
  return preload ? run_sanitized(program.file, c.options, arguments, c.launch.sanitizer)
                 : run_here(program.file, c.options, arguments);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("run", "translate, compile and run a program");
  const auto command = std::make_shared<RunCommand>();
  add_build_options(*sub, command->build);
  sub->add_option("-n,--ranks", command->ranks_said,
                  "start this many ranks with mpirun; `auto`: as many as the host file or the batch job has room for; "
                  "without -n the "
                  "program runs in this process")
      ->option_text("N");
  sub->add_option("--hostfile", command->hostfile,
                  "a host file of mpirun, lines like `h1 slots=4`; without -n it says how many ranks there are")
      ->option_text("FILE");
  sub->add_option_function<std::vector<std::string>>(
         "--mpirun-args",
         [command](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) add_words("--mpirun-args", text, command->launch.mpirun_words);
         },
         "more words for mpirun, in front of the program; may be repeated")
      ->option_text("\"WORDS\"")
      ->allow_extra_args(false);
  launch::add_run_options(*sub, command->options);
  sub->add_option(
         "--restarts", command->restarts,
         "with --journal: start the run again when it was killed, or one of its ranks, or a host is lost, at most K "
         "times; with -n 3 unless said otherwise")
      ->option_text("K")
      ->check(CLI::Range(0, 1000))
      ->group("Recovery");
  sub->footer(
      "Words after -- are the program's own arguments, whatever they look like.\n\n"
      "Examples:\n"
      "  tessera run hello.fa                       in this process, a thread per core\n"
      "  tessera run matmul.fa -n 4 -c              4 ranks: 3 workers and the central "
      "coordinator\n"
      "  tessera run matmul.fa -D N=20 -n 4 --balancer steal\n"
      "  tessera run solve.fa kernels.cpp -t 2 -- 100 --tolerance 0.01\n"
      "  tessera run app.fa -n 8 --save-groups app.profile       and next time\n"
      "  tessera run app.fa -n 8 --load-groups app.profile");
  sub->callback(
      [command, &action] { action = [command](const Arguments& arguments) { return run(*command, arguments); }; });
}

}  // namespace tessera::cli
