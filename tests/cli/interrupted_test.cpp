// What a run that a signal ends leaves behind: the files that were asked for, with what was measured until then.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "tests/cli/command.hpp"

namespace tessera::tests {
namespace {

class Interrupted : public Command {
 protected:
  void SetUp() override {
    write("p.fa",
          "C++ head ${{\n#include <unistd.h>\n#include <atomic>\nstd::atomic<int> naps;\n$}}\n"
          "C++ sub nap(int i, name x) ${{\n"
          "  usleep(20000); if (++naps == 9) { printf(\"begun\\n\"); fflush(stdout); } x = i; $}}\n"
          "C++ sub hang(int i) ${{ for (;;) usleep(1000); $}}\n"
          "sub main(int n, int hangs) {\n"
          "  df x;\n"
          "  if hangs hang(1) @ { locator_cyclic: ranks - 1; };\n"
          "  for i = 1..n nap(i, x[i]) @ { locator_cyclic: i; };\n"
          "}\n");
  }

  // Runs it with such options, and ends it by the signal when it has run for a moment.
  void expect_files(const std::string& signal, int exit_code, Words options, bool hangs = false) {
    for (const char* file : {"s.json", "r.trace", "s.groups"}) std::filesystem::remove(path(file));
    Words words = {"run", "p.fa", "--summary", "s.json", "--record", "r.trace", "--save-groups", "s.groups"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "100000", hangs ? "1" : "0"});
    const Outcome o = tessera_signalled(signal, "begun", words);
    const std::string what = signal + (options.empty() ? "" : " " + options.front()) + "\n" + o.err;
    EXPECT_EQ(o.exit_code, exit_code) << what;
    EXPECT_NE(o.err.find("p.fa: ended by a signal after"), std::string::npos) << what;
    ASSERT_TRUE(std::filesystem::exists(path("s.json"))) << what;
    const auto summary = nlohmann::json::parse(read("s.json"));
    EXPECT_TRUE(summary["interrupted"].get<bool>()) << what;
    std::int64_t naps = 0;
    for (const auto& g : summary["groups"]) naps += g["label"] == "nap" ? g["count"].get<std::int64_t>() : 0;
    EXPECT_GE(naps, 8) << what;
    EXPECT_LT(naps, 100000) << what;
    EXPECT_TRUE(std::filesystem::exists(path("s.groups"))) << what;
    ASSERT_TRUE(std::filesystem::exists(path("r.trace"))) << what;
    ASSERT_EQ(tessera({"export", "r.trace", "--format", "csv", "-o", "tables"}).exit_code, 0) << what;
    const std::string fragments = read("tables/fragments.csv");
    EXPECT_NE(fragments.find("nap"), std::string::npos) << what;
    EXPECT_EQ(fragments.find(",hang,") != std::string::npos, hangs) << what;
    std::filesystem::remove_all(path("tables"));
  }
};

// Of a loop of short calls that never ends there is none that has run for long.
TEST_F(Interrupted, AnEndlessLoopOfShortCallsIsTold) {
  write("e.fa",
        "C++ sub f(int i, name x) ${{ if (i == 1000) { printf(\"begun\\n\"); fflush(stdout); } x = i + 1; $}}\n"
        "sub main() { df x, w; f(0, x[0]); while x[t] > 0, t = 0 .. out w f(x[t] % 2000, x[t + 1]); }\n");
  for (const Words& options : {Words{}, Words{"-n", "2"}}) {
    Words words = {"run", "e.fa"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome o = tessera_signalled("INT", "begun", words);
    EXPECT_TRUE(ended(o, 130, {"ended by a signal", "rank 0 (", " calls of kernels, ", " of them `f` at e.fa:2"}));
  }
}

TEST_F(Interrupted, OneRank) {
  expect_files("INT", 130, {});
  expect_files("TERM", 143, {"-t", "2"});
  expect_files("HUP", 129, {"-t", "2"});
  expect_files("INT", 130, {"--inproc-ranks", "3"});
}

TEST_F(Interrupted, SeveralRanks) {
  for (const char* signal : {"INT", "TERM", "HUP"}) expect_files(signal, 130, {"-n", "3"});
}

// Nobody reads what is printed once mpirun is about to end: who prints on would stand still until all are killed.
TEST_F(Interrupted, WhileKernelsPrint) {
  write("p.fa",
        "C++ head ${{\n#include <unistd.h>\n#include <atomic>\nstd::atomic<int> naps;\n$}}\n"
        "C++ sub nap(int i, name x) ${{\n"
        "  usleep(500);\n"
        "  if (++naps == 9) printf(\"begun\\n\");\n"
        "  printf(\"%0300d\\n\", i);\n"
        "  fflush(stdout);\n"
        "  x = i;\n"
        "$}}\n"
        "sub main(int n, int hangs) { df x; for i = 1..n nap(i, x[i]) @ { locator_cyclic: i; }; }\n");
  for (const char* signal : {"INT", "TERM"}) expect_files(signal, 130, {"-n", "3"});
}

// What such a kernel has run is in the trace, and nobody waits for it.
TEST_F(Interrupted, BesideAKernelThatDoesNotReturn) {
  expect_files("INT", 130, {"-t", "2"}, true);
  expect_files("TERM", 130, {"-n", "2", "-t", "2"}, true);
}

TEST_F(Interrupted, WithAJournal) {
  expect_files("TERM", 75, {"--journal", "J"});
  std::filesystem::remove_all(path("J"));
  expect_files("HUP", 75, {"--journal", "J"});
  std::filesystem::remove_all(path("J"));
  expect_files("TERM", 75, {"--journal", "J", "-n", "2"});
}

// A command that has not come to run anything: it waits for another one, which compiles.
TEST_F(Interrupted, BeforeTheRun) {
  const std::filesystem::path locks = path("cache") / "tessera" / "locks";
  std::filesystem::create_directories(locks);
  std::filesystem::permissions(locks.parent_path(), std::filesystem::perms::owner_all);
  constexpr int kLocks = 256;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::vector<int> held;
  for (int i = 0; i < kLocks; ++i) {
    held.push_back(open((locks / std::string{kHex[i / 16], kHex[i % 16]}).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(flock(held.back(), LOCK_EX), 0);
  }
  environment_ = {"XDG_CACHE_HOME=" + path("cache").string()};
  const auto code = [&](const std::string& signal, const std::string& options) {
    return run({"sh", "-c",
                "env --default-signal=INT $0 run -q p.fa " + options +
                    " & pid=$!; until ls -l /proc/$pid/fd | grep -q /locks/; do sleep 0.02; done; kill -" + signal +
                    " $pid; wait $pid",
                TESSERA_COMMAND})
        .exit_code;
  };
  EXPECT_EQ(code("TERM", "--journal J"), 75);
  EXPECT_EQ(code("HUP", "-n 2 --journal J"), 75);
  EXPECT_EQ(code("INT", "-n 2 --journal J"), 130);
  EXPECT_EQ(code("TERM", "-n 2"), 130);
  EXPECT_EQ(code("TERM", ""), 143);
  for (const int fd : held) close(fd);
}

// mpirun takes some 0.2 s to end then. It was "to be continued" (75), and the next run printed all lines again.
TEST_F(Interrupted, WhoHasEndedHasEndedWell) {
  const auto code = [&](const std::string& options) {
    return run({"sh", "-c",
                ": > said; $0 run p.fa -n 2 " + options +
                    " -- 9 0 2> said & pid=$!; until grep -q '^p.fa: ' said || ! kill -0 $pid; do sleep 0.01; done; "
                    "kill -TERM $pid; wait $pid",
                TESSERA_COMMAND})
        .exit_code;
  };
  EXPECT_EQ(code("--journal J"), 0) << read("said");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--journal", "J", "--", "9", "0"}), 0, {"came to its end"}));
  EXPECT_EQ(code(""), 0) << read("said");
}

TEST_F(Interrupted, NobodyElse) {
  ASSERT_EQ(tessera({"run", "p.fa", "--summary", "s.json", "--", "9", "0"}).exit_code, 0);
  EXPECT_FALSE(nlohmann::json::parse(read("s.json"))["interrupted"].get<bool>());
}

}  // namespace
}  // namespace tessera::tests
