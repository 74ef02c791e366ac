#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "cli/commands.hpp"
#include "cli/lsp/server.hpp"
#include "cli/tools.hpp"

namespace tessera::cli {

void add_lsp(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("lsp", tool_about("lsp"));
  const auto options = std::make_shared<compiler::Options>();
  add_translation_options(*sub, *options);
  sub->footer("docs/editor.md says how editors are told to start it.");
  sub->callback([options, &action] {
    action = [options](const Arguments&) -> int {
      signal(SIGPIPE, SIG_IGN);  // an editor that goes away is seen where it is written to
      const int code = lsp::serve(STDIN_FILENO, STDOUT_FILENO, *options);
      _exit(code);  // the reader may still wait for input
    };
  });
}

}  // namespace tessera::cli
