#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "compiler/catalogue/catalogue.hpp"
#include "files/nearest.hpp"

namespace tessera::cli {
namespace {

struct ExplainCommand {
  std::string code;
  bool markdown = false;
};

int run(const ExplainCommand& c) {
  std::string text;
  if (c.markdown) {
    text = compiler::catalogue_page();
  } else if (c.code.empty()) {
    text = compiler::catalogue_list() + "\n`tessera explain CODE` says more about one of them.\n";
  } else {
    const compiler::Entry* entry = compiler::find_entry(c.code);
    if (entry == nullptr) {
      std::vector<std::string> names;
      for (const compiler::Entry& e : compiler::catalogue()) names.emplace_back(e.name);
      const std::string guess = nearest(c.code, names);
      throw usage_error("there is no diagnostic `" + c.code + "`" +
                        (guess.empty() ? "" : "; did you mean `" + guess + "`?") +
                        " (`tessera explain` lists them all)");
    }
    text = compiler::explanation(*entry);
  }
  std::fputs(text.c_str(), stdout);
  return runtime::kExitOk;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  CLI::App* sub = app.add_subcommand("explain", "say what a diagnostic means and what to do about it");
  const auto command = std::make_shared<ExplainCommand>();
  sub->add_option("code", command->code, "a code or a name; without one, all are listed")->option_text("CODE");
  sub->add_flag("--markdown", command->markdown)->group("");  // docs/diagnostics.md
  sub->footer("Example: tessera explain T301");
  sub->callback([command, &action] { action = [command](const Arguments&) { return run(*command); }; });
}

}  // namespace tessera::cli
