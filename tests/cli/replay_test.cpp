// Live runs of every policy are recorded, and replayed to the same actions.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "command.hpp"

namespace tessera::tests {
namespace {

constexpr const char* kUneven =
    "C++ sub work(int i) ${{ usleep(100 + i % 10 * 200); $}}\n"
    "sub main() { for i = 1..200 { work(i); } }\n";

std::vector<std::string> policy_names(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    names.push_back(line.substr(0, line.find(' ')));
  }
  return names;
}

TEST_F(Command, EveryPolicyIsRecordedAndReplayed) {
  write("p.fa", kUneven);
  const std::vector<std::string> names = policy_names(tessera({"policies"}).out);
  ASSERT_GE(names.size(), 3u);
  for (const std::string& name : names) {
    for (const Words& ranks : {Words{"--inproc-ranks", "4", "--seed", "7"}, Words{"-n", "3"}}) {
      const std::string logs = "logs " + name + ranks[0];
      Words words = {"run", "-q", "p.fa", "-t", "1", "--balancer", name, "--record-policy", logs};
      words.insert(words.end(), ranks.begin(), ranks.end());
      EXPECT_TRUE(ended(tessera(words), 0)) << name;
      const Outcome o = tessera({"replay", logs});
      EXPECT_TRUE(ended(o, 0)) << name << "\n" << o.out;
      EXPECT_NE(o.out.find("rank-2.policy.jsonl: " + name + " on rank 2"), std::string::npos) << o.out;
      EXPECT_EQ(o.out.find("ends early"), std::string::npos) << o.out;
      EXPECT_NE(o.out.find("rank 0: "), std::string::npos) << o.out;
      EXPECT_EQ(o.out.find("rank 0: 0 events"), std::string::npos) << o.out;
    }
  }
}

// What each line of a log says for people.
std::vector<std::string> told(const std::string& log) {
  const std::string key = "\"text\":[\"";
  std::vector<std::string> texts;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (const auto at = line.find(key); at != std::string::npos) texts.push_back(line.substr(at + key.size()));
  }
  return texts;
}

// What comes to a rank where nothing runs is told when it has begun: told before, it would be taken for something that
// waits.
TEST_F(Command, WhatComesToAnIdleRankIsToldWhenItRuns) {
  write("p.fa",
        "C++ sub first(name x) ${{ usleep(30000); x = 1; $}}\n"
        "C++ sub work(int x, int i) ${{ usleep(10000); (void)x; (void)i; $}}\n"
        "sub main() {\n"
        "  df x;\n"
        "  first(x);\n"
        "  for i = 1..8 work(x, i);\n"
        "}\n");
  int waits = 0, runs = 0, busy_with_nothing = 0;
  for (int run = 0; run < 5; ++run) {
    EXPECT_TRUE(ended(
        tessera({"run", "-q", "p.fa", "-t", "1", "-n", "3", "--balancer", "steal", "--record-policy", "logs"}), 0));
    for (const char* log : {"logs/rank-1.policy.jsonl", "logs/rank-2.policy.jsonl"}) {
      bool came = false;
      for (const std::string& text : told(read(log))) {
        if (!came && text.starts_with("went busy")) ++busy_with_nothing;
        came = came || text.starts_with("arrived");
        if (!came || !text.starts_with("load changed")) continue;
        ++(text.starts_with("load changed {}") ? runs : waits);
        break;
      }
    }
  }
  EXPECT_GT(runs, waits);
  EXPECT_LE(busy_with_nothing, 2);
}

// Who has run its last fragment says so, whenever the load was told last.
TEST_F(Command, ARankThatRunsDrySaysSo) {
  write("p.fa",
        "C++ sub first(name x) ${{ x = 0; $}}\n"
        "C++ sub link(int a, name x) ${{\n"
        "  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(60);\n"
        "  while (std::chrono::steady_clock::now() < until) {}\n"
        "  x = a + 1;\n"
        "$}}\n"
        "C++ sub nap(int a) ${{ usleep(1500000); $}}\n"
        "sub main() {\n"
        "  df x;\n"
        "  first(x[0]) @ { locator_cyclic: 1; };\n"
        "  for i = 1..200 link(x[i - 1], x[i]) @ { locator_cyclic: 1 + i % 3; };\n"
        "  nap(x[200]) @ { locator_cyclic: 0; };\n"
        "}\n");
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(ended(
        tessera({"run", "-q", "p.fa", "-t", "1", "-n", "4", "--balancer", "steal", "--record-policy", "logs"}), 0));
    for (const char* log : {"logs/rank-1.policy.jsonl", "logs/rank-2.policy.jsonl", "logs/rank-3.policy.jsonl"}) {
      long long busy = -1;  // since then
      std::istringstream lines(read(log));
      for (std::string line; std::getline(lines, line);) {
        const auto at = line.find("\"at\":");
        if (at == std::string::npos) continue;
        const long long now = std::stoll(line.substr(at + 5));
        EXPECT_FALSE(busy >= 0 && now - busy > 1'000'000'000)
            << log << ": busy for " << (now - busy) / 1'000'000 << " ms before " << line;
        if (line.find("[\"went busy") != std::string::npos) busy = now;
        if (line.find("[\"went idle") != std::string::npos) busy = -1;
      }
    }
  }
}

TEST_F(Command, OneRankIsRecordedToo) {
  write("p.fa", kUneven);
  for (const Words& ranks : {Words{}, Words{"-n", "1"}, Words{"--balancer", "steal"}}) {
    std::filesystem::remove_all(path("logs"));
    Words words = {"run", "-q", "p.fa", "--record-policy", "logs"};
    words.insert(words.end(), ranks.begin(), ranks.end());
    EXPECT_TRUE(ended(tessera(words), 0));
    const Outcome o = tessera({"replay", "logs"});
    EXPECT_TRUE(ended(o, 0));
    EXPECT_EQ(o.out.find("ends early"), std::string::npos) << o.out;
    EXPECT_NE(o.out.find("rank 0: "), std::string::npos) << o.out;
    EXPECT_EQ(o.out.find("rank 0: 0 events"), std::string::npos) << o.out;
  }
}

// A rank that has begun the only fragment that came has nothing ready: it must know before that it is busy.
TEST_F(Command, ABalancerIsToldThatItsRankIsBusyBeforeWithWhat) {
  write("p.fa", kUneven);
  EXPECT_TRUE(
      ended(tessera({"run", "-q", "p.fa", "-t", "1", "-n", "2", "--balancer", "steal", "--record-policy", "logs"}), 0));
  std::istringstream lines(read("logs/rank-1.policy.jsonl"));
  int busy = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"text\":[\"went busy") == std::string::npos) continue;
    ++busy;
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_NE(line.find("\"text\":[\"load changed"), std::string::npos) << line;
  }
  EXPECT_GT(busy, 0);
}

TEST_F(Command, AnotherAnswerIsFoundAndShown) {
  write("p.fa", kUneven);
  const Words record = {"run",     "-q",     "p.fa", "--inproc-ranks",  "3",   "--balancer",
                        "central", "--seed", "1",    "--record-policy", "logs"};
  EXPECT_TRUE(ended(tessera(record), 0));
  std::string log = read("logs/rank-0.policy.jsonl");
  const std::size_t at = log.find("\"actions\":[[0,");  // the first one that sends
  ASSERT_NE(at, std::string::npos);
  const std::size_t end = log.find(",\"at\"", at);
  log.replace(at, end - at, "\"actions\":[]");
  write("logs/rank-0.policy.jsonl", log);
  const Outcome o = tessera({"replay", "logs/rank-0.policy.jsonl"});
  EXPECT_TRUE(ended(o, 1));
  const auto line = 1 + std::count(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  EXPECT_EQ(o.out.rfind("logs/rank-0.policy.jsonl:" + std::to_string(line) + ": ", 0), 0u) << o.out;
  EXPECT_NE(o.out.find("answered:\n    nothing"), std::string::npos) << o.out;
}

TEST_F(Command, LogsThatCannotBeWrittenOrReadAreRefused) {
  write("p.fa", kHello);
  write("file", "");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--record-policy", "file"}), 2, {"--record-policy", "not a directory"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--record-policy", "no/such"}), 2, {"no/such"}));
  EXPECT_TRUE(ended(tessera({"replay"}), 2));
  EXPECT_TRUE(ended(tessera({"replay", "absent"}), 2, {"absent"}));
  EXPECT_TRUE(ended(tessera({"replay", "."}), 2, {"--record-policy"}));
  EXPECT_TRUE(ended(tessera({"replay", "p.fa"}), 2, {"p.fa:1", "no log of a policy"}));
}

// A rank computes on the core where another program runs for as long: its balancer is told. Two seconds of the core
// for the fragment are some four of the clock, more where more compete, and the rank looks every second.
TEST_F(Command, ABalancerIsToldOfAnotherProgramOnItsCore) {
  if (access("/proc/self/schedstat", R_OK) != 0) GTEST_SKIP() << "this system does not count how long threads wait";
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  int core = 0;
  while (!CPU_ISSET(core, &set)) ++core;
  write("p.fa",
        "C++ sub compute(int core) ${{\n"
        "  cpu_set_t one;\n"
        "  CPU_ZERO(&one);\n"
        "  CPU_SET(core, &one);\n"
        "  if (sched_setaffinity(0, sizeof one, &one) != 0) printf(\"not pinned\");\n"
        "  timespec t;\n"
        "  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); while (t.tv_sec < 2);\n"
        "$}}\n"
        "sub main(int core) { compute(core) @ { locator_cyclic: 1; }; }\n");
  // What it leaves behind is killed, whatever becomes of the shell: see Command::run. Nothing computes for over 100 s.
  const Outcome o = run({"sh", "-c",
                         "timeout 100 taskset -c \"$1\" sh -c 'while :; do :; done' & other=$!; shift\n"
                         "\"$@\"; code=$?; kill $other; wait $other; exit $code",
                         "sh", std::to_string(core), TESSERA_COMMAND, "run", "-q", "p.fa", "-n", "2", "-t", "1",
                         "--balancer", "steal", "--record-policy", "logs", "--", std::to_string(core)});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "");
  // Whichever rank has taken the fragment: an idle one may be first.
  const std::string log = read("logs/rank-0.policy.jsonl") + read("logs/rank-1.policy.jsonl");
  EXPECT_NE(log.find("\"outside load "), std::string::npos) << log;
}

}  // namespace
}  // namespace tessera::tests
