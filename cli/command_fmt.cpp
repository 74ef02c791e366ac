#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/output_file.hpp"
#include "compiler/format/format.hpp"
#include "files/whole_file.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

struct FmtCommand {
  std::vector<std::string> files;
  bool check = false;
  compiler::Options translation;
};

// one formats a file; returns the exit code it asks for.
int one(const FmtCommand& c, const std::string& name) {
  fs::path file = name;
  compiler::Options options = c.translation;
  std::error_code ignored;
  if (name == "-") {
    file = "<stdin>";
    options.unsaved[fs::weakly_canonical(file, ignored)] = {std::istreambuf_iterator<char>(std::cin),
                                                            std::istreambuf_iterator<char>()};
  } else {
    check_program(file);
  }
  const compiler::format::Result result = compiler::format::format(file, options);
  if (!result.ok) {
    std::fputs(render_all(result.diagnostics, colour_on_stderr()).c_str(), stderr);
    std::fprintf(stderr, "tessera: %s is left as it is\n", file.c_str());
    return runtime::kExitProgram;
  }
  if (name == "-" && !c.check) {
    std::fwrite(result.text.data(), 1, result.text.size(), stdout);
    return runtime::kExitOk;
  }
  if (!result.changed) return runtime::kExitOk;
  if (c.check) {
    std::fprintf(stderr, "tessera: %s is not formatted\n", file.c_str());
    return runtime::kExitProgram;
  }
  check_output("fmt", file.string());
  const std::string wrong = files::write_whole(file, result.text);
  if (!wrong.empty()) throw environment_error("can't write " + file.string() + ": " + wrong);
  return runtime::kExitOk;
}

int run(const FmtCommand& c) {
  int code = runtime::kExitOk;
  for (const std::string& name : c.files) code = std::max(code, one(c, name));
  return code;
}

}  // namespace

void add_fmt(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("fmt", "put the layout of programs right");
  const auto command = std::make_shared<FmtCommand>();
  sub->add_option("files", command->files, "the files to rewrite; - reads stdin and writes stdout")
      ->option_text("FILE.fa...")
      ->required();
  sub->add_flag("--check", command->check, "write nothing; exit code 1 when a file is not formatted");
  add_translation_options(*sub, command->translation);
  sub->footer(
      "Line breaks stay where they are; comments, strings, directives, macro uses and C++ text are "
      "not\n"
      "touched. A file that does not parse is reported (exit code 1) and left as it is.");
  sub->callback([command, &action] { action = [command](const Arguments&) { return run(*command); }; });
}

}  // namespace tessera::cli
