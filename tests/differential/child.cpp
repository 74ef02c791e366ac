#include "child.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "balancer/random.hpp"
#include "configurations.hpp"
#include "growth.hpp"
#include "recorded.hpp"
#include "recovery.hpp"
#include "runtime/data/happens.hpp"
#include "runtime/fragment/horizon.hpp"
#include "runtime/journal/folder.hpp"
#include "runtime/memory/pool.hpp"
#include "runtime/run.hpp"
#include "runtime/work/lead.hpp"
#include "tests/protocol/broken.hpp"
#include "told_text.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace fs = std::filesystem;

namespace {
tessera::differential::ToldText told;

std::atomic<int> rests{0};
int longest_rest_us = 0, most_rests = 0;  // of the configuration
}  // namespace

// The kernels of the programs print by this (tests/reference/kernels.hpp).
extern "C" void tessera_test_line(const char* line) { told.print(line); }

// ... and begin by this. Some rest and some don't, in no order: the balancer takes none of them for short.
extern "C" void tessera_test_rest() {
  if (longest_rest_us == 0) return;
  const int n = rests.fetch_add(1, std::memory_order_relaxed);
  tessera::balancer::Random random(static_cast<std::uint64_t>(n));
  if (n >= most_rests || random.below(2) == 0) return;
  usleep(static_cast<useconds_t>(random.below(static_cast<std::uint64_t>(longest_rest_us))));
}

#ifdef __SANITIZE_THREAD__
// The first report ends the process, and is told with the program and the configuration.
extern "C" const char* __tsan_default_options() { return "halt_on_error=1"; }
#endif

namespace tessera::differential {
namespace {

// One whole run in so many is made twice.
constexpr std::size_t kTwice = 10;

// leaks says whether memory is lost by now; a child that ends by _exit is not looked at otherwise.
bool leaks() {
#ifdef __SANITIZE_ADDRESS__
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

void break_machine(const Plan& plan) {
  static const std::vector<protocol::Broken> machines = protocol::broken_machines();
  if (plan.broken != 0) runtime::broken_step = &machines.at(plan.broken - 1).step;
}

std::atomic<std::size_t> left = 0;      // in the tables of the last run
std::atomic<std::size_t> homeless = 0;  // ... at home, though their scopes have ended
std::atomic<std::int64_t> blocks = 0;   // given out by the runtime and not given back
std::atomic<std::size_t> swept = 0;     // by it

struct Ran {
  int code = 0;
  std::string kept;  // of what it has allocated; nothing: all is free
  std::uint64_t trace = 0;
  std::string untrue;  // of its record
};

// What comes to a rank that leaves is passed on, and is no longer moved by the balancer.
bool all_moves_count(const Configuration& c) { return c.name.find("leave") == std::string::npos; }

// Where what a run leaves goes.
Configuration writing(Configuration c, const fs::path& report) {
  c.options.summary_json = report.string() + ".summary";
  fs::remove(c.options.summary_json);
  if (!c.options.record.empty()) c.options.record = report.string() + ".trace";
  if (!c.options.journal.empty()) {
    c.options.journal = report.string() + ".journal";
    fs::remove_all(c.options.journal);
  }
  return c;
}

// A whole run that does not end leaves threads behind that are in the middle of something: the process is done.
Ran run_once(const abi::Program& program, const Configuration& c, const std::vector<std::string>& arguments,
             const fs::path& transcript = {}) {
  told.clear();
  left = 0;
  runtime::left_in_tables = &left;
  homeless = 0;
  runtime::left_at_homes = &homeless;
  runtime::blocks_out = &blocks;
  swept = 0;
  runtime::found_dead = &swept;
  runtime::least_to_sweep = c.least_to_sweep;
  runtime::most_ahead = c.most_ahead;
  const std::int64_t records_before = runtime::records_out(), blocks_before = blocks;
  const auto kept = [&]() -> std::string {
    const std::int64_t records = runtime::records_out() - records_before, more = blocks - blocks_before;
    if (records == 0 && more == 0) return "";
    return std::to_string(records) + " records and " + std::to_string(more) + " blocks of memory were never freed\n";
  };
  if (!c.world) {
    const int code = runtime::run(program, c.options, arguments);
    return {code, kept(), 0, {}};
  }
  whole::Settings settings = *c.world;
  settings.told = !transcript.empty();
  Recorded recorded;
  if (!c.options.record.empty()) recorded.watch(settings);
  whole::World world(settings);
  Ran ran;
  const whole::End end = world.run([&] { ran.code = runtime::run(program, c.options, arguments); });
  if (settings.told) {
    std::ofstream out(transcript);
    for (const std::string& line : world.transcript()) out << line << '\n';
    out << (end == whole::End::done ? "the end\n" : world.standing());
  }
  ran.trace = world.trace();
  if (end == whole::End::done) {
    ran.kept = kept();
    if (ran.code == 0 && !c.options.record.empty())
      ran.untrue = recorded.untrue(program, c.options.record, c.options.summary_json, all_moves_count(c));
    return ran;
  }
  if (end == whole::End::died || (settings.dies != whole::Span::max() && world.living_ended())) {
    ran.code = kDied;
    return ran;
  }
  if (end == whole::End::stuck && world.living_ended()) _exit(0);
  std::fprintf(stderr, "the run %s %s", end == whole::End::stuck ? "is stuck" : "goes on", world.standing().c_str());
  _exit(1);
}

const abi::Program& program_in(void* library, std::uint64_t seed) {
  using Entry = const abi::Program* (*)();
  return *reinterpret_cast<Entry>(dlsym(library, ("tessera_program_" + std::to_string(seed)).c_str()))();
}

// What is wrong with how the run has ended; nothing: it is right.
std::string wrong_with(const Case& c, const Configuration& configuration, const Ran& ran, const fs::path& said) {
  const int code = ran.code;
  std::vector<std::string> printed = told.lines();
  std::sort(printed.begin(), printed.end());
  std::string what;
  const bool right = c.expected.end == reference::Outcome::End::finished;
  if (code != (right ? 0 : 1)) what = "exit code " + std::to_string(code) + "\n" + read(said);
  if (right && printed != c.expected.lines) what += difference(c.expected.lines, printed);
  // Scopes free what is theirs. What is left had more uses counted than there were.
  if (what.empty() && right && configuration.options.ranks == 1 && left != 0) {
    what = std::to_string(left) + " data fragments were never freed\n";
  }
  if (what.empty() && right && homeless != 0) {
    what = std::to_string(homeless) + " data fragments were never freed at their home\n";
  }
  return what.empty() ? ran.kept : what;
}

// The rank that crashes takes the process along when the others have found out.
std::string run_crashing(const abi::Program& program, const Configuration& c, const Case& of, const fs::path& said) {
  const pid_t child = fork();
  if (child == 0) _exit(run_once(program, c, of.arguments).code);
  int status = 0;
  waitpid(child, &status, 0);
  const std::string text = read(said);
  const std::string rank = "rank " + std::to_string(c.world->absences.front().rank);
  const bool ended =
      WIFEXITED(status) &&
      (WEXITSTATUS(status) == 0 || (WEXITSTATUS(status) == 1 && of.expected.end != reference::Outcome::End::finished));
  const bool told = WIFEXITED(status) && WEXITSTATUS(status) == runtime::kExitEnvironment &&
                    text.find("silent") != std::string::npos &&
                    (text.find(rank) != std::string::npos || text.find("a rank has") != std::string::npos);
  return ended || told ? "" : "status " + std::to_string(status) + "\n" + text;
}

}  // namespace

void run_part(const abi::Program& program, const Configuration& c, const std::vector<std::string>& arguments,
              const Lines& lines) {
  // What is skipped counts no uses: where it does not flow (Journal::flows), what others are given may stay.
  const bool may_stay = !program.deletes && !runtime::journal::files_of(c.options.journal).empty();
  told.capture();
  const Ran ran = run_once(program, c, arguments);
  int code = ran.code;
  told.pass_on(lines.printed, lines.again, c.options.journal, code == kDied ? lines.killed : 0);
  if (code == 0 && c.options.ranks == 1 && left != 0 && !may_stay) {
    std::fprintf(stderr, "%zu data fragments were never freed\n", left.load());
    code = 1;
  }
  if (code == 0 && !ran.kept.empty()) {
    std::fputs(ran.kept.c_str(), stderr);
    code = 1;
  }
  _exit(code);
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// note_moves adds what the summary tells of the run, and says what in it can't be true.
std::string note_moves(const fs::path& summary, const Configuration& c, Progress& progress) {
  const auto text = nlohmann::json::parse(read(summary), nullptr, false);
  if (text.is_discarded()) return "";  // it ended before there was one
  std::size_t moved = 0, came = 0;
  for (const auto& rank : text.at("ranks")) {
    moved += rank.at("moved_out").get<std::size_t>();
    came += rank.at("moved_in").get<std::size_t>();
  }
  progress.balanced = progress.balanced + (text.at("balancer") == "none" ? 0 : 1);
  progress.moving = progress.moving + (moved > 0 ? 1 : 0);
  progress.moved = progress.moved + moved;
  if (came == moved || !c.world || !all_moves_count(c)) return "";
  return std::to_string(moved) + " fragments were moved from ranks, and " + std::to_string(came) + " to ranks\n";
}

std::string difference(const std::vector<std::string>& expected, const std::vector<std::string>& got) {
  std::vector<std::string> missing;
  std::vector<std::string> extra;
  std::set_difference(expected.begin(), expected.end(), got.begin(), got.end(), std::back_inserter(missing));
  std::set_difference(got.begin(), got.end(), expected.begin(), expected.end(), std::back_inserter(extra));
  std::string text;
  for (std::size_t k = 0; k < missing.size() && k < 5; ++k) text += "  expected: " + missing[k] + "\n";
  for (std::size_t k = 0; k < extra.size() && k < 5; ++k) text += "  got:      " + extra[k] + "\n";
  return text;
}

void run_child(const std::vector<Case>& cases, const Plan& plan, std::size_t first, const fs::path& library,
               const fs::path& report, Progress& progress) {
  const fs::path said = report.string() + ".stderr";
  const int error = open(said.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
  dup2(error, STDERR_FILENO);
  break_machine(plan);
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::ofstream out(report, std::ios::app);
  if (handle == nullptr) {
    out << 0 << "\tdlopen\t" << dlerror() << std::endl;
    _exit(1);
  }
  for (std::size_t k = first; k < cases.size(); ++k) {
    const Case& c = cases[k];
    const abi::Program& program = program_in(handle, c.seed);
    std::vector<Configuration> all = configurations(c.seed, plan);
    for (std::size_t at = 0; at < all.size(); ++at) {
      progress.program = k;
      progress.configuration = at;
      progress.runs = progress.runs + 1;
      rests = 0;
      longest_rest_us = all[at].longest_rest_us;
      most_rests = all[at].most_rests;
      all[at] = writing(std::move(all[at]), report);
      [[maybe_unused]] const int ignored = ftruncate(error, 0);
      std::string what;
      if (plan.wide != 0) {
        what = run_widely(program, c, all[at], plan.wide, report, said);
      } else if (plan.steady != 0) {
        what = run_steadily(program, c, all[at], plan.steady, report, said);
      } else if (plan.recover && all[at].world) {
        what = run_recovering(program, c, plan.first + at, report, said);
      } else if (plan.crash && all[at].world) {
        what = run_crashing(program, all[at], c, said);
      } else {
        const Ran ran = run_once(program, all[at], c.arguments);
        progress.swept = progress.swept + swept;
        const std::string untrue = note_moves(all[at].options.summary_json, all[at], progress);
        what = wrong_with(c, all[at], ran, said);
        if (what.empty() && c.expected.end == reference::Outcome::End::finished) what = untrue + ran.untrue;
        if (what.empty() && all[at].world && at % kTwice == 0 &&
            run_once(program, all[at], c.arguments).trace != ran.trace) {
          what = "the same seed, and another run\n";
        }
      }
      if (what.empty()) continue;
      std::replace(what.begin(), what.end(), '\n', '\f');
      out << c.seed << '\t' << all[at].name << '\t' << what << std::endl;
    }
    if (leaks()) _exit(1);
  }
  _exit(0);
}

bool fails(const Case& c, const Plan& plan, const Configuration& configuration, const fs::path& library,
           const fs::path& report, const fs::path& transcript) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const fs::path said = report.string() + ".stderr";
    dup2(open(said.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600), STDERR_FILENO);
    break_machine(plan);
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    const Ran ran = run_once(program_in(handle, c.seed), writing(configuration, report), c.arguments, transcript);
    _exit(wrong_with(c, configuration, ran, said).empty() && ran.untrue.empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

std::vector<Mismatch> read_report(const fs::path& path) {
  std::vector<Mismatch> result;
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    const std::size_t a = line.find('\t');
    const std::size_t b = line.find('\t', a + 1);
    std::string what = line.substr(b + 1);
    std::replace(what.begin(), what.end(), '\f', '\n');
    result.push_back({std::stoull(line.substr(0, a)), line.substr(a + 1, b - a - 1), what});
  }
  return result;
}

}  // namespace tessera::differential
