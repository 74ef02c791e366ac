// `tessera status` and `tessera top`: a run that goes on, looked at from outside, also on a terminal.
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <set>

#include "command.hpp"

namespace tessera::tests {
namespace {

// Some of 2 ms, one of five seconds, and some again; all on rank 0.
constexpr const char* kLong = R"(
C++ sub work(int i, name r) ${{ usleep(i == 100 ? 5000000 : 2000); r = i; $}}
sub main() { df x; for i = 0..199 work(i, x[i]); }
)";

class Live : public Command {
 protected:
  void SetUp() override {
    environment_ = {"XDG_RUNTIME_DIR=" + folder_.string()};
    write("p.fa", kLong);
    ASSERT_TRUE(ended(tessera({"build", "p.fa", "-o", "p"}), 0));
  }
  void TearDown() override {
    if (run_ > 0) kill(run_, SIGKILL), waitpid(run_, nullptr, 0);
  }
  void start(const char* options = "--inproc-ranks 2 -t 1 --quiet --balancer none") {
    run_ = fork();
    if (run_ == 0) {
      if (chdir(folder_.c_str()) != 0) _exit(126);
      setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
      setenv("TESSERA_OPTIONS", options, 1);
      execl("./p", "./p", static_cast<char*>(nullptr));
      _exit(127);
    }
    pid_ = std::to_string(run_);
  }
  // The first answer of the run.
  nlohmann::json status() {
    for (int tries = 0; tries < 300; ++tries) {
      const Outcome o = tessera({"status", "--run", pid_, "--json"});
      if (o.exit_code == 0) return nlohmann::json::parse(o.out);
      usleep(20'000);
    }
    ADD_FAILURE() << "the run never answered";
    return {};
  }
  void await_end() {
    int how = 0;
    waitpid(run_, &how, 0);
    run_ = -1;
    EXPECT_EQ(how, 0);
  }
  pid_t run_ = -1;
  std::string pid_;
};

TEST_F(Live, StatusTellsWhatRunsNow) {
  start();
  nlohmann::json s = status();
  const auto runs_long = [&] {
    const auto& running = s["ranks"][0]["running"];
    return !running.empty() && running.at(0).contains("mean_of_group_seconds");
  };
  for (int tries = 0; tries < 100 && !runs_long(); ++tries) {
    usleep(100'000);
    s = status();
  }
  ASSERT_TRUE(runs_long()) << s;
  EXPECT_EQ(s["format"], "tessera-status-1");
  ASSERT_EQ(s["ranks"].size(), 2u);
  EXPECT_TRUE(s["ranks"][0]["answered"] && s["ranks"][1]["answered"]);
  EXPECT_GE(s["ranks"][0]["done"], 100);
  EXPECT_EQ(s["ranks"][1]["done"], 0);
  EXPECT_GT(s["ranks"][0]["memory_bytes"], 1'000'000);
  const auto slow = s["ranks"][0]["running"].at(0);
  EXPECT_NE(slow["fragment"].get<std::string>().find("work"), std::string::npos) << slow;
  EXPECT_GE(slow["seconds"], 1);
  EXPECT_GT(s["ranks"][0]["busy_seconds"].get<double>() + 0.1, slow["seconds"]) << "what runs is counted, too";
  EXPECT_LT(slow["mean_of_group_seconds"], 0.02);
  ASSERT_EQ(s["groups"].size(), 1u);
  EXPECT_EQ(s["groups"][0]["label"], "work");
  const Outcome text = tessera({"status"});
  EXPECT_TRUE(ended(text, 0));
  EXPECT_NE(text.out.find("p.fa on 2 ranks, balancer none"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("times as long as its group in the mean"), std::string::npos) << text.out;
  // To the end, where stdout is no terminal.
  const Outcome top = tessera({"top", "--json", "--interval", "0.2"});
  EXPECT_TRUE(ended(top, 0));
  EXPECT_GE(std::count(top.out.begin(), top.out.end(), '\n'), 3) << top.out;
  EXPECT_EQ(nlohmann::json::parse(top.out.substr(0, top.out.find('\n')))["format"], "tessera-status-1");
  await_end();
  EXPECT_TRUE(ended(tessera({"status"}), 2, {"no run is found"}));
  EXPECT_TRUE(ended(tessera({"top", "--interval", "0"}), 2, {"--interval"}));
}

TEST_F(Live, OneRankAnswersToo) {
  start("-t 1 --quiet");
  const nlohmann::json s = status();
  ASSERT_EQ(s["ranks"].size(), 1u);
  EXPECT_EQ(s["ranks"][0]["part"], "works");
  const Outcome text = tessera({"status"});
  EXPECT_TRUE(ended(text, 0));
  EXPECT_NE(text.out.find("p.fa on 1 rank, balancer none"), std::string::npos) << text.out;
  EXPECT_TRUE(ended(tessera({"drain", "0"}), 2, {"rank 0"}));
}

// 200 in all; of the long one, which the mean has not seen, nothing is known.
TEST_F(Live, TheTimeThatIsLeftIsToldWhereLoopsAreKnown) {
  start();
  nlohmann::json s = status();
  for (int tries = 0; tries < 100 && s["ranks"][0]["done"] < 90; ++tries) {
    usleep(20'000);
    s = status();
  }
  ASSERT_TRUE(s["outlook"].contains("done")) << s["outlook"];
  EXPECT_NEAR(s["outlook"]["done"].get<double>(), s["ranks"][0]["done"].get<double>() / 200, 0.1);
  EXPECT_FALSE(s["outlook"]["at_least"]);
  EXPECT_GT(s["outlook"]["seconds_left"], 0);
  EXPECT_NE(tessera({"status"}).out.find(" left ("), std::string::npos);
}

// Loops in loops that every rank runs: each is made once, and turns on all.
TEST_F(Live, TheTimeThatIsLeftOfLoopsThatAllRanksRun) {
  write("w.fa", R"(
C++ sub first(name x) ${{ x = 1; $}}
C++ sub next(int a, int b, name x) ${{ usleep(2000); x = a + b; $}}
sub main() {
  df x;
  for i = 0..5 first(x[0][i]) @ { locator_cyclic: i; };
  for t = 1..400
    for i = 0..5 next(x[t - 1][i], x[t - 1][(i + 1) % 6], x[t][i]) @ { locator_cyclic: i; };
}
)");
  ASSERT_TRUE(ended(tessera({"build", "w.fa", "-o", "p"}), 0));
  start("--inproc-ranks 3 -t 1 --quiet --balancer none");
  int looks = 0;
  for (nlohmann::json s = status(); looks < 5;) {
    std::int64_t done = 0;
    for (const auto& g : s["groups"]) done += g["label"] == "next" ? g["count"].get<std::int64_t>() : 0;
    if (done > 100 && s["outlook"].contains("done")) {
      ++looks;
      EXPECT_NEAR(s["outlook"]["done"].get<double>(), static_cast<double>(done) / 2400, 0.05) << s["outlook"];
    }
    const Outcome o = tessera({"status", "--run", pid_, "--json"});
    if (o.exit_code != 0) break;
    s = nlohmann::json::parse(o.out);
  }
  EXPECT_GE(looks, 2);
}

// A chain behind one that takes five seconds, on another rank.
TEST_F(Live, SaysWhatWaitsForWhatAndWhoMakesIt) {
  write("w.fa", R"(
C++ sub slow(name r) ${{ usleep(5000000); r = 1; $}}
C++ sub next(int a, name r) ${{ r = a + 1; $}}
C++ sub say(int a) ${{ $}}
sub main() {
  df x;
  slow(x[0]) @ { locator_cyclic: 1; };
  for i = 1..40 next(x[i - 1], x[i]) @ { locator_cyclic: 0; };
  say(x[40]) @ { locator_cyclic: 0; };
}
)");
  ASSERT_TRUE(ended(tessera({"build", "w.fa", "-o", "p"}), 0));
  start();
  status();
  nlohmann::json s;
  for (int tries = 0; tries < 100 && !(s.contains("waits") && s["waits"]["fragments"] == 41); ++tries) {
    const Outcome o = tessera({"status", "--waiting", "--json"});
    ASSERT_TRUE(ended(o, 0));
    s = nlohmann::json::parse(o.out);
    usleep(20'000);
  }
  ASSERT_EQ(s["waits"]["fragments"], 41) << s;
  ASSERT_EQ(s["waits"]["first"].size(), 1u) << s["waits"];
  const auto& first = s["waits"]["first"][0];
  EXPECT_EQ(first["behind"], 41);
  EXPECT_NE(first["fragment"].get<std::string>().find("(i=1)"), std::string::npos) << first;
  ASSERT_TRUE(first.contains("made_by")) << first;
  EXPECT_EQ(first["made_by"]["rank"], 1);
  EXPECT_NE(first["made_by"]["fragment"].get<std::string>().find("slow"), std::string::npos) << first;
  const std::string text = tessera({"status", "--waiting"}).out;
  EXPECT_NE(text.find("41 fragments wait for values"), std::string::npos) << text;
  EXPECT_NE(text.find(", 40 more wait behind it"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 1 is making it: `slow(x[0])`"), std::string::npos) << text;
  EXPECT_EQ(tessera({"status"}).out.find("wait for values"), std::string::npos) << "only when asked for";
}

// Calls of a recursion are told by nothing: one line for all of them.
TEST_F(Live, SaysOnceWhatManyWaitFor) {
  write("w.fa", R"(
C++ sub leaf(name r) ${{ usleep(200000); r = 1; $}}
C++ sub join(int a, int b, name r) ${{ r = a + b; $}}
C++ sub say(int a) ${{ $}}
sub tree(int d, name r) {
  df a, b;
  if d == 0 leaf(r);
  if d > 0 { tree(d - 1, a); tree(d - 1, b); join(a, b, r); }
}
sub main() { df r; tree(5, r); say(r); }
)");
  ASSERT_TRUE(ended(tessera({"build", "w.fa", "-o", "p"}), 0));
  start("-t 1 --quiet");
  status();
  nlohmann::json s;
  for (int tries = 0; tries < 100 && !(s.contains("waits") && s["waits"]["fragments"] > 20); ++tries) {
    s = nlohmann::json::parse(tessera({"status", "--waiting", "--json"}).out);
    usleep(20'000);
  }
  std::set<std::string> told;
  std::int64_t alike = 0;
  for (const auto& x : s["waits"]["first"]) {
    EXPECT_TRUE(x.contains("made_by") || told.insert(x["fragment"]).second) << s["waits"];
    alike += x["alike"].get<std::int64_t>();
  }
  EXPECT_GT(alike, 8) << s["waits"];
  const std::string text = tessera({"status", "--waiting"}).out;
  EXPECT_NE(text.find(" values more like these"), std::string::npos) << text;
  EXPECT_TRUE(text.find("waits for `a`, `b`") != std::string::npos ||
              text.find("waits for `b`, `a`") != std::string::npos)
      << text;
}

TEST_F(Live, TopIsOnTheTerminalUntilSomebodyLeaves) {
  start();
  status();
  winsize size{.ws_row = 20, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t top = forkpty(&terminal, nullptr, nullptr, &size);
  if (top == 0) {
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    execl(TESSERA_COMMAND, TESSERA_COMMAND, "top", "--interval", "0.2", static_cast<char*>(nullptr));
    _exit(127);
  }
  std::string seen;
  const auto await = [&](const std::string& word) {
    for (int quiet = 0; quiet < 200 && seen.find(word) == std::string::npos;) {
      pollfd on{terminal, POLLIN, 0};
      if (poll(&on, 1, 100) <= 0) {
        ++quiet;
        continue;
      }
      char piece[4096];
      const ssize_t n = ::read(terminal, piece, sizeof piece);
      if (n <= 0) break;
      seen.append(piece, static_cast<std::size_t>(n));
    }
    EXPECT_NE(seen.find(word), std::string::npos) << word << " is not in:\n" << seen;
  };
  await("\033[?1049h\033[?25l");
  await("q, Ctrl-C: leaves");
  await("rank 0 runs `work");
  // What is too long for the terminal is cut: nothing wraps.
  std::size_t widest = 0;
  for (std::size_t at = seen.find("\033[H") + 3, end; (end = seen.find("\033[K", at)) != std::string::npos;
       at = end + 3) {
    std::string line = seen.substr(at, end - at);
    line.erase(0, line.find_last_of("\r\nHJ") == std::string::npos ? 0 : line.find_last_of("\r\nHJ") + 1);
    widest = std::max(widest, line.size());
  }
  EXPECT_GT(widest, 40u);
  EXPECT_LE(widest, 60u);
  EXPECT_EQ(::write(terminal, "q", 1), 1);
  await("\033[?25h\033[?1049l");
  int how = -1;
  waitpid(top, &how, 0);
  EXPECT_EQ(how, 0);
  close(terminal);
  EXPECT_EQ(kill(run_, 0), 0) << "the run goes on";
}

}  // namespace
}  // namespace tessera::tests
