// Live runs of every policy are recorded, and replayed to the same actions.
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
      EXPECT_NE(o.out.find("rank-2.policy.jsonl: " + name + " on rank 2"), std::string::npos)
          << o.out;
      EXPECT_EQ(o.out.find("ends early"), std::string::npos) << o.out;
      EXPECT_NE(o.out.find("rank 0: "), std::string::npos) << o.out;
      EXPECT_EQ(o.out.find("rank 0: 0 events"), std::string::npos) << o.out;
    }
  }
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
  const auto line =
      1 + std::count(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  EXPECT_EQ(o.out.rfind("logs/rank-0.policy.jsonl:" + std::to_string(line) + ": ", 0), 0u) << o.out;
  EXPECT_NE(o.out.find("answered:\n    nothing"), std::string::npos) << o.out;
}

TEST_F(Command, LogsThatCannotBeWrittenOrReadAreRefused) {
  write("p.fa", kHello);
  write("file", "");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--record-policy", "file"}), 2,
                    {"--record-policy", "not a directory"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--record-policy", "no/such"}), 2, {"no/such"}));
  EXPECT_TRUE(ended(tessera({"replay"}), 2));
  EXPECT_TRUE(ended(tessera({"replay", "absent"}), 2, {"absent"}));
  EXPECT_TRUE(ended(tessera({"replay", "."}), 2, {"--record-policy"}));
  EXPECT_TRUE(ended(tessera({"replay", "p.fa"}), 2, {"p.fa:1", "no log of a policy"}));
}

}  // namespace
}  // namespace tessera::tests
