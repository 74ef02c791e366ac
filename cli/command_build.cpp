#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/install_file.hpp"
#include "runtime/launch/options.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

struct BuildCommand {
  BuildRequest build;
  fs::path output;
  bool quiet = false;
};

int run(BuildCommand& c) {
  check_program(c.build.program);
  if (c.output.empty()) c.output = c.build.program.stem();
  std::error_code ignored;
  if (fs::equivalent(c.output, c.build.program, ignored)) {
    throw usage_error("-o: " + c.output.string() + " is the program itself");
  }
  try {
    launch::check_writable(c.output, "-o");
  } catch (const launch::OptionsError& e) {
    throw usage_error(e.what());
  }
  c.build.colour = colour_on_stderr();
  c.build.quiet = c.quiet;
  c.build.target = Target::executable;
  const Built program = build(c.build);
  if (!c.quiet) std::fputs(program.warnings.c_str(), stderr);
  install_file(program.file, c.output, "-o");
  return runtime::kExitOk;
}

}  // namespace

void add_build(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("build", "translate and compile a program that starts by itself");
  const auto command = std::make_shared<BuildCommand>();
  add_build_options(*sub, command->build);
  sub->add_option("-o,--output", command->output, "where to put it; default: the program's name here")
      ->option_text("FILE");
  sub->add_flag("-q,--quiet", command->quiet, "no warnings");
  sub->footer(
      "The program runs by itself or under mpirun or srun. All of its arguments are its own; "
      "options of\n"
      "the run (those of `tessera run`) come from the environment variable TESSERA_OPTIONS.\n\n"
      "Examples:\n"
      "  tessera build hello.fa -o hello && ./hello\n"
      "  TESSERA_OPTIONS='--balancer central -t 2' mpirun -n 4 ./matmul 10");
  sub->callback([command, &action] { action = [command](const Arguments&) { return run(*command); }; });
}

}  // namespace tessera::cli
