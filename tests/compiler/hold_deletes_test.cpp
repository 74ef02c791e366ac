// Which loops hold what is deleted elsewhere, and which deletes are left out since the readers are counted.
#include <gtest/gtest.h>

#include <sstream>

#include "compiler/block/program.hpp"
#include "compiler/blocks.hpp"
#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

// The lines of the block program after the pass that say `what`.
std::vector<std::string> lines(const std::string& main, const std::string& what, bool counted = false) {
  const Workspace w;
  const auto path = w.write("p.fa",
                            "C++ sub set(int v, name x) ${{ x = v; $}}\nC++ sub use(int v, name y) ${{ y = v; $}}\n"
                            "C++ sub show(int v) ${{ $}}\nsub shows(name a) for i = 1..3 show(a);\n" +
                                main);
  std::string text;
  Options options;
  options.without = {"inline-subs"};
  if (!counted) options.without.insert("count-uses");
  const Output out = translate(path, options, [&](std::string_view stage, const auto&, const block::Program& program) {
    if (stage == "hold-deletes") text = block::print(program);
  });
  EXPECT_TRUE(out.ok);
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (const auto at = line.find(what); at != std::string::npos) found.push_back(line.substr(at));
  }
  return found;
}
using Lines = std::vector<std::string>;

TEST(HoldDeletes, NothingWithoutADelete) {
  EXPECT_EQ(lines("sub main() { df x, y; set(1, x); use(x, y); for i = 1..3 show(x + y); shows(x); }", "holds"),
            Lines{});
}

TEST(HoldDeletes, LoopsAndSubsBesideIt) {
  EXPECT_EQ(
      lines(
          "sub main() { df x, y; set(1, x); use(x, y) --> (x); for i = 1..3 for j = 1..i show(x); shows(x); show(y); }",
          "holds"),
      (Lines{"holds x", "holds x", "holds x", "holds a",
             "holds a"}));  // while main is run, the loop, the call; the sub does not know who calls
}

TEST(HoldDeletes, WithTheIndicesThatAreKnown) {
  EXPECT_EQ(
      lines(
          "sub main() { df x, y; for t = 0..9 { for i = 0..3 { use(x[t][i], y[t][i]) --> (x[t][i]); show(y[t][i]); }\n"
          "for i = 0..3 show(x[t][(i + 1) % 4]); } for i = 0..3 for t = 0..9 set(i, x[t][i]); }",
          " holds x["),
      Lines{" holds x[t]"});
}

// What is behind a `while` reads its last row: the rows before are deleted meanwhile.
TEST(HoldDeletes, NotAllOfANameForAnElementThatDataDecide) {
  const std::string loop =
      "while s[k] < 5, k = 0 .. out steps { for i = 0..3 use(x[k][i], x[k + 1][i]) @ { delete x[k][i]; }; set(k, s[k + "
      "1]); }";
  EXPECT_EQ(lines("sub main() { df x, s, steps; for i = 0..3 set(i, x[0][i]); set(0, s[0]); " + loop +
                      " for i = 0..3 show(x[steps][i]); }",
                  "holds"),
            Lines{});
  EXPECT_EQ(lines("sub main() { df x, s, steps; for i = 0..3 set(i, x[0][i]); set(0, s[0]); " + loop +
                      " for i = 0..3 show(x[7][i]); }",
                  " holds x["),
            Lines{" holds x[7]"});
}

// Where one iteration deletes what another reads; not where that is the same iteration.
TEST(HoldDeletes, LoopsAroundTheDelete) {
  EXPECT_EQ(lines("sub main() { df x, y; for i = 0..4 { show(x[(i + 1) % 5]); use(x[i], y[i]) --> (x[i]); } for i = "
                  "0..4 { set(i, x[i]); show(y[i]); } }",
                  " holds x"),
            (Lines{" holds x", " holds x"}));
  EXPECT_EQ(lines("sub main() { df x, y; for i = 0..4 { show(x[i]); use(x[i], y[i]) --> (x[i]); } for i = 0..4 { "
                  "set(i, x[i]); show(y[i]); } }",
                  "holds"),
            Lines{});
}

TEST(HoldDeletes, CountedReadersAreWaitedForBySelf) {
  EXPECT_EQ(lines("sub main() { df x, y; set(1, x); use(x, y) @ { delete x; }; for i = 1..3 show(x); show(y); }",
                  "delete", true),
            Lines{});
  EXPECT_EQ(lines("sub main() { df x, y; set(1, x); use(x, y) @ { delete x; }; show(y); }", "delete", true),
            Lines{"delete x"});
  EXPECT_EQ(lines("sub main() { df x; set(1, x); for i = 1..3 show(x) @ { delete x; }; }", "delete", true), Lines{});
}

}  // namespace
}  // namespace tessera::compiler::testing
