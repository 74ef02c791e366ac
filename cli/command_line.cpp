// Parses, runs one subcommand, and is the only place that prints its mistakes and picks the exit code.
#include "cli/command_line.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/launch_ranks.hpp"
#include "cli/tools.hpp"
#include "files/nearest.hpp"
#include "files/whole_file.hpp"
#include "runtime/launch/options.hpp"
#include "runtime/transport/launcher.hpp"
#include "version.hpp"

namespace tessera::cli {
namespace {

constexpr const char* kAbout =
    "Runs fragmented programs: a page of .fa says which pieces of data and computation there are,\n"
    "sequential C++ kernels do the work, and threads, ranks and their balance are taken care of.";

constexpr const char* kExamples =
    "Examples:\n"
    "  tessera run hello.fa               translate, compile (once), run\n"
    "  tessera run matmul.fa -n 4 -c      on 4 MPI ranks, balanced by a central coordinator\n"
    "  tessera check matmul.fa            diagnostics only\n"
    "  tessera explain T206               what a diagnostic means\n"
    "  tessera build matmul.fa -o matmul  a program for mpirun or srun\n"
    "  tessera policies central           what the balancer can be told\n"
    "  tessera simulate -w matmul -n 2..64*2   which balancer, on how many ranks?\n\n"
    "`tessera COMMAND --help` says more. Exit codes: 0 success, 1 the program is wrong, 2 the command\n"
    "line, a file or an argument is wrong, 3 no compiler or MPI, 130 interrupted.";

constexpr const char* kReport = "This is a bug in Tessera: please report it, with the program and this message.\n";

// A crash of the command itself. While a program runs, runtime/report/crash.cpp takes over.
void on_crash(int) {
  const auto say = [](const char* text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); };
  if (in_global_objects) {
    say("tessera: error: a crash in the constructor or destructor of a global object of the kernels [T410]\n");
    _exit(runtime::kExitProgram);
  }
  say("tessera: internal error: the command crashed\n");
  say(kReport);
  _exit(runtime::kExitInternal);
}

void install_crash_handler() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  static char stack[16 * 1024];  // the usual one may be what has run out
  stack_t s{};
  s.ss_sp = stack;
  s.ss_size = sizeof stack;
  sigaltstack(&s, nullptr);
  struct sigaction action {};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK;
  for (const int k : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(k, &action, nullptr);
#endif
}

// What is wrong with the words, with the option or command that was probably meant.
std::string complaint(const CLI::App& app, const CLI::ParseError& e, const Arguments& words) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty() && words.front()[0] != '-') {
    std::vector<std::string> known;
    for (const CLI::App* s : app.get_subcommands({})) {
      if (!s->get_group().empty()) known.push_back(s->get_name());
    }
    const bool program = std::filesystem::path(words.front()).extension() == ".fa";
    std::string guess = program ? "run " + words.front() : nearest(words.front(), known);
    const auto begun =
        std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.starts_with(words.front()); });
    if (guess.empty() && begun != known.end()) guess = *begun;
    return "unknown command `" + words.front() + "`" +
           (guess.empty() ? "" : "; did you mean `" + std::string(program ? "tessera " : "") + guess + "`?");
  }
  if (e.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return e.what();
  const CLI::App& at = chosen.empty() ? app : *chosen.front();
  const std::vector<std::string> extra = at.remaining();
  const std::string word = extra.empty() ? words.front() : extra.front();
  std::vector<std::string> known;
  for (const CLI::Option* o : at.get_options()) {
    for (const std::string& name : o->get_lnames()) known.push_back("--" + name);
  }
  const std::string guess = nearest(word.substr(0, word.find('=')), known);
  if (!guess.empty()) return "unknown option `" + word + "`; did you mean `" + guess + "`?";
  return (word[0] == '-' ? "unknown option `" : "a word too many: `") + word + "`" +
         (chosen.empty() ? "" : "; arguments of the program itself stand after --");
}

int parse_and_run(Arguments words, AddCommands* add) {
  if (!words.empty() && words.front() == "help") {  // help run: run --help
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  CLI::App app(kAbout, "tessera");
  app.footer(kExamples);
  app.set_version_flag("--version", std::string("tessera ") + TESSERA_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  Action action;
  const Arguments given = words;
  add(app, action, given);

  const auto dashes = std::find(words.begin(), words.end(), "--");
  const Arguments arguments(dashes == words.end() ? dashes : dashes + 1, words.end());
  words.erase(dashes, words.end());
  words = launch::normalise_flags(std::move(words));
  try {
    Arguments reversed(words.rbegin(), words.rend());  // CLI11 takes them from the back
    app.parse(std::move(reversed));
    for (const CLI::App* chosen : app.get_subcommands()) launch::check_given(*chosen);
  } catch (const CLI::Success& e) {  // --help, --version
    return app.exit(e, std::cout, std::cerr);
  } catch (const CLI::ParseError& e) {
    if (words.empty()) {
      std::cerr << app.help();
      return runtime::kExitUsage;
    }
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    const std::string command = chosen.empty() ? "tessera" : "tessera " + chosen.front()->get_name();
    throw usage_error(complaint(app, e, words) + "\n(" + command + " --help shows what can be given)");
  }
  return action(arguments);
}

}  // namespace

void add_commands(CLI::App& app, Action& action, const Arguments& words) {
  add_run(app, action);
  add_build(app, action);
  add_check(app, action);
  add_explain(app, action);
  add_fmt(app, action);
  add_policies(app, action);
  add_members(app, action);
  add_replay(app, action);
  add_journal(app, action);
  for (const Tool& t : kTools) {
    CLI::App* sub = app.add_subcommand(t.name, t.about)->prefix_command();
    sub->set_help_flag();  // the tool's own
    sub->callback([&words, &action] { action = [&words](const Arguments&) -> int { become_tools(words); }; });
  }
  add_internal(app, action);
}

int command_line(int argc, char** argv, AddCommands* add) {
  install_crash_handler();
  // A closed standard stream would be the next file that somebody opens. What is written to one that is only read fails
  // as it would.
  while (fcntl(STDIN_FILENO, F_GETFD) < 0 || fcntl(STDOUT_FILENO, F_GETFD) < 0 || fcntl(STDERR_FILENO, F_GETFD) < 0) {
    if (open("/dev/null", O_RDONLY) < 0) break;
  }
  signal(SIGCHLD, SIG_DFL);  // who started us may have it ignored: then nobody is told how a child has ended
  try {
    const int code = parse_and_run({argv + 1, argv + argc}, add);
    const std::string lost = files::stdout_error();
    if (lost.empty() || code == runtime::kExitEnvironment) return code;
    throw environment_error(lost);
  } catch (const Failure& e) {
    runtime::let_rank_0_speak();
    std::string text = e.what();
    if (text.empty() || text.back() != '\n') text += '\n';
    std::fputs(text.c_str(), stderr);
    return e.exit_code();
  } catch (const std::logic_error& e) {
    std::fprintf(stderr, "tessera: internal error: %s\n%s", e.what(), kReport);
    return runtime::kExitInternal;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tessera: error: %s\n", e.what());
    return runtime::kExitEnvironment;
  }
}

}  // namespace tessera::cli
