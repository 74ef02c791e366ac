// What moves between ranks, what stays, and how values reach their readers.
#include <map>
#include <regex>
#include <utility>
#include <vector>

#include "command.hpp"
#include "nlohmann/json.hpp"

namespace tessera::tests {
namespace {

// Fragments that a run has moved, by its summary.
std::int64_t moved(const std::string& summary) {
  std::int64_t sum = 0;
  const auto groups = nlohmann::json::parse(summary).at("groups");
  for (const auto& g : groups) sum += g.at("moved").get<std::int64_t>();
  return sum;
}

// The same with iterations, and as often as each was moved.
std::int64_t moves(const std::string& summary) {
  std::int64_t sum = 0;
  const auto ranks = nlohmann::json::parse(summary).at("ranks");
  for (const auto& r : ranks) sum += r.at("moved_out").get<std::int64_t>();
  return sum;
}

// Balancers are told what comes of an iteration, also under conditions, in loops within and in subs.
TEST_F(Command, WhatIsBelowALoop) {
  write("p.fa",
        "C++ sub make(int i, name x) ${{ x = i; $}}\n"
        "C++ sub pass(int v, name x) ${{ x = v; $}}\n"
        "C++ sub show(int v) ${{ (void)v; $}}\n"
        "sub both(name x, name y) { for k = 0..1 pass(x[k], y[k]); }\n"
        "sub main() {\n"
        "  df x, y, z;\n"
        "  for i = 0..9 make(i, x[i][0]);\n"
        "  for i = 0..9 if i > 3 make(i, x[i][1]);\n"
        "  for i = 4..9 both(x[i], y[i]);\n"
        "  for i = 4..9 { make(i, z[i]); if i > 5 show(y[i][1]); }\n"
        "}\n");
  ASSERT_TRUE(ended(tessera({"run", "-q", "p.fa", "--inproc-ranks", "2", "-b", "steal", "--record-policy", "log"}), 0));
  const std::string log = read("log/rank-0.policy.jsonl");
  const auto groups = nlohmann::json::parse(log.substr(0, log.find('\n'))).at("groups");
  std::vector<std::pair<std::size_t, std::size_t>> loops;  // calls in the body, and all others
  for (const auto& g : groups) {
    if (g.at("label").get<std::string>().rfind("for i", 0) == 0)
      loops.emplace_back(g.at("body").size(), g.at("below").size());
  }
  EXPECT_EQ(loops, (decltype(loops){{1, 0}, {0, 1}, {0, 1}, {1, 1}}));
}

// Values of 12 kB that take 120 ms to travel, made and used in a third of a millisecond each, or in some where the
// machine is busy otherwise: what moves is a few to be measured, and then what is back before its rank is done with the
// rest. A line carries one value in that time, ten at most.
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
  std::map<std::string, int> said;
  for (int run = 0; run < 2; ++run) {
    for (const char* balancer : {"central", "steal", "auto", "auction", "torus", "tree", "mirror"}) {
      const Outcome o = tessera({"run", "p.fa", "-t", "1", "--balancer", balancer, "--transport", "inproc",
                                 "--inproc-ranks", "4", "--link-bandwidth", "1e5", "--summary", "s.json"});
      EXPECT_TRUE(ended(o, 0));
      if (o.err.find("worth moving") != std::string::npos &&
          o.err.find("transfer costs more than it saves") != std::string::npos)
        ++said[balancer];
      EXPECT_LE(moved(read("s.json")), 40) << balancer;
    }
  }
  EXPECT_GE(said["central"], 1);
}

// What each step reads again and again goes to a rank once, also where all who read it waited for it when it was made.
TEST_F(Command, WhatIsReadAgainTravelsOnce) {
  write("p.fa",
        "C++ sub block(int i, name A) ${{ usleep(20000); A.create<char>(1000000)[7] = static_cast<char>(i); $}}\n"
        "C++ sub apply(int i, value A, int s, name x) ${{ usleep(i % 2 ? 6000 : 1000); x = s + A.getData<char>()[7]; "
        "$}}\n"
        "C++ sub add(int a, int b, name c) ${{ c = (a + b) % 10007; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main(int n) {\n"
        "  df A, x, s;\n"
        "  for i = 0..7 block(i, A[i]) @ { locator_cyclic: i; };\n"
        "  add(0, 1, s[0]);\n"
        "  for t = 0..n - 1 {\n"
        "    for i = 0..7 apply(i, A[i], s[t], x[t][i]) @ { locator_cyclic: i; };\n"
        "    add(x[t][0] + x[t][1] + x[t][2] + x[t][3], x[t][4] + x[t][5] + x[t][6] + x[t][7], s[t + 1]);\n"
        "  }\n"
        "  show(s[n]);\n"
        "}\n");
  for (const char* balancer : {"steal", "auto"}) {
    EXPECT_TRUE(ended(
        tessera({"run", "p.fa", "-n", "2", "-t", "1", "--balancer", balancer, "--summary", "s.json", "--", "40"}), 0));
    double sent = 0;
    const auto summary = nlohmann::json::parse(read("s.json"));
    for (const auto& r : summary.at("ranks")) sent += r.at("bytes_sent").get<double>();
    EXPECT_LT(sent, 30e6) << balancer << ": 8 MB are read";
    EXPECT_GE(moved(read("s.json")), 4) << balancer;
  }
}

// They read each other, run by run: one of both elsewhere asked for each value when it came to it, 50 us a run.
TEST_F(Command, WhatFollowsOthersStaysWithThem) {
  write(
      "p.fa",
      "C++ sub first(name x) ${{ x = 1; $}}\n"
      "C++ sub step(int a, int b, name x) ${{ x = (a + 3 * b) % 1000; $}}\n"
      "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
      "sub field(name own, name other, int n, name w) while t < n, t = 0 .. out w step(own[t], other[t], own[t + 1]);\n"
      "sub main(int turns, int n) {\n"
      "  df x, y, v, w;\n"
      "  first(x[0]); first(y[0]);\n"
      "  if turns == 0 { for t = 1..n step(x[t - 1], 1, x[t]); for t = 1..n step(y[t - 1], x[t], y[t]); show(y[n]); }\n"
      "  if turns != 0 { field(x, y, n, v); field(y, x, n, w); show(y[w]); }\n"
      "}\n");
  for (const char* turns : {"0", "1"}) {
    for (const char* balancer : {"auto", "steal", "demand"}) {
      const Outcome o = tessera(
          {"run", "p.fa", "-n", "2", "-t", "1", "--balancer", balancer, "--summary", "s.json", "--", turns, "20000"});
      EXPECT_TRUE(ended(o, 0));
      std::int64_t messages = 0;
      const auto ranks = nlohmann::json::parse(read("s.json")).at("ranks");
      for (const auto& r : ranks) messages += r.at("messages_sent").get<std::int64_t>();
      EXPECT_LT(messages, 5000) << balancer << ", turns " << turns;
    }
  }
}

// A hundred thousand become ready together. Kernels that do nothing weigh less than shipping them costs; but a worker
// that is interrupted while one is timed takes them for heavier.
TEST_F(Command, WhatWeighsLessThanItsShipmentStays) {
  write("p.fa",
        "C++ sub first(name x) ${{ usleep(30000); x = 1; $}}\n"
        "C++ sub use(int us, int x, int i) ${{ if (us > 0) usleep(us); (void)x; (void)i; $}}\n"
        "sub main(int us, int n) {\n"
        "  df x;\n"
        "  first(x);\n"
        "  for i = 1..n use(us, x, i);\n"
        "}\n");
  const auto fewest = [&](const char* balancer, const char* us, const char* n) {
    std::int64_t least = INT64_MAX;
    for (int run = 0; run < 3; ++run) {
      const Outcome o = tessera({"run", "p.fa", "-t", "1", "--balancer", balancer, "--transport", "inproc",
                                 "--inproc-ranks", "3", "--summary", "s.json", "--", us, n});
      EXPECT_TRUE(ended(o, 0));
      least = std::min(least, moves(read("s.json")));
    }
    return least;
  };
  for (const char* balancer : {"steal", "central", "auto", "auction"}) {
    EXPECT_LE(fewest(balancer, "0", "100000"), 2000) << balancer;
    EXPECT_GE(fewest(balancer, "300", "300"), 50) << balancer;
  }
}

// What kernels took of the time of all workers, at best of three runs: the machine may be busy otherwise.
class SharedOut : public Command {
 protected:
  double efficiency(const Words& words) {
    double best = 0;
    for (int run = 0; run < 3 && best < kGood; ++run) {
      Words all{"run", "p.fa", "-t", "1", "--summary", "s.json"};
      all.insert(all.end(), words.begin(), words.end());
      EXPECT_TRUE(ended(tessera(all), 0));
      best = std::max(best, nlohmann::json::parse(read("s.json")).at("efficiency").get<double>());
    }
    return best;
  }
  static constexpr double kGood = 0.7;
};

// The second long one ran right behind the first, in place, for most calls of the kernel are tiny: a half.
TEST_F(SharedOut, AFewLongCallsAmongLightOnes) {
  write("p.fa",
        "C++ sub work(int v, int i, name y) ${{ if (i < 2) usleep(30000); (void)v; y = i; $}}\n"
        "sub main() {\n"
        "  df v, w, y;\n"
        "  work(0, 9, v[0]);\n"
        "  while t < 20, t = 0 .. out w {\n"
        "    for i = 0..7 work(v[t], i, y[t][i]);\n"
        "    work(y[t][0] + y[t][1] + y[t][2] + y[t][3] + y[t][4] + y[t][5] + y[t][6] + y[t][7], 9, v[t + 1]);\n"
        "  }\n"
        "  work(v[w], 9, y[20][0]);\n"
        "}\n");
  for (const char* balancer : {"auto", "steal"}) {
    EXPECT_GE(efficiency({"-n", "2", "--balancer", balancer}), kGood) << balancer;
  }
}

// Values pile up where they are made, of which no more than three were there at a time: a half.
TEST_F(SharedOut, WhatChainsBeginWithIsThereForAll) {
  write("p.fa",
        "C++ sub first(name x) ${{ x.create<double>(131072); $}}\n"
        "C++ sub stage(value a, name x) ${{ usleep(8000); (void)a; x.create<double>(131072); $}}\n"
        "sub main() {\n"
        "  df v;\n"
        "  for c = 0..31 first(v[c][0]);\n"
        "  for c = 0..31 for s = 0..9 stage(v[c][s], v[c][s + 1]);\n"
        "}\n");
  for (const char* balancer : {"auto", "steal"}) {
    EXPECT_GE(efficiency({"-n", "4", "--balancer", balancer}), kGood) << balancer;
  }
}

// What a chain makes ready waited, unseen by any policy, until all of its runs were over: one item at a time.
TEST_F(SharedOut, StagesOfAPipelineWithFeedback) {
  write("p.fa",
        "C++ sub first(name x) ${{ x = 1; $}}\n"
        "C++ sub both(int a, int b, name x) ${{ x = (a + b) % 1000; $}}\n"
        "C++ sub stage(int a, int b, int j, name x) ${{ usleep(1000 * (1 + j % 3)); x = (a + b) % 1000; $}}\n"
        "sub main() {\n"
        "  df x;\n"
        "  for t = 0..4 for j = 0..9 first(x[t][j]);\n"
        "  for t = 5..64 { both(x[t - 5][9], t, x[t][0]); for j = 0..8 stage(x[t][j], x[t - 1][j + 1], j, x[t][j + "
        "1]); }\n"
        "}\n");
  for (const char* balancer : {"auto", "steal"}) {
    EXPECT_GE(efficiency({"-n", "3", "--balancer", balancer}), kGood) << balancer;
  }
}

// Iterations that read nothing travel as one loop, however light they are.
TEST_F(Command, LightIterationsMoveWhereTheyReadNothing) {
  write("p.fa",
        "C++ sub work(int i) ${{ volatile int n = i; for (int k = 0; k < 100; ++k) n = n + k; $}}\n"
        "sub main() { for i = 1..1000000 work(i); }\n");
  std::int64_t most = 0;
  for (int run = 0; run < 3; ++run) {
    EXPECT_TRUE(ended(
        tessera({"run", "p.fa", "-t", "1", "--transport", "inproc", "--inproc-ranks", "2", "--summary", "s.json"}), 0));
    most = std::max(most, moves(read("s.json")));
  }
  EXPECT_GE(most, 100'000);
}

// What many fragments read goes to each rank once, however often fragments that have it are moved there.
TEST_F(Command, WhatManyReadGoesToARankOnce) {
  write("p.fa",
        "C++ sub make(name x) ${{ x.create<char>(1 << 20); $}}\n"
        "C++ sub use(value a, name y) ${{ usleep(10000); (void)a; y = 1; $}}\n"
        "C++ sub show(int v) ${{ (void)v; $}}\n"
        "sub main() {\n"
        "  df a, y;\n"
        "  make(a) @ { locator_cyclic: 0; };\n"
        "  for i = 1..64 use(a, y[i]);\n"
        "  for i = 1..64 show(y[i]);\n"
        "}\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "3", "-t", "1", "--balancer", "central", "--summary", "s.json"}), 0));
  const auto summary = nlohmann::json::parse(read("s.json"));
  EXPECT_GE(moved(summary.dump()), 10);
  std::int64_t bytes = 0;
  for (const auto& rank : summary.at("ranks")) bytes += rank.at("bytes_sent").get<std::int64_t>();
  EXPECT_LT(bytes, 8 << 20) << "two ranks need 2 MB; probes of links take some more";
}

// Probes of links are no larger than what may travel.
TEST_F(Command, SmallValuesNeedNoLargeProbes) {
  write("p.fa",
        "C++ sub make(int i, name x) ${{ usleep(1000); x.create<char>(SIZE)[0] = static_cast<char>(i % 100); $}}\n"
        "C++ sub look(value x) ${{ (void)x; $}}\n"  // what nobody reads does not travel
        "sub main() { df x; for i = 1..300 { make(i, x[i]); look(x[i]); } }\n");
  const auto sent = [&](const char* size) {
    write("q.fa", std::regex_replace(read("p.fa"), std::regex("SIZE"), size));
    EXPECT_TRUE(ended(
        tessera({"run", "-q", "q.fa", "-t", "1", "--balancer", "steal", "--inproc-ranks", "2", "--summary", "s.json"}),
        0));
    std::int64_t bytes = 0;
    const auto summary = nlohmann::json::parse(read("s.json"));
    for (const auto& rank : summary.at("ranks")) bytes += rank.at("bytes_sent").get<std::int64_t>();
    return bytes;
  };
  EXPECT_LT(sent("100"), 500'000);
  EXPECT_GT(sent("500000"), 1'000'000) << "links are known for what travels";
}

// Makers of values of 3 MB that take 30 ms to travel to their readers, and 5 ms to make: a line carries ten of them
// while all sixty are made, so a few may go.
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
      EXPECT_TRUE(ended(tessera({"run", "p.fa", "-t", "1", "--balancer", balancer, "--transport", "inproc",
                                 "--inproc-ranks", "3", "--link-bandwidth", "1e8", "--summary", "s.json"}),
                        0));
      EXPECT_LE(moved(read("s.json")), 30) << balancer;
    }
  }
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
    const Outcome o =
        tessera({"run", "q.fa", "-t", "1", "--balancer", "none", "--inproc-ranks", "16", "--summary", "s.json"});
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
        "C++ sub work(int go, value a, value b, name r) ${{ usleep(15000); r = a.getData<int>()[1] + "
        "b.getData<int>()[1]; $}}\n"
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
    const Outcome o =
        tessera({"run", "p.fa", "-q", "-n", "6", "-t", "1", "--balancer", "steal", "--cache-limit-mb", "0"});
    EXPECT_TRUE(ended(o, 0));
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

}  // namespace
}  // namespace tessera::tests
