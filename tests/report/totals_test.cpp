// The numbers of the page are those of the run: of kernels whose time is known, and of its summary.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "balancer/simulator/trace.hpp"
#include "command.hpp"
#include "recount.hpp"

namespace tessera::tests {
namespace {

// Ten that sleep 2 ms for each number, and their sum.
constexpr const char* kSleeps = R"(
C++ sub work(int i, name r) ${{ usleep(2000 * i); r = i; $}}
C++ sub add(int a, int b, name r) ${{ usleep(1000); r = a + b; $}}
C++ sub show(int n) ${{ printf("%d\n", n); $}}
sub main() {
  df x, sum;
  for i = 1..10 work(i, x[i]) @ { locator_cyclic: i; };
  add(0, 0, sum[0]);
  for i = 1..10 add(sum[i - 1], x[i], sum[i]);
  show(sum[10]);
}
)";

// Rank 0 has twice the work; what a locator places elsewhere is no balancer's move.
constexpr const char* kMoves = R"(
C++ sub work(int i, name r) ${{ usleep(300 * (1 + i % 3)); r = i; $}}
C++ sub next(int i, int a, name r) ${{ usleep(500); r = a + i; $}}
C++ sub show(int n) ${{ printf("%d\n", n); $}}
sub main() {
  df x, y, z;
  for i = 1..40 work(i, x[i]) @ { locator_cyclic: i / 8; };
  for i = 1..40 next(i, x[i], y[i]) @ { stealable; };
  for i = 1..10 next(i, y[4 * i], z[i]) @ { locator_cyclic: i; };
  for i = 1..10 show(z[i]);
}
)";

class Report : public Command {
 protected:
  // What the page has of its runs.
  nlohmann::json page(const std::string& name) {
    const std::string text = read(name);
    const std::string mark = "id=\"data\">";
    const std::size_t data = text.find(mark);
    if (data == std::string::npos) return {};
    const std::size_t begin = data + mark.size();
    return nlohmann::json::parse(text.substr(begin, text.find("</script>", begin) - begin));
  }
};

// Of a real run and of a simulated one: the tables say the same when they are reckoned once more.
TEST_F(Report, TablesAgreeWithEachOther) {
  write("p.fa", kMoves);
  for (const Words& run : {Words{"run", "p.fa", "-q", "--inproc-ranks", "3", "-t", "1", "--balancer", "steal"},
                           Words{"run", "p.fa", "-q", "--inproc-ranks", "2", "-t", "2", "--balancer", "none"},
                           Words{"simulate", "-w", "stencil", "-n", "4", "-b", "steal"},
                           Words{"simulate", "-w", "stencil", "-n", "3", "-b", "central"}}) {
    Words words = run;
    words.insert(words.end(), {"--record", "p.trace"});
    ASSERT_TRUE(ended(tessera(words), 0));
    ASSERT_TRUE(ended(tessera({"export", "p.trace", "-f", "csv", "-o", "tables"}), 0));
    Tables tables;
    for (const char* name : {"fragments.csv", "inputs.csv", "moves.csv", "workers.csv", "path.csv"})
      tables[name] = read(std::string("tables/") + name);
    EXPECT_EQ(recount(tables), "") << run[2];
    EXPECT_EQ(moved_too_early(tables), "") << run[2];
    if (run[0] == "simulate") {
      EXPECT_NE(tables["moves.csv"].find(",balancer,"), std::string::npos) << run[2];
    }
    if (run.back() == "none") {
      EXPECT_EQ(tables["workers.csv"].find("the balancer moved"), std::string::npos) << "its locators did";
    }
  }
}

// Values that lie on rank 0 until the chain on rank 1 asks for them are under way from then on only: each is told who
// asked, and no part of the path that is called a transfer is longer than that took.
TEST_F(Report, WhatLiesUntilItIsAskedForIsNoTransfer) {
  write("p.fa",
        "C++ sub item(int i, name r) ${{ r = i; $}}\n"
        "C++ sub add(int s, int x, name r) ${{ usleep(1000); r = s + x; $}}\n"
        "C++ sub show(int n) ${{ printf(\"%d\\n\", n); $}}\n"
        "sub late(int i, int a, name x, name r) { if a >= 0 add(a, x, r); }\n"
        "sub main() { df x, s; for i = 0..60 item(i, x[i]) @ { locator_cyclic: 0; }; item(0, s[0]) @ { locator_cyclic: "
        "1; };\n"
        "  for i = 1..60 late(i, s[i - 1], x[i], s[i]) @ { locator_cyclic: 1; }; show(s[60]); }\n");
  const Outcome ran =
      tessera({"run", "p.fa", "-q", "--inproc-ranks", "2", "-t", "1", "--balancer", "none", "--record", "p.trace"});
  ASSERT_TRUE(ended(ran, 0));
  EXPECT_EQ(ran.err.find("internal error"), std::string::npos) << ran.err;
  EXPECT_EQ(balancer::simulator::read_trace(path("p.trace").string()).times.unattached, 0);
  ASSERT_TRUE(ended(tessera({"export", "p.trace", "-f", "csv", "-o", "tables"}), 0));
  std::map<long, long> travelled;  // by fragment
  std::istringstream inputs(read("tables/inputs.csv"));
  std::string row;
  std::getline(inputs, row);
  while (std::getline(inputs, row)) {
    long fragment = 0, rank = 0, arrived = 0, asked = 0, by = -1;
    const int n = std::sscanf(row.c_str(), "%ld,%ld,%*d,%*d,%*d,%ld,%ld,%ld", &fragment, &rank, &arrived, &asked, &by);
    if (rank == 0 || n < 3) continue;  // s[60], which goes home unasked; made where it is read
    EXPECT_EQ(n, 5) << row;
    travelled[fragment] = arrived - asked;
  }
  EXPECT_GE(travelled.size(), 59u) << read("tables/inputs.csv");
  std::istringstream steps(read("tables/path.csv"));
  std::map<std::string, std::int64_t> sums;
  std::map<long, long> told;
  std::getline(steps, row);
  while (std::getline(steps, row)) {
    long start = 0, end = 0, fragment = -1;
    char what[32] = "";
    ASSERT_GE(std::sscanf(row.c_str(), "%ld,%ld,%31[^,],%ld", &start, &end, what, &fragment), 3) << row;
    sums[what] += end - start;
    if (what == std::string("transfer") && travelled.contains(fragment)) told[fragment] += end - start;
  }
  EXPECT_GT(sums["kernels"], 60 * 1'000'000);
  for (const auto& [fragment, ns] : told)
    EXPECT_LE(ns, travelled[fragment]) << fragment << "\n" << read("tables/path.csv");
}

TEST_F(Report, TotalsAreThoseOfTheRun) {
  write("p.fa", kSleeps);
  for (const Words& ways : {Words{"-n", "2", "-t", "1"}, Words{"-t", "2"}}) {
    Words words = {"run", "p.fa", "-q", "--record", "p.trace", "--summary", "p.json"};
    words.insert(words.end(), ways.begin(), ways.end());
    ASSERT_TRUE(ended(tessera(words), 0));
    const Outcome o = tessera({"report", "p.trace", "-o", "p.html"});
    ASSERT_TRUE(ended(o, 0));
    EXPECT_NE(o.out.find("p.html: open it with a browser"), std::string::npos) << o.out;
    const auto run = page("p.html").at(0);
    const auto summary = nlohmann::json::parse(read("p.json"));
    EXPECT_NEAR(run["finished"].get<double>() * 1e-9, summary["seconds"].get<double>(), 0.02);
    double all = 0;
    for (const auto& s : run["sums"]) all += s.get<double>();
    EXPECT_EQ(all, run["finished"].get<double>() * static_cast<double>(run["lanes"].size()));
    double path = 0;
    for (const auto& p : run["path"]) path += p[1].get<double>();
    EXPECT_EQ(path, run["finished"].get<double>());
    // work: 2 + 4 + ... + 20 ms at least; add: 11 ms.
    std::map<std::string, double> own;
    for (const auto& g : run["groups"]) own[g["label"]] = g["own"].get<double>() * 1e-9;
    std::map<std::string, double> slept;
    for (const auto& g : summary["groups"]) {
      if (!g["atomic"]) continue;
      const std::string label = g["label"].get<std::string>() + " at " + g["at"].get<std::string>();
      ASSERT_TRUE(own.contains(label)) << label;
      const double there = g["mean_ns"].get<double>() * 1e-9 * g["count"].get<double>();
      // What the summary adds is what the system does between two readings of the clock; it leaves out what a kernel
      // had no core for when it woke, on a busy machine some thousandths.
      EXPECT_LE(own[label], there * 1.05 + 1e-6) << label;
      EXPECT_NEAR(own[label], there, 0.03 * there + 0.02) << label;
      slept[g["label"]] += own[label];
    }
    EXPECT_GE(slept["work"], 0.110);
    EXPECT_GE(slept["add"], 0.011) << "it stands in two lines";
    double busy = 0;
    for (const auto& r : summary["ranks"]) busy += r["busy_seconds"].get<double>();
    EXPECT_NEAR(run["sums"][0].get<double>() * 1e-9, busy, 0.03 * busy + 0.02);
  }
}

// A simulated run is shown like a live one, with the names that the program has.
TEST_F(Report, ShowsSimulatedRuns) {
  ASSERT_TRUE(ended(
      tessera({"simulate", "-w", "stencil", "-n", "4", "-b", "steal", "--record", "s.trace", "--json", "s.json"}), 0));
  ASSERT_TRUE(ended(tessera({"report", "s.trace", "-o", "s.html"}), 0));
  const auto run = page("s.html").at(0);
  const auto row = nlohmann::json::parse(read("s.json"))["runs"].at(0);
  EXPECT_TRUE(run["simulated"]);
  EXPECT_EQ(run["lanes"].size(), 4u);
  EXPECT_NEAR(run["finished"].get<double>() * 1e-9, row["seconds"].get<double>(), 1e-6);
  double busy = 0, kernels = 0;
  for (const auto& r : row["by_rank"]["busy_seconds"]) busy += r.get<double>();
  for (const auto& g : run["groups"]) kernels += g["own"].get<double>() * 1e-9;
  EXPECT_NEAR(kernels, busy, 1e-6);
  EXPECT_EQ(run["decisions_all"].get<int>() > 0, true);
  // Of a recorded program: where it ran is simulated, what it was is known.
  write("p.fa", kSleeps);
  ASSERT_TRUE(ended(tessera({"run", "p.fa", "-q", "-t", "1", "--record", "p.trace"}), 0));
  ASSERT_TRUE(ended(tessera({"simulate", "-w", "p.trace", "-n", "3", "-b", "none", "--record", "q.trace"}), 0));
  const auto t = balancer::simulator::read_trace(path("q.trace").string());
  EXPECT_TRUE(t.times.simulated);
  std::set<std::int64_t> numbers;
  std::set<int> ranks;
  for (const auto& b : t.times.bars) {
    const auto& block = t.times.blocks[b.block];
    if (block.text != "work(i, x[i])") continue;
    numbers.insert(t.times.numbers_of(b)[0]);
    ranks.insert(b.rank);
    EXPECT_EQ(b.length, t.work.fragments[b.fragment].weight);
  }
  EXPECT_EQ(numbers.size(), 10u);
  EXPECT_EQ(ranks.size(), 3u) << "its locators are cyclic";
  EXPECT_TRUE(ended(tessera({"simulate", "-w", "p.trace", "-n", "2,3", "-b", "none", "--record", "q.trace"}), 2,
                    {"--record is of one run"}));
  EXPECT_TRUE(ended(tessera({"simulate", "-w", "loop:items=9", "-n", "2", "-b", "none", "--record", "q.trace"}), 2,
                    {"--record: workload loop"}));
}

TEST_F(Report, SaysWhatIsWrong) {
  EXPECT_TRUE(ended(tessera({"report", "none.trace"}), 2, {"no such trace: none.trace"}));
  write("empty.trace", "");
  EXPECT_TRUE(ended(tessera({"report", "empty.trace"}), 2, {"empty.trace:1: the trace is no trace"}));
  EXPECT_FALSE(std::filesystem::exists(path("report.html")));
  EXPECT_TRUE(ended(tessera({"simulate", "-w", "stencil", "-n", "1", "-b", "none", "--save-trace", "s.trace"}), 0));
  EXPECT_TRUE(ended(tessera({"report", "s.trace"}), 2, {"s.trace: this trace does not tell when its fragments ran"}));
  EXPECT_TRUE(ended(tessera({"report", "s.trace", "-o", "no/such/r.html"}), 2, {"-o", "no/such"}));
  EXPECT_TRUE(ended(tessera({"report"}), 2, {"traces is required"}));
  EXPECT_TRUE(ended(tessera({"report", "a", "b", "c", "d", "e"}), 2));
}

}  // namespace
}  // namespace tessera::tests
