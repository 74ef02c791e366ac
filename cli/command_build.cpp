#include <algorithm>
#include <cctype>
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
  bool library = false;
};

// NAME of libNAME.so, which a C++ program calls it by.
std::string name_of_library(const fs::path& file) {
  const std::string stem = file.stem().string();
  std::string name = stem.starts_with("lib") ? stem.substr(3) : "";
  const bool word =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (file.extension() == ".so" && !name.empty() && word && std::isdigit(static_cast<unsigned char>(name[0])) == 0)
    return name;
  throw usage_error(
      "-o: a library is called lib<NAME>.so, where <NAME> is what C++ calls it by: letters, digits and _; not " +
      file.filename().string());
}

int run(BuildCommand& c) {
  check_program(c.build.program);
  c.build.target = c.library ? Target::library : Target::executable;
  if (c.library) {
    c.build.translation.called = true;
    if (c.output.empty()) c.output = "lib" + c.build.program.stem().string() + ".so";
    c.build.library_name = name_of_library(c.output);
  }
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
  sub->add_flag("--library", command->library, "make lib<NAME>.so, which other programs call (docs/library.md)");
  sub->add_flag("-q,--quiet", command->quiet, "no warnings");
  sub->footer(
      "The program runs by itself or under mpirun or srun. All of its arguments are its own; "
      "options of\n"
      "the run (those of `tessera run`) come from the environment variable TESSERA_OPTIONS.\n\n"
      "Examples:\n"
      "  tessera build hello.fa -o hello && ./hello\n"
      "  tessera build --library heat.fa -o libheat.so\n"
      "  TESSERA_OPTIONS='--balancer central -t 2' mpirun -n 4 ./matmul 10");
  sub->callback([command, &action] { action = [command](const Arguments&) { return run(*command); }; });
}

}  // namespace tessera::cli
