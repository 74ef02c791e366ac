// tessera-tools: see cli/tools.hpp.
#include "cli/command_line.hpp"
#include "cli/commands.hpp"

namespace {

void add_tools(CLI::App& app, tessera::cli::Action& action, const tessera::cli::Arguments&) {
  using namespace tessera::cli;
  add_lsp(app, action);
  add_simulate(app, action);
  add_advise(app, action);
  add_report(app, action);
  add_status(app, action);
  add_export(app, action);
}

}  // namespace

int main(int argc, char** argv) { return tessera::cli::command_line(argc, argv, add_tools); }
