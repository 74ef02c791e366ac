#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/launch_ranks.hpp"
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
};

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
  if (c.ranks && std::getenv("OMPI_UNIVERSE_SIZE") != nullptr) {  // by this mpirun knows it, too
    throw usage_error("-n " + std::to_string(*c.ranks) +
                      ": already started by mpirun, which says how many ranks there are:"
                      " leave out -n");
  }
  const bool launched = runtime::started_by_launcher() || c.options.transport == "mpi";
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

int run(RunCommand& c, const Arguments& arguments) {
  check(c);
  check_program(c.build.program);
  if (c.ranks) find_mpirun();
  if (c.ranks && !c.options.quiet && runtime::started_by_srun() && runtime::launcher_rank() == 0) {
    fmt::print(stderr,
               "tessera: warning: srun has started this command {} times, and each of them starts {} ranks of its own: "
               "as many "
               "runs of the program. For one run leave out -n: it has a rank for each task\n",
               runtime::launcher_size(), *c.ranks);
  }
  c.build.colour = colour_on_stderr();
  c.build.quiet = c.options.quiet;
  const Built program = build(c.build);
  if (!c.options.quiet && runtime::launcher_rank() == 0) std::fputs(program.warnings.c_str(), stderr);
  c.options.progress = !c.options.quiet && isatty(STDERR_FILENO) != 0;
  c.options.check_inputs = c.options.check_inputs || c.build.debug;
  // Where Tessera itself is compiled with one, it is there.
  const bool preload = !c.build.sanitize.empty() && std::string_view(TESSERA_SANITIZE_FLAGS).empty();
  const std::filesystem::path sanitizer = preload ? find_sanitizer(c.build.sanitize) : std::filesystem::path();
  if (c.ranks) return run_on_ranks(program.file, *c.ranks + c.options.spares, c.options, arguments, sanitizer);
  return preload ? run_sanitized(program.file, c.options, arguments, sanitizer)
                 : run_here(program.file, c.options, arguments);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("run", "translate, compile and run a program");
  const auto command = std::make_shared<RunCommand>();
  add_build_options(*sub, command->build);
  sub->add_option("-n,--ranks", command->ranks,
                  "start this many ranks with mpirun; without -n the program runs in this process")
      ->option_text("N");
  launch::add_run_options(*sub, command->options);
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
