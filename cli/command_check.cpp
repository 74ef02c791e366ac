#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/diagnostics_format.hpp"
#include "cli/failure.hpp"

namespace tessera::cli {
namespace {

struct CheckCommand {
  std::filesystem::path program;
  compiler::Options translation;
  std::string format = "text";
  bool emit = false;
};

int run(const CheckCommand& c) {
  check_program(c.program);
  if (c.format != "text" && (c.emit || !c.translation.dump_after.empty())) {
    throw usage_error("--format " + c.format + " writes to stdout, and so does " +
                      (c.emit ? "--emit-cpp" : "--dump-after") + ": use one of them");
  }
  const compiler::Output out = compiler::translate(c.program, c.translation);
  if (c.format == "json") {
    std::fputs(as_json(out.diagnostics).c_str(), stdout);
  } else if (c.format == "sarif") {
    std::fputs(as_sarif(out.diagnostics).c_str(), stdout);
  } else {
    std::fputs(render_all(out.diagnostics, colour_on_stderr()).c_str(), stderr);
  }
  std::fputs(out.dump.c_str(), stdout);
  if (c.emit) {
    std::fputs(out.program_cpp.c_str(), stdout);
    for (const std::string& part : out.program_parts) std::fputs(part.c_str(), stdout);
    std::fputs(out.kernels_cpp.c_str(), stdout);
  }
  return out.ok ? runtime::kExitOk : runtime::kExitProgram;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("check", "say what is wrong with a program, run nothing");
  const auto command = std::make_shared<CheckCommand>();
  sub->add_option("program", command->program, "the fragmented program")->option_text("PROG.fa")->required();
  add_translation_options(*sub, command->translation);
  sub->add_option("--format", command->format, "text on stderr (the default), or json or sarif (2.1.0) on stdout")
      ->option_text("FORMAT")
      ->check(CLI::IsMember({"text", "json", "sarif"}));
  sub->add_flag("--library", command->translation.called,
                "another program calls it (docs/library.md): `main` may have values and names");
  sub->add_option("--dump-after", command->translation.dump_after,
                  "print the block program after this pass of the translator")
      ->option_text("PASS")
      ->group("Looking inside");
  sub->add_flag("--emit-cpp", command->emit, "print the C++ that the program is translated to")
      ->group("Looking inside");
  sub->footer(
      "Exit code 0 when the program has no errors, else 1. Warnings are on by default.\n\n"
      "Examples:\n"
      "  tessera check app.fa --strict                    for a test: warnings fail too\n"
      "  tessera check app.fa -Wno-macro-redefined        without this warning\n"
      "  tessera check app.fa --format sarif > app.sarif  for code scanners\n"
      "  tessera explain T206                             what a code means");
  sub->callback([command, &action] { action = [command](const Arguments&) { return run(*command); }; });
}

}  // namespace tessera::cli
