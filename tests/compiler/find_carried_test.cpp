// Which calls of a loop wait for other iterations of it.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <utility>

#include "compiler/block/program.hpp"
#include "compiler/blocks.hpp"
#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

// What the block program says of each loop that waits so.
std::vector<std::string> waits(const std::string& statements, std::set<std::string> without = {}) {
  const Workspace w;
  const auto path = w.write("p.fa",
                            "C++ sub set(int v, name x) ${{ x = v; $}}\nC++ sub use(int v, name y) ${{ y = v; $}}\n"
                            "C++ sub add(int a, int b, name c) ${{ c = a + b; $}}\nC++ sub show(int v) ${{ $}}\n"
                            "sub twice(name a, name b, int n) for i = 0..n { use(a[i], b[i]); show(b[i]); }\n"
                            "sub main(int n) { df x, y, s; set(0, x[0]); set(0, s[0]); " +
                                statements + " }");
  std::string text;
  Options options;
  options.without = std::move(without);
  const Output out = translate(path, options, [&](std::string_view stage, const auto&, const block::Program& program) {
    if (stage == "find-carried") text = block::print(program);
  });
  EXPECT_TRUE(out.ok);
  static const std::string kSays = "waits for other iterations: ";
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (const auto at = line.find(kSays); at != std::string::npos) found.push_back(line.substr(at + kSays.size()));
  }
  return found;
}
using Lines = std::vector<std::string>;

TEST(FindCarried, WhatReadsTheIterationBefore) {
  EXPECT_EQ(waits("for t = 1..n { use(x[t - 1], x[t]); set(t, y[t]); }"), Lines{"use; not set"});
  EXPECT_EQ(waits("for t = 0..n { set(t, x[t + 1]); use(x[t], y[t]); }"), Lines{"use; not set"})
      << "which is free itself";
}

TEST(FindCarried, WhatReadsOnlySuch) {
  EXPECT_EQ(waits("for t = 1..n { use(x[t - 1], x[t]); show(x[t]); }"), Lines{"use, show"});
  EXPECT_EQ(waits("for t = 1..n { set(t, y[t]); add(s[t - 1], y[t], s[t]); show(y[t]); }"),
            Lines{"add; not set, show"});
}

TEST(FindCarried, LoopsAreLookedAtOneByOne) {
  EXPECT_EQ(waits("for t = 1..n for i = 0..9 use(x[t - 1][(i + 1) % 10], x[t][i]);"), Lines{"use"});
  EXPECT_EQ(waits("for i = 0..9 for t = 1..n { use(x[i][t - 1], x[i][t]); show(x[i][t]); }"), Lines{"use, show"})
      << "only of the inner one";
  EXPECT_EQ(waits("for t = 1..n for i = 1..9 use(x[t][i - 1], x[t][i]);"), Lines{})
      << "each iteration is a chain of its own";
  EXPECT_EQ(waits("for i = 1..n add(x[2 * i - 1], 1, x[2 * i]);"), Lines{}) << "odd ones are made elsewhere";
}

TEST(FindCarried, WhereverItIs) {
  EXPECT_EQ(waits("for t = 1..n if x[t - 1] > 0 { use(1, x[t]); set(t, y[t]); }"), Lines{"if, use, set"});
  EXPECT_EQ(waits("for t = 1..n { df p; for i = 0..9 { set(i, p[i]); use(x[t - 1][p[i]], x[t][i]); } }"),
            Lines{"use; not set"});
  EXPECT_EQ(waits("for t = 1..n use(t > 5 ? x[t - 5] : 0, x[t]);"), Lines{}) << "not all of them";
}

// It runs there, wherever the iteration is made.
TEST(FindCarried, WhatHasAPlaceIsNoReasonToGiveIterations) {
  EXPECT_EQ(waits("for t = 1..n { set(t, y[t]) @ { locator_cyclic: t; }; add(s[t - 1], y[t], s[t]); show(t); }"),
            Lines{"add; not show"});
  EXPECT_EQ(
      waits("for t = 1..n { for i = 0..9 set(i, y[t][i]) @ { locator_cyclic: i; }; add(s[t - 1], y[t][4], s[t]); }"),
      Lines{"add"});
}

TEST(FindCarried, ASubMayReadAndAssign) {
  EXPECT_EQ(waits("for t = 1..n { twice(x[t - 1], x[t], n); set(t, y[t]); }", {"inline-subs"}),
            Lines{"twice; not set"});
  EXPECT_EQ(waits("for t = 1..n { twice(x[t - 1], x[t], n); set(t, y[t]); }"), Lines{"use, show; not set"});
}

}  // namespace
}  // namespace tessera::compiler::testing
