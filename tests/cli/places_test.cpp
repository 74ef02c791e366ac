// Fragments with locators, and what is made in the same place step after step.
#include <regex>
#include <tuple>

#include "command.hpp"
#include "nlohmann/json.hpp"

namespace tessera::tests {
namespace {

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

// What has been moved in one step is there in the next. Without it each step is balanced anew: five times as many
// moves.
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

TEST_F(Command, SeriesThatMoveChangeNoResult) {
  write("p.fa", kSeries);
  const std::string right = tessera({"run", "-q", "p.fa", "-t", "1", "--", "30", "30"}).out;
  // The last: where values were sent to their place and evicted there, and a fragment that comes later reads them.
  const Words evicts = {"--balancer", "steal", "--cache-limit-mb", "0", "--eager-bytes", "0"};
  for (const Words& options :
       {Words{"--balancer", "steal"}, Words{"--balancer", "torus"}, Words{"-c"},
        Words{"--balancer", "steal", "--leave", "1@0.02", "--join", "1@0.04"}, evicts, evicts, evicts, evicts}) {
    Words words = {"run", "-q", "p.fa", "--inproc-ranks", "2", "-t", "1"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "30", "30"});
    EXPECT_EQ(sorted(tessera(words).out), sorted(right)) << ::testing::PrintToString(options);
  }
}

// A series is told by ints: two that differ in a real, and belong to two ranks, once sent their fragments to each other
// for ever.
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
    EXPECT_TRUE(ended(
        tessera({"run", "p.fa", "--inproc-ranks", "2", "-t", "1", "--balancer", "steal", "--seed", std::to_string(k)}),
        0));
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

// Each rank makes the fragments that are placed on it, does not ask for what is made there, and keeps what is read
// there only: what travels is the value at the border, in each step two. It was 2.2 MB when one rank made all and sent
// half of them.
TEST_F(Command, PlacedFragmentsAreMadeInPlaceAndTalkLittle) {
  const std::string program = std::string(TESSERA_ROOT) + "/bench/programs/metg.fa";
  const auto run =
      tessera({"run", program, "--inproc-ranks", "2", "-t", "1", "--balancer", "none", "--", "64", "400", "0"});
  ASSERT_TRUE(ended(run, 0));
  std::smatch kilobytes;
  ASSERT_TRUE(std::regex_search(run.err, kilobytes, std::regex("([0-9.]+) kB sent"))) << run.err;
  EXPECT_LT(std::stod(kilobytes[1]), 200) << "of 12,800 fragments placed on rank 1";
}

class Placed : public Command {
 protected:
  std::int64_t bytes_sent(const Words& options, const std::string& ranks = "2") {
    Words words = {"run", "p.fa", "--inproc-ranks", ranks, "-t", "1", "--balancer", "none", "--summary", "s.json"};
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
  write(
      "p.fa",
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
  EXPECT_LT(bytes_sent({}) * 4, bytes_sent({"--without", "find-makers", "--without", "find-readers"}));
}

// A chain that goes back and forth between two ranks, of which neither is the home: each value goes straight to its
// reader.
TEST_F(Placed, WhoReadsIsSentItUnasked) {
  write("p.fa",
        "C++ sub make(int i, name x) ${{ x = i; $}}\n"
        "C++ sub next(int a, name x) ${{ x = (a + 1) % 1000; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() {\n"
        "  df x;\n"
        "  make(0, x[0]) @ { locator_cyclic: 1; };\n"
        "  for i = 1..2500 next(x[i - 1], x[i]) @ { locator_cyclic: 1 + i % 2; };\n"
        "  show(x[2500]);\n"
        "}\n");
  const auto messages = [&](Words options) {
    options.insert(options.begin(), {"run", "-q", "p.fa", "--inproc-ranks", "3", "-t", "1", "--balancer", "none",
                                     "--summary", "s.json"});
    const auto run = tessera(options);
    EXPECT_TRUE(ended(run, 0));
    EXPECT_EQ(run.out, "500\n");
    int sent = 0;
    const auto summary = nlohmann::json::parse(read("s.json"));
    for (const auto& rank : summary.at("ranks")) sent += rank.at("messages_sent").get<int>();
    return sent;
  };
  EXPECT_LT(messages({}), 2.75 * 2500) << "to its reader, and to its home; some are early where others use the cores";
  EXPECT_GT(messages({"--without", "find-readers"}), 2.9 * 2500) << "the check can fail";
}

// More than 1,024 readers are not made before those made run (Lead): the rest finds its values come and, some, gone.
TEST_F(Placed, WhatWasSentEarlyAndEvictedIsAskedFor) {
  write("p.fa",
        "C++ sub make(int i, name x) ${{ x = i; $}}\n"
        "C++ sub slow(name x) ${{ usleep(50000); x = 1; $}}\n"
        "C++ sub take(int a, int b, name y) ${{ y = a + b; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() {\n"
        "  df x, y, s;\n"
        "  slow(s) @ { locator_cyclic: 1; };\n"
        "  for i = 0..4999 make(i, x[i]) @ { locator_cyclic: 0; };\n"
        "  for i = 0..4999 take(x[i], s, y[i]) @ { locator_cyclic: 1; };\n"
        "  for i = 4990..4999 show(y[i]);\n"
        "}\n");
  for (const char* limit : {"0", "1000"}) {
    const auto run = tessera(
        {"run", "-q", "p.fa", "--inproc-ranks", "2", "-t", "1", "--balancer", "none", "--cache-limit-mb", limit});
    EXPECT_TRUE(ended(run, 0));
    EXPECT_EQ(sorted(run.out), "4991\n4992\n4993\n4994\n4995\n4996\n4997\n4998\n4999\n5000\n");
  }
}

// One reader is sent the value, another one there is placed by what the index does not tell, and asks.
TEST_F(Placed, WhoIsSentItAndAsksGetsItOnce) {
  write("p.fa",
        "C++ sub slow(name x) ${{ usleep(50000); x = 1; $}}\n"
        "C++ sub make(int i, int s, name x) ${{ x.create(30000); memset(x.getData<char>(), i % 100, 30000); $}}\n"
        "C++ sub use(value v, name y) ${{ y = *v.getData<char>(); $}}\n"
        "C++ sub check(int v, int w) ${{ if (v != w) abort(); $}}\n"
        "sub main() {\n"
        "  df x, y, z, s;\n"
        "  slow(s) @ { locator_cyclic: 1; };\n"
        "  for i = 0..299 make(i, s, x[i]) @ { locator_cyclic: 1; };\n"
        "  for i = 0..299 use(x[i], y[i]) @ { locator_cyclic: 2; };\n"
        "  for i = 0..299 for k = 2..2 use(x[i], z[i]) @ { locator_cyclic: k; };\n"
        "  for i = 0..299 check(y[i], z[i]);\n"
        "}\n");
  EXPECT_LT(bytes_sent({}, "3"), 1.2 * 300 * 30000);
  // Nobody is sent anything unasked once ranks leave or join.
  EXPECT_LT(bytes_sent({"--leave", "3@0", "--join", "3@0.001"}, "4"), 1.3 * 300 * 30000);
}

// From --relay-bytes on those that have it pass it on, although nobody of them has asked.
TEST_F(Placed, LargeValuesArePassedOnByTheirReaders) {
  std::string program =
      "C++ sub make(int i, name x) ${{ x.create(200000); memset(x.getData<char>(), i, 200000); $}}\n"
      "C++ sub use(value v, name y) ${{ y = *v.getData<char>(); $}}\n"
      "C++ sub check(int v, int i) ${{ if (v != i) abort(); $}}\n"
      "sub main() {\n"
      "  df x, y;\n"
      "  for i = 0..19 make(i, x[i]) @ { locator_cyclic: 0; };\n";
  for (const char* r : {"1", "2", "3", "4", "5", "6", "7"}) {
    program += std::string("  for i = 0..19 use(x[i], y[i][") + r + "]) @ { locator_cyclic: " + r + "; };\n";
  }
  write("p.fa", program + "  for i = 0..19 for r = 1..7 check(y[i][r], i);\n}\n");
  bytes_sent({}, "8");
  const auto summary = nlohmann::json::parse(read("s.json"));
  EXPECT_LT(summary.at("ranks").at(0).at("bytes_sent").get<double>(), 3.0 * 20 * 200000) << "of 7";
}

// A value that is shared (`copy`) by names that are made and read in one place only: their home, another rank, has
// nothing to do with them.
TEST_F(Placed, HomesHearNothingOfWhatIsReadWhereItIsMade) {
  write("p.fa",
        "C++ sub make(name x) ${{ usleep(50000); x.create(200); $}}\n"
        "C++ sub pass(value v, name y) ${{ y.copy(v); $}}\n"
        "C++ sub check(value v) ${{ if (v.getSize() != 200) abort(); $}}\n"
        "sub main() {\n"
        "  df x;\n"
        "  make(x[0]);\n"
        "  for t = 1..900 pass(x[t - 1], x[t]) @ { locator_cyclic: 1; };\n"
        "  check(x[900]);\n"
        "}\n");
  EXPECT_LT(bytes_sent({}), 10000) << "all wait when the first is made; 24 bytes for each would be 21,600";
}

// Who reads what has been deleted is told so: it asks, though its place is known. (Its uses are not: `deep` calls
// itself.)
TEST_F(Placed, WhatIsDeletedIsAskedFor) {
  write("p.fa",
        "C++ sub make(int i, name x) ${{ x = i; $}}\n"
        "C++ sub slow(name x) ${{ usleep(100000); x = 1; $}}\n"
        "C++ sub use(int v, name y) ${{ y = v; $}}\n"
        "sub deep(name x, int n) { df _q; use(x, _q); if n > 0 deep(x, n - 1); }\n"
        "sub main() {\n"
        "  df x, y, z, s;\n"
        "  slow(s) @ { locator_cyclic: 1; };\n"
        "  for i = 1..3000 use(s, z[100 + i]) @ { locator_cyclic: 1; };\n"
        "  make(5, x) @ { locator_cyclic: 2; };\n"
        "  use(x, y) @ { locator_cyclic: 0; delete x; };\n"
        "  if s == 1 { for i = 1..5 use(x, z[i]) @ { locator_cyclic: 1; }; }\n"
        "  if s == 2 deep(x, 1);\n"
        "}\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa", "--inproc-ranks", "3", "-t", "1", "--balancer", "none", "--seed", "3",
                             "--max-delay-us", "3000"}),
                    1, {"[T403]"}));
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
  for (const auto& [n, second, result] :
       {std::tuple("5", "0", "111111"), std::tuple("-1", "0", "111111"), std::tuple("-1", "1", "222222")}) {
    const Outcome o = tessera({"run", "-q", "p.fa", "--inproc-ranks", "3", "--", n, second});
    EXPECT_TRUE(ended(o, 0));
    EXPECT_EQ(o.out, result);
  }
}

}  // namespace
}  // namespace tessera::tests
