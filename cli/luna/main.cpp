// `luna`: the command that scripts of LuNA users call. It compiles and runs as `tessera run` does;
// its own are the option names, exit codes 0 and 1 only, and silence about what was not asked for.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/install_file.hpp"
#include "cli/launch_ranks.hpp"
#include "cli/luna/kept_build.hpp"
#include "cli/luna/options.hpp"
#include "cli/output_file.hpp"
#include "files/whole_file.hpp"
#include "runtime/launch/options.hpp"
#include "runtime/launch/program_main.hpp"
#include "runtime/launch/words.hpp"
#include "runtime/node/stuck.hpp"
#include "runtime/transport/launcher.hpp"
#include "runtime/transport/transport.hpp"

namespace fs = std::filesystem;

namespace tessera::cli::luna {
namespace {

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }

bool is_library(const fs::path& file) {
  char magic[4] = {};
  std::ifstream(file, std::ios::binary).read(magic, sizeof magic);
  return std::memcmp(magic, "\177ELF", sizeof magic) == 0;
}

runtime::RunOptions run_options(const Options& o) {
  try {
    runtime::RunOptions run = launch::parse_environment_options();
    if (!o.central.empty()) {
      const char* const set = std::getenv("TESSERA_OPTIONS");
      run = launch::parse_options((set == nullptr ? "" : std::string(set) + " ") + launch::join_words(o.central));
    }
    launch::name_groups(run, o.build.program);
    if (o.threads) run.threads = *o.threads;
    // Without -b nothing moves, and every rank executes fragments, as it always was.
    if (o.balance) run.balancer = "steal";
    if (run.balancer.empty()) run.balancer = "none";
    if (!o.recovery.empty()) {
      const runtime::RunOptions said = launch::parse_options(launch::join_words(o.recovery));
      if (!said.journal.empty()) run.journal = said.journal;
      if (said.journal_interval > 0) run.journal_interval = said.journal_interval;
    }
    // A run with a journal says where it goes on, and when it can't write.
    run.quiet = o.quiet || (!o.verbose && run.journal.empty());
    if (o.restarts > 0 && run.journal.empty())
      throw usage_error("--restarts: without a journal all would be done again; add --journal DIR");
    if (o.restarts > 0 && runtime::started_by_launcher())
      throw usage_error("--restarts: whoever has started the ranks would have to start them again");
    if (!runtime::started_by_launcher() && run.transport == "auto") launch::check_ranks(run, 1);
    return run;
  } catch (const launch::OptionsError& e) {
    throw usage_error(e.what());
  }
}

// run runs the library, then says what -t and -u ask for.
int run(const fs::path& library, const Options& o, const runtime::RunOptions& options) {
  launch::prepare_process();
  runtime::report_as_luna();
  const abi::Program& program = load_program(library);
  const std::vector<std::string> ours = options_among(o.arguments);
  if (program.main_params != o.arguments.size() && !ours.empty() && runtime::launcher_rank() == 0) {
    std::fprintf(stderr,
                 "luna: note: `%s` stands behind %s, so it is an argument of the program; options of "
                 "luna stand before it\n",
                 ours[0].c_str(), o.build.program.c_str());
  }
  const auto from = std::chrono::steady_clock::now();
  const int code =
      o.restarts > 0 ? run_again(library, o.restarts, options, o.arguments) : run_here(library, options, o.arguments);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - from;
  if (o.time && runtime::launcher_rank() == 0) std::fprintf(stderr, "Execution time: %.3f s\n", time.count());
  if (o.usage) {
    rusage used{};
    getrusage(o.restarts > 0 ? RUSAGE_CHILDREN : RUSAGE_SELF, &used);
    const double user = seconds(used.ru_utime);
    const double system = seconds(used.ru_stime);
    std::fprintf(stderr, "CPU usage of rank %d: %.0f %% of a core (%.3f s in the program, %.3f s in the system)\n",
                 runtime::launcher_rank(), 100 * (user + system) / time.count(), user, system);
  }
  return code;
}

int build_and_run(const Options& o) {
  const runtime::RunOptions options = run_options(o);
  check_program(o.build.program);
  if (runtime::launcher_rank() == 0) check_output("--output-file", o.output_file.string());
  if (is_library(o.build.program)) return run(fs::absolute(o.build.program), o, options);

  BuildRequest request = o.build;
  request.colour = colour_on_stderr();
  request.quiet = o.quiet;
  const bool first = runtime::launcher_rank() == 0;
  if (o.verbose && first) std::fprintf(stderr, "luna: compiling %s\n", o.build.program.c_str());
  const Built built = build(request);
  if (!o.quiet && first) std::fputs(built.warnings.c_str(), stderr);
  fs::path library = built.file;
  if (first) {
    if (!o.output_file.empty()) install_file(built.file, o.output_file, "--output-file");
    if (o.keep || o.compile_only || !o.build_folder.empty()) library = keep_build(o, built.file);
    const bool tell = o.verbose || (o.keep && !o.quiet);
    if (tell) std::fprintf(stderr, "luna: the program is in %s\n", library.c_str());
  }
  if (o.compile_only) {
    std::error_code ignored;
    std::vector<std::string> words = {fs::read_symlink("/proc/self/exe", ignored).string()};
    for (const std::string& w : run_words(o)) words.push_back(w);
    words.push_back(library.string());
    words.insert(words.end(), o.arguments.begin(), o.arguments.end());
    if (first) std::printf("%s\n", launch::join_words(words).c_str());
  }
  // Run from the cache: the kept copy may be replaced meanwhile by another build.
  return o.compile_only || o.library_only ? runtime::kExitOk : run(built.file, o, options);
}

// Text of mistakes as this command's own.
std::string spoken_by_luna(std::string text) {
  const std::string name = "tessera: ";
  if (text.rfind(name, 0) == 0) text = "luna: " + text.substr(name.size());
  if (text.empty() || text.back() != '\n') text += '\n';
  return text;
}

// What the translator says of programs that can't finish: data never assigned, or in a circle.
bool cannot_finish(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(": error: ") == std::string::npos) continue;
    for (const char* code : {"[T301]", "[T311]", "[T312]", "[T316]"}) {
      if (line.find(code) != std::string::npos) return true;
    }
  }
  return false;
}

// How run_again() starts this command.
bool runs_again(const std::vector<std::string>& words) {
  return words.size() > 2 && words[0] == "exec-program" && words[2] == "--";
}

int main(const std::vector<std::string>& words) {
  try {
    if (runs_again(words)) return exec_program(words[1], {words.begin() + 3, words.end()});
    const std::optional<Options> options = parse(words);
    const int code = options ? build_and_run(*options) : runtime::kExitOk;
    const std::string lost = files::stdout_error();
    if (code == runtime::kExitOk && !lost.empty()) throw environment_error(lost);
    return code == runtime::kExitOk || code == runtime::kExitContinue ? code : 1;
  } catch (const Failure& e) {
    runtime::let_rank_0_speak();
    std::fputs(spoken_by_luna(e.what()).c_str(), stderr);
    // Tools look for this text, which the old command printed when such a program hung.
    if (cannot_finish(e.what())) {
      std::fputs("luna: such a program used to end with: System is idle, but unfinished CFs\n", stderr);
    }
  } catch (const std::exception& e) {
    runtime::let_rank_0_speak();
    std::fprintf(stderr, "luna: error: %s\n", e.what());
  }
  return 1;
}

}  // namespace
}  // namespace tessera::cli::luna

int main(int argc, char** argv) { return tessera::cli::luna::main({argv + 1, argv + argc}); }
