#include "child.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>

#include "balancer/random.hpp"
#include "configurations.hpp"
#include "runtime/run.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace fs = std::filesystem;

namespace {
std::mutex lines_mutex;
std::vector<std::string> printed;

std::atomic<int> rests{0};
int longest_rest_us = 0, most_rests = 0;  // of the configuration
}  // namespace

// The kernels of the programs print by this (tests/reference/kernels.hpp).
extern "C" void tessera_test_line(const char* line) {
  const std::lock_guard<std::mutex> lock(lines_mutex);
  printed.emplace_back(line);
}

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

// leaks says whether memory is lost by now; a child that ends by _exit is not looked at otherwise.
bool leaks() {
#ifdef __SANITIZE_ADDRESS__
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

// A whole run that does not end leaves threads behind that are in the middle of something: the process is done.
int run_once(const abi::Program& program, const Configuration& c, const std::vector<std::string>& arguments) {
  if (!c.world) return runtime::run(program, c.options, arguments);
  whole::Settings settings = *c.world;
  const char* const transcript = std::getenv("TESSERA_TRANSCRIPT");  // a file for that of the last run
  settings.told = transcript != nullptr;
  whole::World world(settings);
  int code = 0;
  const whole::End end = world.run([&] { code = runtime::run(program, c.options, arguments); });
  if (transcript != nullptr) {
    std::ofstream out(transcript);
    for (const std::string& line : world.transcript()) out << line << '\n';
  }
  if (end == whole::End::done) return code;
  std::fprintf(stderr, "the run %s %s", end == whole::End::stuck ? "is stuck" : "goes on", world.standing().c_str());
  _exit(1);
}

}  // namespace

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// note_moves adds what the summary tells of the run.
void note_moves(const fs::path& summary, Progress& progress) {
  const auto text = nlohmann::json::parse(read(summary), nullptr, false);
  if (text.is_discarded()) return;  // it ended before there was one
  std::size_t moved = 0;
  for (const auto& rank : text.at("ranks")) moved += rank.at("moved_out").get<std::size_t>();
  progress.balanced = progress.balanced + (text.at("balancer") == "none" ? 0 : 1);
  progress.moving = progress.moving + (moved > 0 ? 1 : 0);
  progress.moved = progress.moved + moved;
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

void run_child(const std::vector<Case>& cases, const Plan& plan, std::size_t first, const fs::path& library, const fs::path& report,
               Progress& progress) {
  const fs::path said = report.string() + ".stderr";
  const int error = open(said.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
  dup2(error, STDERR_FILENO);
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::ofstream out(report, std::ios::app);
  if (handle == nullptr) {
    out << 0 << "\tdlopen\t" << dlerror() << std::endl;
    _exit(1);
  }
  for (std::size_t k = first; k < cases.size(); ++k) {
    const Case& c = cases[k];
    using Entry = const abi::Program* (*)();
    const auto entry = reinterpret_cast<Entry>(dlsym(handle, ("tessera_program_" + std::to_string(c.seed)).c_str()));
    std::vector<Configuration> all = configurations(c.seed, plan);
    for (std::size_t at = 0; at < all.size(); ++at) {
      progress.program = k;
      progress.configuration = at;
      progress.runs = progress.runs + 1;
      printed.clear();
      rests = 0;
      longest_rest_us = all[at].longest_rest_us;
      most_rests = all[at].most_rests;
      const fs::path summary = report.string() + ".summary";
      fs::remove(summary);
      all[at].options.summary_json = summary;
      [[maybe_unused]] const int ignored = ftruncate(error, 0);
      const int code = run_once(*entry(), all[at], c.arguments);
      note_moves(summary, progress);
      std::sort(printed.begin(), printed.end());
      std::string what;
      const bool right = c.expected.end == reference::Outcome::End::finished;
      if (code != (right ? 0 : 1)) what = "exit code " + std::to_string(code) + "\n" + read(said);
      if (right && printed != c.expected.lines) what += difference(c.expected.lines, printed);
      if (what.empty()) continue;
      std::replace(what.begin(), what.end(), '\n', '\f');
      out << c.seed << '\t' << all[at].name << '\t' << what << std::endl;
    }
    if (leaks()) _exit(1);
  }
  _exit(0);
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
