#include <cstdio>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/run_connection.hpp"

namespace tessera::cli {
namespace {

struct Request {
  std::string verb;  // "drain", "join"
  std::int32_t rank = -1;
  std::optional<std::int32_t> run;
};

int run(const Request& request) {
  const LiveRun run = choose_run(request.run);
  Connection c(run.socket, true);
  c.say(request.verb + " " + std::to_string(request.rank));
  bool accepted = false;
  while (const std::optional<std::string> line = c.hear()) {
    const std::string text = line->substr(std::min<std::size_t>(3, line->size()));
    accepted = line->rfind("ok ", 0) == 0;
    if (!accepted) throw usage_error(text);
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
  }
  if (c.late()) throw usage_error("process " + std::to_string(run.pid) + " " + kSilentRun);
  if (!accepted) throw usage_error("the run ended before it answered");
  return runtime::kExitOk;
}

void add(CLI::App& app, Action& action, const std::string& verb, const std::string& help, const std::string& footer) {
  CLI::App* sub = app.add_subcommand(verb, help);
  const auto request = std::make_shared<Request>();
  request->verb = verb;
  sub->add_option("rank", request->rank, "number of the rank")
      ->option_text("RANK")
      ->required()
      ->check(CLI::Range(0, 1 << 24));
  sub->add_option("--run", request->run,
                  "process of the run, or one that started it (tessera, mpirun); needed when several "
                  "programs run here")
      ->option_text("PID");
  sub->footer(footer);
  sub->callback([request, &action] { action = [request](const Arguments&) { return run(*request); }; });
}

}  // namespace

void add_members(CLI::App& app, Action& action) {
  add(app, action, "drain", "have a rank of a running program give its work away and rest",
      "Returns when the rank has given everything away. docs/nodes.md says what stays.\n\n"
      "  tessera run prog.fa -n 4 --spare 1 &\n"
      "  tessera drain 2");
  add(app, action, "join", "have a spare, or a rank that was drained, take part",
      "  tessera run prog.fa -n 4 --spare 1 &\n"
      "  tessera join 4");
}

}  // namespace tessera::cli
