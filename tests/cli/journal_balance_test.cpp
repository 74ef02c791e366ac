// A run that goes on begins balanced: what the one before has moved is where it was.
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>

#include "journal_command.hpp"
#include "nlohmann/json.hpp"

namespace tessera::tests {
namespace {

// All series belong to the first rank. A fragment of step 60 kills the run when the file `die` is there, once it is
// known of series that they live elsewhere.
constexpr const char* kHeavy = R"(C++ sub init(int v, name x) ${{ x = v; $}}
C++ sub step(int t, int i, int a, int b, int c, name x) ${{
  usleep(1000);
  if (t == 60 && i == 0 && access("die", F_OK) == 0) {
    for (int n = 0; n < 2000 && system("$TESSERA journal J 2>&1 | grep -q '[1-9][0-9]* series that run elsewhere'") != 0; ++n)
      usleep(5000);
    unlink("die");
    if (system("kill -9 $PPID") == 0) sleep(60);
  }
  x = (a + 2 * b + c) % 1009;
$}}
C++ sub show(int v) ${{ printf("%d\n", v); $}}
sub main() {
  df x;
  for i = 0..15 init(i, x[0][i]) @ { locator_cyclic: 0; };
  for t = 1..80 for i = 0..15
    step(t, i, i > 0 ? x[t - 1][i - 1] : 0, x[t - 1][i], i < 15 ? x[t - 1][i + 1] : 0, x[t][i]) @ { locator_cyclic: 0; };
  for i = 0..15 show(x[80][i]) @ { locator_cyclic: 0; };
}
)";

TEST_F(Journal, SeriesGoOnWhereTheBalancerHasMovedThem) {
  write("p.fa", kHeavy);
  environment_ = {std::string("TESSERA=") + TESSERA_COMMAND};
  const auto run = [&](const Words& more) {
    Words words = {"run",   "p.fa",       "-n", "2", "-t", "1", "-b", "steal", "--journal", "J", "--journal-interval",
                   "0.005", "--restarts", "0"};
    words.insert(words.end(), more.begin(), more.end());
    return tessera(words);
  };
  const Outcome all = tessera({"run", "-q", "p.fa"});
  deadly();
  const Outcome killed = run({});
  ASSERT_NE(killed.exit_code, 0);
  ASSERT_FALSE(std::filesystem::exists(path("die"))) << killed.err;
  // Nothing is worth moving now: what runs elsewhere does so for what the journal says.
  const Outcome rest = run({"--set", "transfer_margin=1000000", "--summary", "summary.json", "--record-policy", "log"});
  ASSERT_TRUE(ended(rest, 0, {"goes on from the journal"}));
  EXPECT_EQ(lines(killed.out + rest.out), lines(all.out));
  const auto summary = nlohmann::json::parse(read("summary.json"));
  std::int64_t followed = 0, moved = 0;
  for (const auto& g : summary["groups"]) {
    if (g["label"] != "step") continue;
    followed += g["followed"].get<std::int64_t>();
    moved += g["moved"].get<std::int64_t>();
  }
  EXPECT_EQ(moved, 0);
  EXPECT_GT(followed, 5);
  // What the policies hear first is the link, as the run before has measured it between these hosts. (What each of the
  // two ranks measures differs.)
  const auto first = [&](const std::string& rank) {
    std::istringstream log(read("log/rank-" + rank + ".policy.jsonl"));
    std::string setup, event;
    std::getline(log, setup) && std::getline(log, event);
    return nlohmann::json::parse(event)["event"][1];
  };
  EXPECT_GT(first("0")[1].get<std::int64_t>(), 0);
  EXPECT_EQ(first("0")[1], first("1")[1]);
  EXPECT_EQ(first("0")[2], first("1")[2]);
}

}  // namespace
}  // namespace tessera::tests
