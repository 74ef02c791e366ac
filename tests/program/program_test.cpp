// Runs every program of programs/, of tests/stdlib and of the repository's examples in many configurations: its output
// must be the same lines on any number of threads and ranks, under any balancer and any order of
// message deliveries. Runs every program that the documents show, and every program of faults/, and
// checks how it fails.
//
// Tests are registered from the folders: a new file is a new test.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "balancer/policy.hpp"
#include "cases.hpp"
#include "child.hpp"
#include "documents.hpp"
#include "traces.hpp"

namespace tessera::tests {
namespace {

using Words = std::vector<std::string>;

constexpr std::chrono::seconds kLimit{90};

// One process: threads, then ranks with deliveries delayed and reordered under a seed.
const std::vector<Words>& inproc_configurations() {
  static const std::vector<Words> all = [] {
    std::vector<Words> list = {{"-t", "1"}, {"-t", "2"}, {"-t", "4"}};
    int seed = 0;
    for (const char* ranks : {"2", "3", "5"})
      for (const char* balancer : {"none", "steal", "central"})
        for (const char* threads : {"1", "2"})
          list.push_back(
              {"--inproc-ranks", ranks, "-t", threads, "--seed", std::to_string(++seed), "--balancer", balancer});
    // Each policy of the registry once more, those above included: a new one is tested at once.
    for (const balancer::PolicyInfo& p : balancer::policies())
      list.push_back({"--inproc-ranks", "4", "-t", seed % 2 == 0 ? "1" : "2", "--seed", std::to_string(++seed),
                      "--balancer", std::string(p.name)});
    // Ranks that leave while the program runs, and come back.
    for (const char* balancer : {"none", "steal", "central"}) {
      list.push_back({"--inproc-ranks", "4", "-t", "1", "--seed", std::to_string(++seed), "--balancer", balancer,
                      "--leave", "0@0.0003", "--leave", "1@0.0008"});
      list.push_back({"--inproc-ranks", "3",       "-t",         "2",       "--seed",        std::to_string(++seed),
                      "--spare",        "1",       "--balancer", balancer,  "--leave",       "1@0.0005",
                      "--leave",        "0@0.001", "--join",     "1@0.002", "--eager-bytes", "0",
                      "--relay-bytes",  "0"});
      list.push_back({"--inproc-ranks", "5", "-t", "1", "--seed", std::to_string(++seed), "--balancer", balancer,
                      "--relay-bytes", "0"});
    }
    return list;
  }();
  return all;
}

const std::vector<Words>& mpi_configurations() {
  static const std::vector<Words> all = {
      {"-n", "2", "-t", "1", "--balancer", "none"},
      {"-n", "2", "-t", "2", "--balancer", "steal"},
      {"-n", "4", "-t", "1", "--balancer", "central"},
      {"-n", "4", "-t", "1", "--balancer", "steal"},
  };
  return all;
}

Words quiet(Words configuration) {
  configuration.insert(configuration.begin(), "--quiet");
  return configuration;
}

void expect_right_output(const Case& c, const Words& configuration) {
  const Words words = command(c, quiet(configuration));
  const Outcome run = run_child(words, kLimit);
  const std::string context = shown(words) + "\nstdout:\n" + run.out + "stderr:\n" + run.err;
  EXPECT_FALSE(run.timed_out) << context;
  EXPECT_EQ(run.exit_code, 0) << context;
  EXPECT_EQ(sorted_lines(run.out), sorted_lines(c.expected)) << context;
  EXPECT_TRUE(run.err.empty()) << "--quiet and no faults, yet stderr has text\n" << context;
  EXPECT_TRUE(run.survivors.empty()) << run.survivors.front() << "\n" << context;
}

void expect_right_failure(const Case& c, const Words& configuration) {
  const Words words = command(c, configuration);
  const Outcome run = run_child(words, kLimit);
  const std::string context = shown(words) + "\nstdout:\n" + run.out + "stderr:\n" + run.err;
  EXPECT_FALSE(run.timed_out) << context;
  EXPECT_EQ(run.exit_code, c.exit_code) << context;
  for (const std::string& text : c.in_stderr)
    EXPECT_NE(run.err.find(text), std::string::npos) << "stderr lacks: " << text << "\n" << context;
  if (c.stderr_lines_below > 0) {
    EXPECT_LT(static_cast<int>(sorted_lines(run.err).size()), c.stderr_lines_below) << context;
  }
  EXPECT_TRUE(run.survivors.empty()) << run.survivors.front() << "\n" << context;
}

class Body : public testing::Test {
 public:
  explicit Body(std::function<void()> body) : body_(std::move(body)) {}
  void TestBody() override { body_(); }

 private:
  std::function<void()> body_;
};

void add_test(const char* suite, const std::string& name, std::function<void()> body) {
  testing::RegisterTest(suite, name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [body]() -> testing::Test* { return new Body(body); });
}

// ThreadSanitizer knows nothing of the synchronisation inside Open MPI, and LeakSanitizer finds leaks
// of its.
#ifdef __SANITIZE_THREAD__
constexpr bool kMpiToo = false;
#else
constexpr bool kMpiToo = true;
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCrashesToo = false;
#else
constexpr bool kCrashesToo = true;
#endif

bool starts_ranks(const Words& configuration) { return configuration.front() == "-n"; }
void look_for_leaks(bool yes) { setenv("ASAN_OPTIONS", yes ? "" : "detect_leaks=0", 1); }

void run_in(const std::vector<Words>& configurations, const Case& c, void (*check)(const Case&, const Words&)) {
  for (const Words& configuration : configurations) {
    if (starts_ranks(configuration) && !kMpiToo) continue;
    // A run that has failed ends with what it had.
    look_for_leaks(!starts_ranks(configuration) && check == expect_right_output);
    check(c, configuration);
    if (testing::Test::HasFailure()) return;  // one report is enough
  }
}

// Fragments are moved to and fro: as often as the program asks for, and twice in any case.
std::vector<Words> restless_configurations(int times) {
  std::vector<Words> all;
  for (int seed = 1; seed <= std::max(times, 2); ++seed) {
    all.push_back({"--inproc-ranks", "4", "-t", seed % 8 == 0 ? "2" : "1", "--seed", std::to_string(seed), "--balancer",
                   "restless"});
    if (seed % 4 == 3) all.back().insert(all.back().end(), {"--eager-bytes", "0"});
    if (seed % 5 == 4) all.back().insert(all.back().end(), {"--cache-limit-mb", "0"});
  }
  return all;
}

void add_programs() {
  for (const std::string kind : {"Program", "Stdlib"}) {
    const char* folder = kind == "Program" ? TESSERA_PROGRAMS "/programs" : TESSERA_ROOT "/tests/stdlib/programs";
    for (const Case& c : find_cases(folder, true)) {
      add_test(kind.c_str(), c.name, [c] { run_in(inproc_configurations(), c, expect_right_output); });
      add_test((kind + "Restless").c_str(), c.name,
               [c] { run_in(restless_configurations(c.restless), c, expect_right_output); });
      if (!c.mpi || !kMpiToo) continue;
      add_test((kind + "Mpi").c_str(), c.name, [c] { run_in(mpi_configurations(), c, expect_right_output); });
    }
  }
}

// Recorded, a program is the same graph however it ran; not one that asks how many ranks there are.
void add_traces() {
  for (const Case& c : find_cases(TESSERA_PROGRAMS "/programs", true)) {
    if (c.name == "ranks") continue;
    add_test("Trace", c.name, [c] {
      // Negative locators count from the last rank of the run.
      const Homes homes = c.name == "locators" ? Homes::forgotten : Homes::kept;
      const std::string alone = recorded(c, {"-t", "1"}, homes);
      ASSERT_FALSE(alone.empty());
      std::vector<Words> ways = {{"-t", "3"},
                                 {"--inproc-ranks", "4", "-t", "2", "--seed", "5", "--balancer", "steal"},
                                 {"--inproc-ranks", "3", "-t", "1", "--seed", "9", "--balancer", "central"},
                                 {"--inproc-ranks", "4", "-t", "1", "--seed", "2", "--leave", "1@0.0005"}};
      if (c.mpi && kMpiToo) ways.push_back({"-n", "3", "-t", "1", "--balancer", "steal"});
      for (const Words& way : ways) {
        look_for_leaks(!starts_ranks(way));
        EXPECT_EQ(recorded(c, way, homes), alone) << shown(way);
      }
    });
  }
}

void add_examples() {
  // Smaller than their defaults, with the same output.
  const std::vector<std::pair<std::string, Words>> sizes = {
      {"matmul", {"-D", "BLOCK_SIZE=60"}},
      {"rowreduce", {"-D", "COLUMNS=2000"}},
      {"imbalance", {"-D", "STEP=20"}},
      {"cholesky", {"-D", "TILE=24"}},
      {"heat", {"-D", "CELLS=120", "-D", "STEPS=40"}},
      {"conjugate", {"-D", "SIDE=16", "-D", "PARTS=4"}},
      {"particles", {"-D", "PARTICLES=500"}},
  };
  const std::vector<Words> configurations = {
      {"-t", "1"},
      {"-t", "4"},
      {"--inproc-ranks", "3", "-t", "1", "--seed", "3", "--balancer", "steal"},
      {"--inproc-ranks", "4", "-t", "1", "--seed", "4", "--balancer", "central"},
      {"-n", "4", "-t", "1", "--balancer", "central"},
      {"-n", "3", "-t", "1", "--balancer", "steal"},
      {"-n", "2", "-t", "1", "--balancer", "none"},
      {"-n", "3", "-t", "1", "--balancer", "demand"},
      {"-n", "3", "-t", "1", "--balancer", "proportional"},
  };
  for (Case c : find_cases(TESSERA_ROOT "/examples", true)) {
    for (const auto& [name, options] : sizes)
      if (name == c.name) c.options = options;
    add_test("Example", c.name, [c, configurations] { run_in(configurations, c, expect_right_output); });
  }
}

void add_documents() {
  // One folder per process: ctest runs tests side by side.
  static const struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("tessera-documents-" + std::to_string(getpid()));
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  } folder;
  for (const char* document :
       {TESSERA_ROOT "/README.md", TESSERA_ROOT "/docs/language.md", TESSERA_ROOT "/docs/stdlib.md"}) {
    for (const Case& c : programs_shown(document, folder.path)) {
      add_test("Document", c.name, [c] {
        const Words words = command(c, {"--quiet"});
        const Outcome run = run_child(words, kLimit);
        EXPECT_EQ(run.exit_code, 0) << shown(words) << "\n" << run.err;
        EXPECT_TRUE(run.err.empty()) << run.err;
        if (!c.expected.empty()) {
          EXPECT_EQ(sorted_lines(run.out), sorted_lines(c.expected)) << shown(words);
        }
      });
    }
  }
}

void add_faults() {
  for (const Case& c : find_cases(TESSERA_PROGRAMS "/faults", false)) {
    if (c.crashes && !kCrashesToo) continue;
    add_test("Fault", c.name, [c] {
      run_in({{"-t", "1"}, {"-t", "2"}, {"--inproc-ranks", "3", "-t", "1"}, {"-n", "3", "-t", "1"}}, c,
             expect_right_failure);
    });
  }
}

}  // namespace
}  // namespace tessera::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  tessera::tests::add_programs();
  tessera::tests::add_traces();
  tessera::tests::add_examples();
  tessera::tests::add_documents();
  tessera::tests::add_faults();
  return RUN_ALL_TESTS();
}
