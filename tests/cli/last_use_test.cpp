// Data fragments whose uses are known are freed with the last of them (docs/optimisations.md).
#include "command.hpp"
#include "nlohmann/json.hpp"

namespace tessera::tests {
namespace {

// 400 megabytes in all, two of them needed at a time.
constexpr const char* kLargeChain =
    "C++ sub make(int i, name x) ${{ x.create(1 << 20); memset(x.getData<char>(), i, 1 << 20); $}}\n"
    "C++ sub next(value a, name x) ${{\n"
    "  x.create(1 << 20);\n"
    "  memset(x.getData<char>(), 1 + *a.getData<char>(), 1 << 20);\n"
    "$}}\n"
    "C++ sub check(value a) ${{ printf(\"%d\\n\", *a.getData<unsigned char>()); $}}\n"
    "sub main() {\n"
    "  df x;\n"
    "  make(0, x[0]);\n"
    "  for i = 1..400 next(x[i - 1], x[i]);\n"
    "  check(x[400]);\n"
    "}\n";

// Rows of a stencil: the elements of two of 5,000 rows are needed at a time.
constexpr const char* kStencil =
    "C++ sub init(int v, name x) ${{ x = v; $}}\n"
    "C++ sub step(int a, int b, int c, name x) ${{ x = (a + b + c) % 1000; $}}\n"
    "C++ sub check(int v) ${{ if (v < 0) abort(); $}}\n"
    "sub main() {\n"
    "  df x;\n"
    "  for i = 0..99 init(i, x[0][i]);\n"
    "  for t = 1..5000 {\n"
    "    init(0, x[t - 1][-1]);\n"
    "    init(0, x[t - 1][100]);\n"
    "    for i = 0..99 step(x[t - 1][i - 1], x[t - 1][i], x[t - 1][i + 1], x[t][i]);\n"
    "  }\n"
    "  for i = 0..99 check(x[5000][i]);\n"
    "}\n";

// A sub that calls itself twice, and so on.
constexpr const char* kTree =
    "C++ sub leaf(name x) ${{ x = 1; $}}\n"
    "C++ sub add(int a, int b, name x) ${{ x = a + b; $}}\n"
    "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
    "sub tree(int depth, name x) {\n"
    "  if depth == 0 leaf(x);\n"
    "  if depth > 0 {\n"
    "    df a, b;\n"
    "    tree(depth - 1, a);\n"
    "    tree(depth - 1, b);\n"
    "    add(a, b, x);\n"
    "  }\n"
    "}\n"
    "sub main(int depth) { df x; tree(depth, x); show(x); }\n";

class LastUse : public Command {
 protected:
  // Of the rank that takes most.
  double peak_mb(Words options) {
    Words words{"run", "-q", "p.fa", "--summary", "s.json"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(o, 0));
    out_ = o.out;
    double most = 0;
    const auto summary = nlohmann::json::parse(read("s.json"));
    for (const auto& rank : summary.at("ranks")) most = std::max(most, rank.at("peak_memory_kb").get<double>() / 1024);
    return most;
  }
  std::string out_;
};

// Tests of how much memory a run takes.
class LastUsePeak : public LastUse {
  void SetUp() override {
    LastUse::SetUp();
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer holds back what is freed";
#endif
  }
};

TEST_F(LastUsePeak, LargeValuesGo) {
  write("p.fa", kLargeChain);
  EXPECT_LT(peak_mb({"-t", "1"}), 100);
  EXPECT_EQ(out_, "144\n");
  EXPECT_GT(peak_mb({"-t", "1", "--without", "count-uses", "--without", "sweep-names"}), 300) << "the check can fail";
  EXPECT_EQ(out_, "144\n");
}

// A second assignment is found all the same.
TEST_F(LastUse, SweptNamesAreAssignedOnce) {
  write("p.fa",
        "C++ sub init(int v, name x) ${{ x = v; $}}\n"
        "C++ sub step(int a, int b, name x) ${{ x = (a + b) % 64; $}}\n"
        "C++ sub show(int a) ${{ printf(\"%d\\n\", a); $}}\n"
        "sub go(name x, int t, int n) {\n"
        "  for i = 0..9 step(x[t - 1][i], x[t - 1][9 - i], x[t][i]);\n"
        "  if t == n init(0, x[1][0]);\n"
        "  if t < n go(x, t + 1, n); }\n"
        "sub main() { df x; for i = 0..9 init(i, x[0][i]); go(x, 1, 500); show(x[500][0]); }\n");
  const Outcome o = tessera({"run", "-q", "p.fa", "-t", "1"});
  EXPECT_TRUE(ended(o, 1));
  EXPECT_NE(o.err.find("T402"), std::string::npos) << o.err;
}

// A `delete` that says the same leaves nothing behind: not even that it was deleted.
TEST_F(LastUsePeak, AdviceThatSaysTheSameCostsNothing) {
  write("p.fa",
        "C++ sub set(int v, name x) ${{ x = v; $}}\n"
        "C++ sub next(int a, name x) ${{ x = a % 7; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() {\n"
        "  df x;\n"
        "  set(5, x[0]);\n"
        "  for i = 1..400000 next(x[i - 1], x[i]) @ { delete x[i - 1]; };\n"
        "  show(x[400000]);\n"
        "}\n");
  const double with = peak_mb({"-t", "1"});
  EXPECT_EQ(out_, "5\n");
  EXPECT_LT(with * 2, peak_mb({"-t", "1", "--without", "count-uses", "--without", "sweep-names"}));
}

// What subs read is counted where the names are declared.
TEST_F(LastUsePeak, SubsAreSeenThrough) {
  write("p.fa",
        "C++ sub make(int i, name x) ${{ x = i; $}}\n"
        "C++ sub next(int a, int b, name x) ${{ x = (a + b) % 1000; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub cell(name from, int i, name to) { next(from[i], from[i + 1], to); }\n"
        "sub row(name x, int t, int n) { for i = 0..n - 1 cell(x[t - 1], i, x[t][i]); make(t, x[t][n]); }\n"
        "sub main() {\n"
        "  df x;\n"
        "  for i = 0..100 make(i, x[0][i]);\n"
        "  for t = 1..3000 row(x, t, 100);\n"
        "  show(x[3000][99]);\n"
        "}\n");
  const double with = peak_mb({"-t", "1"});
  const std::string result = out_;
  EXPECT_LT(with * 2, peak_mb({"-t", "1", "--without", "inline-subs", "--without", "sweep-names"}));
  EXPECT_EQ(out_, result);
}

TEST_F(LastUsePeak, EntriesGoWithThem) {
  write("p.fa", kStencil);
  const double with = peak_mb({"-t", "1"});
  EXPECT_LT(with * 2, peak_mb({"-t", "1", "--without", "count-uses", "--without", "sweep-names"}));
}

TEST_F(LastUsePeak, RingsAndRowsOfOneNumber) {
  write("p.fa",
        "C++ sub init(int v, name x) ${{ x = v; $}}\n"
        "C++ sub step(int a, int b, int c, name x) ${{ x = (a + b + c) % 1000; $}}\n"
        "C++ sub check(int v) ${{ if (v < 0) abort(); $}}\n"
        "sub main(int n, int steps) {\n"
        "  df x, y;\n"
        "  for i = 0..n-1 init(i, x[0][i]);\n"
        "  for t = 1..steps {\n"
        "    for i = 0..n-1 step(x[t - 1][(i + n - 1) % n], x[t - 1][i], x[t - 1][(i + 1) % n], x[t][i]);\n"
        "    for i = 0..n-1 init(i, y[t][i / 10][i % 10]);\n"
        "    for i = 0..n-1 step(y[t][i / 10][i % 10], y[t][i / 10][0], y[t][n / 10 - 1][i % 10], y[t + 2 * "
        "steps][i][0]);\n"
        "    for i = 0..n-1 check(y[t + 2 * steps][i][0]);\n"
        "  }\n"
        "  for i = 0..n-1 check(x[steps][i]);\n"
        "}\n");
  const double with = peak_mb({"-t", "1", "--", "100", "2000"});
  EXPECT_LT(with * 2, peak_mb({"-t", "1", "--without", "count-uses", "--without", "sweep-names", "--", "100", "2000"}));
}

// Kernels for shapes in which only the run decides who reads what, or loops are bounded by counters of others.
constexpr const char* kPeakShapes =
    "C++ sub init(int v, name x) ${{ x = v; $}}\n"
    "C++ sub step(int a, int b, int c, name x) ${{ x = (a + b + c) % 1000; $}}\n"
    "C++ sub check(int v) ${{ if (v < 0) abort(); $}}\n";

struct Shape {
  const char* name;
  const char* main;
  const char* size;
};
class LastUseOf : public LastUsePeak, public ::testing::WithParamInterface<Shape> {};

TEST_P(LastUseOf, MemoryDoesNotGrow) {
  write("p.fa", std::string(kPeakShapes) + GetParam().main);
  const double with = peak_mb({"-t", "1", "--", GetParam().size});
  EXPECT_LT(with, 40);
  EXPECT_LT(with * 2,
            peak_mb({"-t", "1", "--without", "count-uses", "--without", "sweep-names", "--", GetParam().size}));
}

INSTANTIATE_TEST_SUITE_P(
    , LastUseOf,
    ::testing::Values(Shape{"WhileOnAValue",
                            "sub main(int n) { df x, w; init(0, x[0]);\n"
                            "  while x[t] >= 0 && t < n, t = 0 .. out w step(x[t], 1, 2, x[t + 1]);\n"
                            "  check(x[w] + w); }\n",
                            "300000"},
                      Shape{"WhileOnAGrid",
                            "sub main(int n) { df x, w; for i = 0..63 init(i, x[0][i]);\n"
                            "  while x[t][0] >= 0 && t < n, t = 0 .. out w\n"
                            "    for i = 0..63 step(x[t][(i + 63) % 64], x[t][i], x[t][(i + 1) % 64], x[t + 1][i]);\n"
                            "  for i = 0..63 check(x[w][i] + x[w - 1][i]); }\n",
                            "4000"},
                      Shape{"CellsThatTurn",
                            "sub main(int n) { df x, w; for c = 0..9 { init(c, x[c][0]);\n"
                            "  while x[c][t] < 2000 && t < n, t = 0 .. out w[c] step(x[c][t], 1, 0, x[c][t + 1]);\n"
                            "  check(x[c][w[c]]); } }\n",
                            "30000"},
                      Shape{"ConditionsOnData",
                            "sub main(int n) { df x, f; for i = 0..63 { init(i, x[0][i]); init(i % 3, f[i]); }\n"
                            "  for t = 1..n for i = 0..63 { if f[i] == 0 init(x[t - 1][i], x[t][i]);\n"
                            "    if f[i] != 0 step(x[t - 1][i], x[t - 1][(i + 1) % 64], 1, x[t][i]); }\n"
                            "  for i = 0..63 check(x[n][i]); }\n",
                            "4000"},
                      Shape{"Factorisation",
                            "sub main(int n) { df a; for i = 0..n-1 for j = 0..i init(i + j, a[0][i][j]);\n"
                            "  for k = 0..n-1 { init(a[k][k][k], a[k + 1][k][k]);\n"
                            "    for i = k+1..n-1 step(a[k][i][k], a[k + 1][k][k], 1, a[k + 1][i][k]);\n"
                            "    for i = k+1..n-1 for j = k+1..i\n"
                            "      step(a[k][i][j], a[k + 1][i][k], a[k + 1][j][k], a[k + 1][i][j]); }\n"
                            "  check(a[n][n - 1][n - 1]); }\n",
                            "120"}),
    [](const auto& info) { return info.param.name; });

// A delete comes while the block that has a loop of readers is still making its fragments: what waited for the block
// then waits for the loop.
TEST_F(LastUse, ADeleteWaitsForLoopsThatItsBlockMakesLater) {
  write("p.fa",
        "C++ sub mix(int a, int b, name x) ${{ x = a * 10 + b; $}}\n"
        "C++ sub show(int a) ${{ printf(\"%d\\n\", a); $}}\n"
        "sub main() {\n"
        "  df y;\n"
        "  if y[5] { df z; for i = 0..2 for j = 1..4 mix(i, j, z[i][j]); }\n"
        "  for i = 1..6 mix(i, 3, y[6 - i]);\n"
        "  for k = -1..2 if 1 {\n"
        "    df a, b;\n"
        "    mix(k ? y[(k % 6 + 6) % 6] : k, 3, a);\n"
        "    mix(a, 1, b) --> (a);\n"
        "    for i = 1..3 show(a);\n"
        "  }\n"
        "}\n");
  for (int k = 0; k < 12; ++k) {
    ASSERT_TRUE(
        ended(tessera({"run", "-q", "p.fa", "-t", "1", "--without", "count-uses", "--without", "sweep-names"}), 0));
  }
}

TEST_F(LastUse, ValuesThatOtherRanksReadStayAndAreRight) {
  write("p.fa", kLargeChain);
  for (const char* ranks : {"2", "3"}) {
    peak_mb({"--transport", "inproc", "--inproc-ranks", ranks, "-t", "1", "--balancer", "steal"});
    EXPECT_EQ(out_, "144\n");
  }
}

// Each value is read on the next rank: it goes when that has read it, there and where it was made.
TEST_F(LastUsePeak, WhatOtherRanksReadGoesWithItsLastUse) {
  std::string program = kLargeChain;
  program.insert(program.find(", x[i]);") + 7, " @ { locator_cyclic: i; }");
  write("p.fa", program);
  const auto peak = [&](Words options) {
    options.insert(options.begin(), {"-n", "3", "-t", "1", "--balancer", "none"});
    return peak_mb(options);
  };
  EXPECT_LT(peak({}), 100);
  EXPECT_EQ(out_, "144\n");
  EXPECT_LT(peak({"--eager-bytes", "2000000"}), 100) << "they travel to their home at once";
  EXPECT_GT(peak({"--without", "count-uses", "--without", "sweep-names"}), 200) << "the check can fail";
}

// The home may hear of a use before it hears of the assignment.
TEST_F(LastUsePeak, AUseMayBeCountedBeforeTheAssignment) {
  std::string program = kLargeChain;
  program.insert(program.find(", x[i]);") + 7, " @ { locator_cyclic: 1 + i % 2; }");
  write("p.fa", program);
  EXPECT_LT(peak_mb({"--inproc-ranks", "3", "-t", "1", "--balancer", "none", "--relay-bytes", "2000000", "--seed", "7",
                     "--max-delay-us", "8000"}),
            40);
  EXPECT_EQ(out_, "144\n");
}

// The steps of a loop are made as those before them run: in the rows that are made while a thread is kept from its
// core, or has nothing to run, a million fragments would wait, and take 100 MB.
TEST_F(LastUsePeak, LoopsAreNotMadeFarAhead) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "threads that share a core make what they can";
  write("p.fa",
        "C++ sub init(int v, name x) ${{ x = v; $}}\n"
        "C++ sub step(int a, int b, int c, name x) ${{ x = (a + b + c) % 1000; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main(int steps) {\n"
        "  df x;\n"
        "  for i = 0..7 init(i, x[0][i]);\n"
        "  for t = 1..steps for i = 0..7\n"
        "    step(i > 0 ? x[t - 1][i - 1] : 0, x[t - 1][i], i < 7 ? x[t - 1][i + 1] : 0, x[t][i]);\n"
        "  show(x[steps][0]);\n"
        "}\n");
  EXPECT_LT(peak_mb({"-t", "2", "--", "200000"}), 40);
}

// `work` has its input when it is moved, and the value has one more reader, which comes when `work` is done.
TEST_F(LastUse, WhatIsMovedWithItsInputsIsOneUse) {
  write("p.fa",
        "C++ sub make(int i, name x) ${{ x = i; $}}\n"
        "C++ sub work(int a, name y) ${{ usleep(1000); y = a; $}}\n"
        "C++ sub add(int a, int s, name t) ${{ t = a + s; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() {\n"
        "  df x, y, z, s;\n"
        "  for i = 0..199 make(i, x[i]);\n"
        "  for i = 0..199 work(x[i], y[i]);\n"
        "  for i = 0..199 add(x[i], 0, z[i]) @ { locator_cyclic: y[i]; };\n"
        "  make(0, s[0]);\n"
        "  for i = 0..199 add(z[i], s[i], s[i + 1]);\n"
        "  show(s[200]);\n"
        "}\n");
  for (const char* balancer : {"steal", "central", "auto"}) {
    const Outcome o = tessera({"run", "p.fa", "-t", "1", "--inproc-ranks", "3", "--balancer", balancer, "--summary",
                               "s.json", "--cxxflags=-include unistd.h"});
    EXPECT_TRUE(ended(o, 0));
    EXPECT_EQ(o.out, "19900\n");
    std::int64_t moved = 0;
    const auto summary = nlohmann::json::parse(read("s.json"));
    for (const auto& rank : summary.at("ranks")) moved += rank.at("moved_out").get<std::int64_t>();
    EXPECT_GT(moved, 20) << balancer;
  }
}

// The value was used up, and its copies are being dropped, when fragments that had counted as its users are moved.
TEST_F(LastUse, WhatIsMovedLateFindsItsInputs) {
  write(
      "p.fa",
      "C++ sub make(int v, name x) ${{ x = v; $}}\n"
      "C++ sub step(int l, int v, int r, name x) ${{ x = (l + 2 * v + r) % 1000; $}}\n"
      "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
      "sub main() {\n"
      "  df x;\n"
      "  for t = 0..500 { make(0, x[t][-1]) @ { locator_cyclic: 0; }; make(0, x[t][64]) @ { locator_cyclic: 63; }; }\n"
      "  for i = 0..63 make(i, x[0][i]) @ { locator_cyclic: i; };\n"
      "  for t = 1..500 for i = 0..63\n"
      "    step(x[t - 1][i - 1], x[t - 1][i], x[t - 1][i + 1], x[t][i]) @ { locator_cyclic: i; };\n"
      "  show(x[500][0]);\n"
      "}\n");
  const std::string result = tessera({"run", "-q", "p.fa"}).out;
  for (const char* seed : {"1", "2", "3", "4", "5", "6"}) {
    const Outcome o = tessera({"run", "-q", "p.fa", "--inproc-ranks", "2", "-t", "1", "--balancer", "steal", "--seed",
                               seed, "--max-delay-us", "100", "--eager-bytes", "0", "--relay-bytes", "0"});
    EXPECT_TRUE(ended(o, 0));
    EXPECT_EQ(o.out, result);
  }
}

// The other passes would not understand `n / 2` in place of the parameter.
TEST_F(LastUsePeak, ArgumentsThatAreNoSumsHideNothing) {
  write("p.fa",
        "C++ sub make(int n, name x) ${{ x.create(n); $}}\n"
        "C++ sub next(value a, name x) ${{ x.create(a.getSize()); $}}\n"
        "C++ sub end(value a) ${{ (void)a; $}}\n"
        "sub chain(int n) {\n"
        "  df x;\n"
        "  make(100000, x[0]);\n"
        "  for i = 1..n next(x[i - 1], x[i]);\n"
        "  end(x[n]);\n"
        "}\n"
        "sub main(int n) { chain(n / 2); }\n");
  EXPECT_LT(peak_mb({"-t", "1", "--", "4000"}), 100);
}

TEST_F(LastUse, ATreeIsWalkedDepthFirst) {
  write("p.fa", kTree);
  for (const char* threads : {"1", "2"}) {
    const double small = peak_mb({"-t", threads, "--", "10"});
    EXPECT_EQ(out_, "1024\n");
    EXPECT_LT(peak_mb({"-t", threads, "--", "17"}), small * 2);
    EXPECT_EQ(out_, "131072\n");
  }
}

TEST_F(LastUse, AnUnknownOptimisationIsRefused) {
  write("p.fa", kHello);
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--without", "thinking"}), 2,
                    {"--without: there is no optimisation `thinking`; they are inline-subs, count-uses"}));
}

}  // namespace
}  // namespace tessera::tests
