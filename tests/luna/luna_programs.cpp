// Runs every program of programs/, each in a folder with its kernels and what it prints, the three ways in which
// LuNA's users run programs: by `luna`, by `luna` under mpirun, and by the command that --compile-only prints.
// `// options:`, `// argument:` and `// stderr:` in a program are as in tests/program/cases.hpp; the latter is
// what `luna` says; other programs compile without a word.
#include <gtest/gtest.h>

#include "cases.hpp"
#include "child.hpp"

namespace tessera::tests {
namespace {

using Words = std::vector<std::string>;

constexpr std::chrono::seconds kLimit{150};

// In the folder of all programs: options name paths below it.
Outcome in_folder(const Words& words) {
  Words all = {"/usr/bin/env", "-C", LUNA_PROGRAMS, "-u", "TESSERA_OPTIONS", "XDG_CACHE_HOME=" TESSERA_TEST_CACHE};
  all.insert(all.end(), words.begin(), words.end());
  return run_child(all, kLimit);
}

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void expect_right(const Case& c, const Words& words, bool says) {
  const Outcome run = in_folder(words);
  const std::string context = shown(words) + "\nstdout:\n" + run.out + "stderr:\n" + run.err;
  EXPECT_FALSE(run.timed_out) << context;
  EXPECT_EQ(run.exit_code, 0) << context;
  EXPECT_EQ(sorted_lines(run.out), sorted_lines(c.expected)) << context;
  EXPECT_TRUE(run.survivors.empty()) << context;
  if (!says) return;
  for (const std::string& text : c.in_stderr)
    EXPECT_NE(run.err.find(text), std::string::npos) << text << "\n" << context;
  if (c.in_stderr.empty()) {
    EXPECT_EQ(run.err, "") << context;
  }
}

const Words& mpirun(const char* ranks) {
  static Words words;
  words = {"mpirun", "-q", "--allow-run-as-root", "--oversubscribe", "-n", ranks};
  return words;
}

void run_as_users_do(const Case& c) {
  const Words program = c.options + Words{c.source.string()} + c.arguments;
  expect_right(c, Words{LUNA_COMMAND} + program, true);
  if (testing::Test::HasFailure()) return;
#ifndef __SANITIZE_THREAD__
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  expect_right(c, mpirun("3") + Words{LUNA_COMMAND, "-b"} + program, false);
  Outcome compiled = in_folder(Words{LUNA_COMMAND, "--compile-only"} + program);
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  const std::string command = "mpirun -q --allow-run-as-root --oversubscribe -n 2 " + compiled.out;
  expect_right(c, {"sh", "-c", command}, false);
  unsetenv("ASAN_OPTIONS");
#endif
}

class Body : public testing::Test {
 public:
  explicit Body(const Case& c) : case_(c) {}
  void TestBody() override { run_as_users_do(case_); }

 private:
  Case case_;
};

}  // namespace
}  // namespace tessera::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (const tessera::tests::Case& c : tessera::tests::find_cases(LUNA_PROGRAMS, true)) {
    testing::RegisterTest("LunaProgram", c.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [c]() -> testing::Test* { return new tessera::tests::Body(c); });
  }
  return RUN_ALL_TESTS();
}
