#include <memory>

#include "cli/commands.hpp"
#include "cli/launch_ranks.hpp"
#include "cli/precompiled.hpp"

namespace tessera::cli {

void add_internal(CLI::App& app, Action& action) {
  CLI::App* exec = app.add_subcommand("exec-program", "one rank of `tessera run -n`")->group("");
  const auto program = std::make_shared<std::filesystem::path>();
  exec->add_option("program", *program)->required();
  exec->callback([program, &action] {
    action = [program](const Arguments& arguments) { return exec_program(*program, arguments); };
  });
  CLI::App* headers = app.add_subcommand("precompile-headers", "part of Tessera's own build")->group("");
  headers->callback([&action] { action = [](const Arguments&) { return precompile(); }; });
}

}  // namespace tessera::cli
