#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/failure.hpp"

namespace tessera::cli {
namespace {

struct CheckCommand {
  std::filesystem::path program;
  compiler::Options translation;
  bool emit = false;
};

int run(const CheckCommand& c) {
  check_program(c.program);
  const compiler::Output out = compiler::translate(c.program, c.translation);
  std::fputs(render_all(out.diagnostics, colour_on_stderr()).c_str(), stderr);
  std::fputs(out.dump.c_str(), stdout);
  if (c.emit) std::fputs((out.program_cpp + out.kernels_cpp).c_str(), stdout);
  return out.ok ? runtime::kExitOk : runtime::kExitProgram;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("check", "say what is wrong with a program, run nothing");
  const auto command = std::make_shared<CheckCommand>();
  sub->add_option("program", command->program, "the fragmented program")
      ->option_text("PROG.fa")
      ->required();
  add_translation_options(*sub, command->translation);
  sub->add_option("--dump-after", command->translation.dump_after,
                  "print the block program after this pass of the translator")
      ->option_text("PASS")
      ->group("Looking inside");
  sub->add_flag("--emit-cpp", command->emit, "print the C++ that the program is translated to")
      ->group("Looking inside");
  sub->footer("Exit code 0 when the program has no errors, else 1.");
  sub->callback([command, &action] { action = [command](const Arguments&) { return run(*command); }; });
}

}  // namespace tessera::cli
