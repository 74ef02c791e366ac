// Programs that run: in this process, on ranks, built; and how they end.
#include <sys/resource.h>

#include <cstdlib>
#include <regex>

#include "command.hpp"
#include "nlohmann/json.hpp"

namespace tessera::tests {
namespace {

constexpr const char* kSleep =
    "C++ sub nap(int i) ${{ printf(\"napping\\n\"); fflush(stdout); sleep(60); $}}\n"
    "sub main() { for i = 1..8 { nap(i) @ { locator_cyclic: i; }; } }\n";

// Fragments that a run has moved, by its summary.
std::int64_t moved(const std::string& summary) {
  std::int64_t sum = 0;
  const auto groups = nlohmann::json::parse(summary).at("groups");
  for (const auto& g : groups) sum += g.at("moved").get<std::int64_t>();
  return sum;
}

TEST_F(Command, RunsHereAndOnRanks) {
  write("p.fa", kHello);
  for (const Words& words : {Words{"run", "p.fa"}, Words{"run", "p.fa", "-n", "1"},
                             Words{"run", "p.fa", "-n", "2"}, Words{"run", "p.fa", "-n", "3", "-c"},
                             Words{"run", "p.fa", "-n", "2", "--balancer", "steal"}}) {
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(o, 0)) << shown(words);
    EXPECT_EQ(o.out, "hello\n") << "stdout is the program's alone";
  }
}

TEST_F(Command, QuietIsSilent) {
  write("p.fa", kHello);
  EXPECT_EQ(tessera({"run", "-q", "p.fa"}).err, "");
  EXPECT_EQ(tessera({"run", "-q", "p.fa", "-n", "2"}).err, "");
}

// Values of 12 kB that take 6 ms to travel, made and used in a third of a millisecond each: what moves before anybody knows that is
// a few to be measured.
TEST_F(Command, SummarySaysThatNothingIsWorthMoving) {
  write("p.fa",
        "C++ sub make(int i, name x) ${{ usleep(300); x.create<char>(12000)[0] = static_cast<char>(i % 100); $}}\n"
        "C++ sub use(value x, name y) ${{ usleep(300); (void)x; y = 1; $}}\n"
        "C++ sub show(int v) ${{ (void)v; $}}\n"
        "sub main() {\n"
        "  df x, y;\n"
        "  for i = 1..200 { make(i, x[i]); use(x[i], y[i]); }\n"
        "  for i = 1..200 show(y[i]);\n"
        "}\n");
  int said = 0;
  for (int run = 0; run < 3; ++run) {
    for (const char* balancer : {"central", "steal", "auto"}) {
      const Outcome o = tessera({"run", "p.fa", "-t", "1", "--balancer", balancer, "--transport", "inproc", "--inproc-ranks", "4",
                                 "--link-bandwidth", "2e6", "--summary", "s.json"});
      EXPECT_TRUE(ended(o, 0));
      if (o.err.find("worth moving: transfer costs more than it saves") != std::string::npos) ++said;
      EXPECT_LE(moved(read("s.json")), 40) << balancer;
    }
  }
  EXPECT_GE(said, 3);
}

// Makers of values of 3 MB that take 30 ms to travel to their readers, and 5 ms to make.
TEST_F(Command, WhatMakesLargeValuesStaysWithTheirReaders) {
  write("p.fa",
        "C++ sub make(int i, name x) ${{ usleep(5000); x.create<char>(3000000)[0] = static_cast<char>(i % 100); $}}\n"
        "C++ sub use(value x, name y) ${{ usleep(300); (void)x; y = 1; $}}\n"
        "C++ sub show(int v) ${{ (void)v; $}}\n"
        "sub main() {\n"
        "  df x, y;\n"
        "  for i = 1..60 { make(i, x[i]); use(x[i], y[i]); }\n"
        "  for i = 1..60 show(y[i]);\n"
        "}\n");
  for (int run = 0; run < 2; ++run) {
    for (const char* balancer : {"central", "steal", "auto"}) {
      EXPECT_TRUE(ended(tessera({"run", "p.fa", "-t", "1", "--balancer", balancer, "--transport", "inproc", "--inproc-ranks", "3",
                                 "--link-bandwidth", "1e8", "--summary", "s.json"}), 0));
      EXPECT_LE(moved(read("s.json")), 12) << balancer;
    }
  }
}

TEST_F(Command, ACallWhoseIndicesAreReadHasItsWeight) {
  write("p.fa",
        "C++ sub set(int i, name x) ${{ x = i; $}}\n"
        "C++ sub nap(int i, int v, name x) ${{ usleep(3000); x = i + v; $}}\n"
        "sub main() {\n"
        "  df n, y, _x;\n"
        "  set(4, n);\n"
        "  set(1, y[4]);\n"
        "  for i = 1..20 nap(i, y[n], _x[i]);\n"
        "}\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa", "-t", "1", "--summary", "s.json", "--save-groups", "p.profile"}), 0));
  const auto groups = nlohmann::json::parse(read("s.json")).at("groups");
  int seen = 0;
  for (const auto& g : groups) {
    if (g.at("label") != "nap") continue;
    ++seen;
    EXPECT_TRUE(g.at("atomic").get<bool>());
    EXPECT_EQ(g.at("count"), 20);
    EXPECT_GE(g.at("mean_ns").get<double>(), 3e6);
  }
  EXPECT_EQ(seen, 1);
  EXPECT_NE(read("p.profile").find("nap"), std::string::npos);
}

// Waking a thread that has nothing to do costs more than most fragments.
TEST_F(Command, ARankAloneWakesNobody) {
  write("p.fa",
        "C++ sub set(int v, name x) ${{ usleep(20); x = v; $}}\n"
        "sub main() {\n"
        "  df x, y;\n"
        "  for i = 1..4000 set(x[i] + 1, y[i]) @ { delete x[i]; };\n"
        "  for i = 1..4000 set(i, x[i]);\n"
        "}\n");
  const auto sleeps = [&] {  // usleep is one for each of the 8,000
    rusage before{}, after{};
    getrusage(RUSAGE_CHILDREN, &before);
    EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa", "-t", "1"}), 0));
    getrusage(RUSAGE_CHILDREN, &after);
    return after.ru_nvcsw - before.ru_nvcsw;
  };
  sleeps();  // it is compiled
  EXPECT_LT(sleeps(), 8000 + 1500);
}

// The first rank's half takes four times as long, in each step.
constexpr const char* kSeries = R"(C++ sub init(int v, name x) ${{ x = v; $}}
C++ sub step(int us, int a, int b, int c, name x) ${{ usleep(us); x = (a + 2 * b + c) % 1000; $}}
C++ sub show(int v) ${{ printf("%d\n", v); $}}
sub main(int steps, int late) {
  df x;
  for i = 0..15 init(i, x[0][i]) @ { locator_cyclic: i / 8; };
  for t = 1..steps for i = 0..15
    step(i < 8 ? 400 : 100, i > 0 ? x[t - 1][i - 1] : 0, x[t - 1][i], i < 15 ? x[t - 1][i + 1] : 0, x[t][i])
      @ { locator_cyclic: i / 8; };
  for i = 0..15 show(x[steps][i]) @ { locator_cyclic: 0; };
  if x[steps][0] >= 0 for t = 0..late for i = 0..15 show(x[t][i] + 1000 * t) @ { locator_cyclic: i / 8; };
}
)";

// What has been moved in one step is there in the next. Without it each step is balanced anew: five times as many moves.
TEST_F(Command, SeriesStayWhereTheBalancerHasMovedThem) {
  write("p.fa", kSeries);
  const auto moved = [&](const Words& options) {
    Words words = {"run", "p.fa", "-n", "2", "-t", "1", "--balancer", "steal"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "100", "-1"});
    const auto run = tessera(words);
    EXPECT_TRUE(ended(run, 0));
    std::smatch count;
    EXPECT_TRUE(std::regex_search(run.err, count, std::regex("moved ([0-9]+) fragments"))) << run.err;
    return std::stoi(count[1]);
  };
  const int anew = moved({"--without", "find-series"});
  EXPECT_GT(anew, 100);
  EXPECT_LT(2 * moved({}), anew);
}

// What every rank reads leaves the rank that made it three times at most, not once for each of them.
TEST_F(Command, LargeValuesArePassedOnByThoseThatHaveThem) {
  write("p.fa",
        "C++ sub make(int i, name x) ${{ x.create<char>(100000)[0] = static_cast<char>(i); $}}\n"
        "C++ sub look(value x, name y) ${{ y = static_cast<int>(x.getData<char>()[0]); $}}\n"
        "C++ sub show(int r, int i, int v) ${{ if (v != i) printf(\"%d has %d of %d\\n\", r, v, i); $}}\n"
        "sub main() {\n"
        "  df x, y;\n"
        "  for i = 0..9 make(i, x[i]) @ { locator_cyclic: MADE; };\n"
        "  for r = 0..15\n"
        "    for i = 0..9 look(x[i], y[r][i]) @ { locator_cyclic: r; };\n"
        "  for r = 0..15\n"
        "    for i = 0..9 show(r, i, y[r][i]);\n"
        "}\n");
  // Made at their home, and elsewhere.
  for (const int made : {0, 3}) {
    const std::string text = read("p.fa");
    write("q.fa", std::regex_replace(text, std::regex("MADE"), std::to_string(made)));
    const Outcome o = tessera({"run", "q.fa", "-t", "1", "--balancer", "none", "--inproc-ranks", "16", "--summary", "s.json"});
    EXPECT_TRUE(ended(o, 0));
    EXPECT_EQ(o.out, "");
    std::int64_t all = 0;
    const auto summary = nlohmann::json::parse(read("s.json"));
    for (const auto& rank : summary["ranks"]) {
      EXPECT_LT(rank["bytes_sent"].get<std::int64_t>(), 4 * 1'000'000);
      all += rank["bytes_sent"].get<std::int64_t>();
    }
    EXPECT_GE(all, 15 * 1'000'000);
    EXPECT_LT(all, 17 * 1'000'000);
  }
}

// `a` comes to rank 1 ... 5 through its home and is evicted there; then fragments that hold it and a block of 10 MB are
// stolen from rank 1. What overtakes them must not be waited for again.
TEST_F(Command, ValuesThatCameBeforeTheirFragmentsAndWereEvictedAreAskedFor) {
  write("p.fa",
        "C++ sub make(int v, int n, name x) ${{ int *p = x.create<int>(n); for (int i = 0; i < n; ++i) p[i] = v; $}}\n"
        "C++ sub look(value a, name r) ${{ r = a.getData<int>()[0]; $}}\n"
        "C++ sub then(int go, value a, name r) ${{ r = a.getData<int>()[0]; $}}\n"
        "C++ sub work(int go, value a, value b, name r) ${{ usleep(15000); r = a.getData<int>()[1] + b.getData<int>()[1]; $}}\n"
        "C++ sub add(int a, int b, name x) ${{ x = a + b; $}}\n"
        "C++ sub set(int v, name x) ${{ x = v; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub works(name a, name b, name r, name f) {\n"
        "  look(a, f[1]) @ { locator_cyclic: 0; };\n"
        "  for k = 2..5 then(f[1], a, f[k]) @ { locator_cyclic: k; };\n"
        "  add(f[2] + f[3], f[4] + f[5], f[9]) @ { locator_cyclic: 1; };\n"
        "  for j = 1..12 work(f[9], a, b[j], r[j]) @ { locator_cyclic: 1; stealable; };\n"
        "}\n"
        "sub step(int s, name res) {\n"
        "  df a, b, r, f, sum;\n"
        "  make(s, 25000, a) @ { locator_cyclic: 1; };\n"
        "  for j = 1..12 make(j, 2500000, b[j]) @ { locator_cyclic: 1; };\n"
        "  works(a, b, r, f);\n"
        "  set(0, sum[0]);\n"
        "  for j = 1..12 add(sum[j - 1], r[j], sum[j]);\n"
        "  add(s + 1, 0 * sum[12], res);\n"
        "}\n"
        "sub main() {\n"
        "  df st, n;\n"
        "  set(0, st[0]);\n"
        "  while st[i] < 4, i = 0 .. out n step(st[i], st[i + 1]);\n"
        "  show(n);\n"
        "}\n");
  for (int run = 0; run < 3; ++run) {
    const Outcome o = tessera({"run", "p.fa", "-q", "-n", "6", "-t", "1", "--balancer", "steal", "--cache-limit-mb", "0"});
    EXPECT_TRUE(ended(o, 0));
  }
}

TEST_F(Command, SeriesThatMoveChangeNoResult) {
  write("p.fa", kSeries);
  const std::string right = tessera({"run", "-q", "p.fa", "-t", "1", "--", "30", "30"}).out;
  // The last: where values were sent to their place and evicted there, and a fragment that comes later reads them.
  const Words evicts = {"--balancer", "steal", "--cache-limit-mb", "0", "--eager-bytes", "0"};
  for (const Words& options : {Words{"--balancer", "steal"}, Words{"--balancer", "torus"}, Words{"-c"},
                               Words{"--balancer", "steal", "--leave", "1@0.02", "--join", "1@0.04"}, evicts, evicts, evicts, evicts}) {
    Words words = {"run", "-q", "p.fa", "--inproc-ranks", "2", "-t", "1"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "30", "30"});
    EXPECT_EQ(sorted(tessera(words).out), sorted(right)) << ::testing::PrintToString(options);
  }
}

// What a message makes ready on a rank whose threads are busy is told to its balancer at once, not when they are done.
TEST_F(Command, WhatBecomesReadyBesideARunningFragmentMoves) {
  write("p.fa",
        "C++ sub make(name x) ${{ usleep(100000); x = 1; $}}\n"
        "C++ sub use(int i, int x) ${{ fclose(fopen(\"used\", \"w\")); $}}\n"
        "C++ sub hold() ${{\n"
        "  for (int k = 0; k < 2000 && access(\"used\", F_OK) != 0; ++k) usleep(10000);\n"
        "  printf(access(\"used\", F_OK) == 0 ? \"used\" : \"in vain\");\n"
        "$}}\n"
        "sub main() {\n"
        "  df x;\n"
        "  make(x) @ { locator_cyclic: 1; };\n"
        "  for i = 1..8 use(i, x);\n"
        "  hold();\n"
        "}\n");
  for (const char* balancer : {"steal", "torus", "mirror", "auto"}) {
    std::filesystem::remove(path("used"));
    const Outcome o = tessera({"run", "-q", "p.fa", "--inproc-ranks", "2", "-t", "1", "--balancer", balancer});
    EXPECT_TRUE(ended(o, 0));
    EXPECT_EQ(o.out, "used") << balancer;
  }
}

// A series is told by ints: two that differ in a real, and belong to two ranks, once sent their fragments to each other for ever.
TEST_F(Command, SeriesThatBelongToTwoRanksAreTwo) {
  write("p.fa",
        "C++ sub init(int v, name x) ${{ x = v; $}}\n"
        "C++ sub step(int us, int a, name x) ${{ usleep(us); x = a + 1; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub row(real r, int steps) {\n"
        "  df x;\n"
        "  for i = 0..7 init(0, x[0][i]) @ { locator_cyclic: int(r); };\n"
        "  for t = 1..steps for i = 0..7 step(300, x[t - 1][i], x[t][i]) @ { locator_cyclic: int(r); };\n"
        "  for i = 0..7 show(x[steps][i]);\n"
        "}\n"
        "sub main() { row(0.0, 20); row(1.0, 20); row(0.0, 20); row(1.0, 5); }\n");
  for (int k = 0; k < 3; ++k) {
    EXPECT_TRUE(ended(tessera({"run", "p.fa", "--inproc-ranks", "2", "-t", "1", "--balancer", "steal", "--seed", std::to_string(k)}), 0));
  }
}

// Where there is one rank nobody needs a place, and no rank minds that it is asked for one that nothing has.
TEST_F(Command, PlacesAreForSeveralRanks) {
  write("p.fa",
        "C++ sub init(int v, name x) ${{ x = v; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main(int n) {\n"
        "  df x;\n"
        "  for i = 0..3 init(i, x[i]) @ { locator_cyclic: 6 / (n + i); };\n"
        "  for i = 1..3 show(x[i - 1]) @ { locator_cyclic: 6 / (n + i); };\n"
        "}\n");
  EXPECT_EQ(sorted(tessera({"run", "-q", "p.fa", "-t", "1", "--", "0"}).out), "0\n1\n2\n");
  EXPECT_EQ(sorted(tessera({"run", "-q", "p.fa", "--inproc-ranks", "3", "--", "1"}).out), "0\n1\n2\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa", "--inproc-ranks", "3", "--", "0"}), 1, {"[T406]"}));
  write("q.fa",
        "C++ sub init(int v, name x) ${{ x = v; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main(int n, int m) {\n"
        "  df x;\n"
        "  for i = 0..5 init(i, x[i + 3 * (n - m)]) @ { locator_cyclic: i + n - m; };\n"
        "  for i = 0..5 show(x[i + 3 * (n - m)]) @ { locator_cyclic: i + n - m; };\n"
        "}\n");
  EXPECT_EQ(sorted(tessera({"run", "-q", "q.fa", "--inproc-ranks", "3", "--", "1000000000", "999999999"}).out),
            "0\n1\n2\n3\n4\n5\n");
}

// Each rank makes the fragments that are placed on it, does not ask for what is made there, and keeps what is read there only: what
// travels is the value at the border, in each step two. It was 2.2 MB when one rank made all and sent half of them.
TEST_F(Command, PlacedFragmentsAreMadeInPlaceAndTalkLittle) {
  const std::string program = std::string(TESSERA_ROOT) + "/bench/programs/metg.fa";
  const auto run = tessera({"run", program, "--inproc-ranks", "2", "-t", "1", "--balancer", "none", "--", "64", "400", "0"});
  ASSERT_TRUE(ended(run, 0));
  std::smatch kilobytes;
  ASSERT_TRUE(std::regex_search(run.err, kilobytes, std::regex("([0-9.]+) kB sent"))) << run.err;
  EXPECT_LT(std::stod(kilobytes[1]), 200) << "of 12,800 fragments placed on rank 1";
}

class Placed : public Command {
 protected:
  std::int64_t bytes_sent(const Words& options) {
    Words words = {"run", "p.fa", "--inproc-ranks", "2", "-t", "1", "--balancer", "none", "--summary", "s.json"};
    words.insert(words.end(), options.begin(), options.end());
    EXPECT_TRUE(ended(tessera(words), 0));
    std::int64_t bytes = 0;
    const auto summary = nlohmann::json::parse(read("s.json"));
    for (const auto& rank : summary.at("ranks")) bytes += rank.at("bytes_sent").get<std::int64_t>();
    return bytes;
  }
};

TEST_F(Placed, SubsHideNoPlaces) {
  write("p.fa",
        "C++ sub make(int i, name x) ${{ x = i; $}}\n"
        "C++ sub next(int a, int b, int c, name x) ${{ x = (a + b + c) % 1000; $}}\n"
        "C++ sub check(int v) ${{ if (v < 0) abort(); $}}\n"
        "sub step(name from, int i, name to) {\n"
        "  next(i > 0 ? from[i - 1] : 0, from[i], i < 63 ? from[i + 1] : 0, to[i]) @ { locator_cyclic: i / 32; };\n"
        "}\n"
        "sub main() {\n"
        "  df x;\n"
        "  for i = 0..63 make(i, x[0][i]) @ { locator_cyclic: i / 32; };\n"
        "  for t = 1..200 for i = 0..63 step(x[t - 1], i, x[t]);\n"
        "  for i = 0..63 check(x[200][i]) @ { locator_cyclic: i / 32; };\n"
        "}\n");
  EXPECT_LT(bytes_sent({}) * 4, bytes_sent({"--without", "inline-subs"}));
}

// Elements at the edges are made by calls of their own, at other places than the formula for all others says.
TEST_F(Placed, EdgesHideNoPlaces) {
  write("p.fa",
        "C++ sub make(int i, name x) ${{ x = i; $}}\n"
        "C++ sub next(int a, int b, int c, name x) ${{ x = (a + b + c) % 1000; $}}\n"
        "C++ sub check(int v) ${{ if (v < 0) abort(); $}}\n"
        "sub main() {\n"
        "  df x;\n"
        "  for i = 0..63 make(i, x[0][i]) @ { locator_cyclic: i / 32; };\n"
        "  for t = 1..200 {\n"
        "    make(1, x[t - 1][-1]) @ { locator_cyclic: 0; };\n"
        "    make(1, x[t - 1][64]) @ { locator_cyclic: 1; };\n"
        "    for i = 0..63 next(x[t - 1][i - 1], x[t - 1][i], x[t - 1][i + 1], x[t][i]) @ { locator_cyclic: i / 32; };\n"
        "  }\n"
        "  for i = 0..63 check(x[200][i]) @ { locator_cyclic: i / 32; };\n"
        "}\n");
  EXPECT_LT(bytes_sent({}) * 4, bytes_sent({"--without", "find-makers"}));
}

// The two edges are one when n is -1: then nobody can know where it is made.
TEST_F(Placed, EdgesMayBeOne) {
  write("p.fa",
        "C++ sub make(int i, name x) ${{ x = i; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\", v); $}}\n"
        "sub main(int n, int second) {\n"
        "  df x;\n"
        "  if second == 0 for i = 0..5 make(1, x[i][-1]) @ { locator_cyclic: i + n; };\n"
        "  if second == 1 for i = 0..5 make(2, x[i][n]) @ { locator_cyclic: i + n + 1; };\n"
        "  for i = 0..5 show(x[i][-1]) @ { locator_cyclic: i + n; };\n"
        "}\n");
  for (const auto& [n, second, result] : {std::tuple("5", "0", "111111"), std::tuple("-1", "0", "111111"), std::tuple("-1", "1", "222222")}) {
    const Outcome o = tessera({"run", "-q", "p.fa", "--inproc-ranks", "3", "--", n, second});
    EXPECT_TRUE(ended(o, 0));
    EXPECT_EQ(o.out, result);
  }
}

TEST_F(Command, NoProgressLineWithoutATerminal) {
  write("p.fa", kHello);
  EXPECT_EQ(tessera({"run", "p.fa"}).err.find('\r'), std::string::npos);
}

TEST_F(Command, ArgumentsAfterTheDashesAreThePrograms) {
  write("p.fa", kEcho);
  EXPECT_EQ(tessera({"run", "-q", "p.fa", "--", "5", "--help"}).out, "5 --help\n");
  EXPECT_EQ(tessera({"run", "-q", "p.fa", "-n", "2", "--", "-5", "-n 7 'x"}).out, "-5 -n 7 'x\n");
  EXPECT_EQ(tessera({"run", "-q", "p.fa", "--", "5", "--"}).out, "5 --\n");
  EXPECT_EQ(tessera({"run", "-q", "p.fa", "-n", "2", "--", "5", ""}).out, "5 \n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 2)) << "two arguments are missing";
}

TEST_F(Command, PathsMayHaveBlanks) {
  write("a folder/my program.fa", "import f(int) as f;\nsub main() { f(3); }\n");
  write("a folder/my kernels.cpp",
        "#include \"ucenv.h\"\n#include \"my header.h\"\n"
        "extern \"C\" void f(int n) { printf(\"%d\\n\", n + ONE); }\n");
  write("a folder/my header.h", "#define ONE 1\n");
  EXPECT_EQ(tessera({"run", "-q", "a folder/my program.fa"}).out, "4\n");
  EXPECT_EQ(tessera({"run", "-q", "a folder/my program.fa", "-n", "2"}).out, "4\n");
  EXPECT_TRUE(ended(tessera({"build", "a folder/my program.fa", "-o", "a folder/it runs"}), 0));
  EXPECT_EQ(run({"./a folder/it runs"}).out, "4\n");
}

TEST_F(Command, MacrosComeFromTheCommandLine) {
  write("p.fa", "C++ sub show(int n) ${{ printf(\"%d\\n\", n); $}}\nsub main() { show($N); }\n");
  EXPECT_EQ(tessera({"run", "-q", "p.fa", "-D", "N=3"}).out, "3\n");
  EXPECT_EQ(tessera({"run", "-q", "-DN=4", "p.fa"}).out, "4\n");
}

TEST_F(Command, BuiltProgramsStartByThemselves) {
  write("p.fa", kEcho);
  EXPECT_TRUE(ended(tessera({"build", "p.fa"}), 0));
  EXPECT_EQ(run({"./p", "1", "--threads"}).out, "1 --threads\n");
  environment_ = {"TESSERA_OPTIONS=--quiet --balancer none"};
  const Words mpirun = {"mpirun", "-q", "--allow-run-as-root", "--oversubscribe", "-n", "2"};
  Words words = mpirun;
  words.insert(words.end(), {"./p", "2", "x"});
  const Outcome o = run(words);
  EXPECT_EQ(o.out, "2 x\n") << o.err;
  EXPECT_EQ(o.err, "");
  environment_ = {"TESSERA_OPTIONS=--no-such"};
  EXPECT_TRUE(ended(run({"./p", "1", "x"}), 2, {"TESSERA_OPTIONS", "--no-such"}));
}

TEST_F(Command, TheSummaryIsWritten) {
  write("p.fa", kHello);
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--summary", "s.json"}), 0));
  EXPECT_EQ(read("s.json").front(), '{');
}

TEST_F(Command, AFailureOnARankIsTheExitCode) {
  write("p.fa",
        "C++ sub f() ${{ throw std::runtime_error(\"oh dear\"); $}}\nsub main() { f(); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1, {"oh dear", "p.fa:2"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2"}), 1, {"oh dear", "p.fa:2"}));
}

TEST_F(Command, NothingEndsWithoutAWord) {
  write("p.fa", "C++ sub die() ${{ std::fputs(\"busy\\n\", stderr); ::kill(::getpid(), SIGKILL); $}}\nsub main() { die(); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--cxxflags=-include signal.h -include unistd.h"}), 137,
                    {"a rank was killed"}));
  write("bin/mpirun", "#!/bin/sh\nexit 5\n");
  std::filesystem::permissions(path("bin/mpirun"), std::filesystem::perms::owner_all);
  write("p.fa", kHello);
  environment_ = {"PATH=" + path("bin").string() + ":" + std::getenv("PATH")};
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2"}), 5, {"mpirun ended with exit code 5", "hostname"}));
}

TEST_F(Command, AChildOfAKernelMayExit) {
  write("p.fa",
        "C++ sub spawn() ${{\n"
        "  const pid_t child = fork();\n"
        "  if (child == 0) exit(0);\n"
        "  int status = 1;\n"
        "  waitpid(child, &status, 0);\n"
        "  printf(\"%d\", status);\n"
        "$}}\n"
        "sub main() { spawn(); }\n");
  const Outcome o = tessera({"run", "p.fa", "-q", "--cxxflags=-include unistd.h -include sys/wait.h"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "0");
  EXPECT_EQ(o.err, "");
}

TEST_F(Command, WhoStartsItMayIgnoreChildren) {
  write("p.fa", "C++ sub f() ${{ throw std::runtime_error(\"oh dear\"); $}}\nsub main() { f(); }\n");
  EXPECT_TRUE(ended(run({"sh", "-c", "trap '' CHLD; exec \"$@\"", "sh", TESSERA_COMMAND, "run", "p.fa", "-q", "-n", "2"}), 1,
                    {"oh dear"}));
}

// Nobody reads what the kernel writes to stderr; the run ends when it is told to.
TEST_F(Command, AStderrThatNobodyReadsKeepsFromNoSignal) {
  write("p.fa",
        "C++ sub flood() ${{\n"
        "  fclose(fopen(\"floods\", \"w\"));\n"
        "  for (;;) std::fprintf(stderr, \"and on and on and on and on and on and on\\n\");\n"
        "$}}\n"
        "sub main() { flood(); }\n");
  const Outcome o = run({"sh", "-c",
                         "mkfifo pipe; exec 3<>pipe\n"
                         "\"$@\" 2>pipe 3>&- & pid=$!\n"
                         "until test -f floods || ! kill -0 $pid; do sleep 0.05; done; sleep 1\n"
                         "kill -TERM $pid; wait $pid",
                         "sh", TESSERA_COMMAND, "run", "p.fa", "-q", "-n", "2"});
  EXPECT_EQ(o.exit_code, 130);
}

// Open MPI may take a rank for lost that has ended well.
TEST_F(Command, ARunThatEndedWellIsNoFailureOfMpirun) {
  write("bin/mpirun", std::string("#!/bin/sh\nPATH='") + std::getenv("PATH") + "'\nmpirun \"$@\"\nexit 1\n");
  std::filesystem::permissions(path("bin/mpirun"), std::filesystem::perms::owner_all);
  environment_ = {"PATH=" + path("bin").string() + ":" + std::getenv("PATH")};
  write("p.fa", kHello);
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-q", "-n", "2"}), 0));
  write("p.fa", "C++ sub f() ${{ throw std::runtime_error(\"oh dear\"); $}}\nsub main() { f(); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-q", "-n", "2"}), 1, {"oh dear"}));
}

TEST_F(Command, SignalsEndEveryRank) {
  write("p.fa", kSleep);
  EXPECT_EQ(tessera_signalled("INT", "napping", {"run", "p.fa"}).exit_code, 130);
  for (const char* signal : {"INT", "TERM", "HUP"}) {
    const Outcome o =
        tessera_signalled(signal, "napping", {"run", "p.fa", "-n", "3", "--balancer", "none"});
    EXPECT_EQ(o.exit_code, 130) << signal << "\n" << o.err;
  }
  // Nothing can be done on SIGKILL, and still nothing stays behind (the fixture looks).
  tessera_signalled("KILL", "napping", {"run", "p.fa", "-n", "3", "--balancer", "none"});
}

TEST_F(Command, ProfilesAreSavedAndWrongOnesRefused) {
  write("p.fa",
        "C++ sub work(int i) ${{ usleep(1000); $}}\nsub main() { for i = 1..20 { work(i); } }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "-c", "--save-groups", "good"}), 0));
  const std::string good = read("good");
  ASSERT_FALSE(good.empty());
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "-c", "--load-groups", "good"}), 0));
  EXPECT_EQ(read("good"), good) << "only read";
  write("broken", "this is no profile\n");
  write("cut", good.substr(0, good.size() / 2));
  for (const char* name : {"broken", "cut"}) {
    const std::string before = read(name);
    const Outcome o = tessera({"run", "p.fa", "-n", "2", "-c", "--load-groups", name});
    EXPECT_TRUE(ended(o, 2, {name}));
    EXPECT_EQ(read(name), before);
  }
  write("other.fa", kHello);
  EXPECT_TRUE(
      ended(tessera({"run", "other.fa", "-n", "2", "-c", "--load-groups", "good"}), 2, {"good"}));
  EXPECT_TRUE(ended(tessera({"run", "other.fa", "-n", "2", "-c", "--load-groups", "good",
                             "--load-groups-anyway"}),
                    0));
}

}  // namespace
}  // namespace tessera::tests
