// Which loops hold what is deleted elsewhere, and which deletes are left out since the readers are counted.
#include <gtest/gtest.h>

#include <sstream>

#include "compiler/block/program.hpp"
#include "compiler/blocks.hpp"
#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

// The lines of the block program after the pass that say `what`.
std::vector<std::string> lines(const std::string& main, const std::string& what, bool counted = false,
                               bool emitted = false) {
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
  if (emitted) text = out.program_cpp;
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

// What the one deletes the other reads, to know whether it is to be.
TEST(HoldDeletes, AnElseBesideTheDelete) {
  const std::string begins = "sub main() { df x, y; set(1, x[0]); for t = 0..8 { ", ends = " } show(x[9]); }";
  const auto holds = [&](const std::string& choice) { return lines(begins + choice + ends, "holds").size(); };
  EXPECT_EQ(holds("if x[t] == 1 use(x[t], x[t + 1]) --> (x[t]); else use(2, x[t + 1]);"), 2u) << "also its body";
  EXPECT_EQ(holds("if x[t] == 1 use(2, x[t + 1]); else use(x[t], x[t + 1]) --> (x[t]);"), 2u);
  EXPECT_EQ(holds("if t == 1 use(x[t], x[t + 1]) --> (x[t]); else use(2, x[t + 1]);"), 0u) << "it reads nothing";
  const std::string sub = "sub main() { df x; set(1, x[0]); c(x); show(x[9]); } sub c(name x) for t = 0..8 ";
  EXPECT_EQ(lines(sub + "if x[t] == 1 use(x[t], x[t + 1]) --> (x[t]); else use(2, x[t + 1]);", "holds").size(), 2u);
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

// Which rows of x a call reads is known where it is made; what it does to others is no reason to wait.
TEST(HoldDeletes, CallsHoldTheRowsThatTheirArgumentsTell) {
  const std::string sub = "sub row(name x, int t, name y) for i = 0..3 use(x[t + 1][i], y[t][i]);\n";
  EXPECT_EQ(
      lines(sub + "sub main() { df x, y; for t = 0..9 { for i = 0..3 set(i, x[t][i]); if t > 0 row(x, t - 1, y);\n"
                  "for i = 0..3 show(x[t][i]) @ { delete x[t][i]; }; } for t = 0..8 for i = 0..3 show(y[t][i]); }",
            " holds x["),
      (Lines{" holds x[((t - 1) + 1)]", " holds x[(t + 1)]"}));
  const std::string step =
      "sub next(name x, int t) { for i = 0..3 use(x[t][i], x[t + 1][i]) @ { delete x[t][i]; };\n"
      "if t < 8 next(x, t + 1); }\n";
  EXPECT_EQ(lines(step + "sub main() { df x; for i = 0..3 set(i, x[0][i]); next(x, 0); for i = 0..3 show(x[9][i]); }",
                  " holds x["),
            Lines{" holds x[9]"})
      << "a call for each step is no end of rows";
}

// What a turn reads the next one deletes; it has ended when no iteration of it has been made.
TEST(HoldDeletes, LoopsThatReadAnotherRowThanTheyDelete) {
  const auto held = [](const std::string& read, const std::string& deleted) {
    return lines(
               "sub main() { df x, y, w; for i = 0..4 set(i, x[0][i]);\n"
               "while t < 9, t = 0 .. out w { for i = 0..4 use(x[t][i], x[t + 1][i]);\n"
               "for i = 0..4 use(x[" +
                   read + "][i], y[t][i]) --> (x[" + deleted + "][i]); } for i = 0..4 show(y[3][i]); }",
               " holds x[t + 1]")
               .size() +
           lines(
               "sub main() { df x, y, w; for i = 0..4 set(i, x[0][i]);\n"
               "while t < 9, t = 0 .. out w { for i = 0..4 use(x[t][i], x[t + 1][i]);\n"
               "for i = 0..4 use(x[" +
                   read + "][i], y[t][i]) --> (x[" + deleted + "][i]); } for i = 0..4 show(y[3][i]); }",
               " holds x[(t + 1)]")
               .size();
  };
  EXPECT_EQ(held("t + 1", "t"), 1U);
  EXPECT_EQ(held("t + 1", "t + 1"), 0U);
}

// Gauss-Jordan: which row another takes the place of is known when the program runs, but it is no other's.
TEST(HoldDeletes, LoopsWhoseIterationsNeverMeet) {
  const auto held = [](const std::string& row, const std::string& condition, const std::string& other) {
    return !lines("sub clear(int s, int p, name x, name y) for r = 0..9 { if " + condition + " { show(x[s][" + other +
                      "]); use(x[s][" + row + "], y[r]) @ { delete x[s][" + row + "]; }; } }\n" +
                      "sub main() { df x, y; for s = 0..3 for r = 0..9 set(r, x[s][r]); clear(0, 3, x, y); }",
                  "range for r(0, 9) holds x[s]")
                .empty();
  };
  const std::string row = "(r == p ? s : r)";
  EXPECT_FALSE(held(row, "r != s", "p"));
  EXPECT_FALSE(held(row, "r != s", row));
  EXPECT_FALSE(held(row, "r != s && r != 100", "p"));
  EXPECT_FALSE(held("(r != p ? r : s)", "r != s && p >= 0", row));
  EXPECT_TRUE(held(row, "r != s", "s"));
  EXPECT_FALSE(held(row, "r != s", "r"));
  EXPECT_FALSE(held(row, "r != p", "p"));
  EXPECT_TRUE(held(row, "r != p", "s"));
  EXPECT_TRUE(held(row, "r > s", row));
  EXPECT_TRUE(held(row, "(r != s || p > 3)", "p"));
  EXPECT_TRUE(held("(r > p ? s : r)", "r != s", "p"));
}

// Who passes on a row may hold more than that, which the sub has no name for.
TEST(HoldDeletes, PartsOfNamesWaitForAllHolders) {
  const auto in = [](const std::string& t) {
    return lines(
        "sub drops(name x, int t, name y) for i = 0..3 use(x[(i + t) % 4], y[i]) @ { delete x[i]; };\n"
        "sub pass(name x, int t, name y) drops(x, t, y);\n"
        "sub main() { df x, y; for i = 0..3 set(i, x" +
            t + "[i]); pass(x" + t + ", 1, y); for i = 0..3 { show(x" + t + "[i]); show(y[i]); } }",
        "hint_delete_held(w, c, parts, 2, ", false, true);
  };
  EXPECT_EQ(in(""), Lines{"hint_delete_held(w, c, parts, 2, false);"});
  EXPECT_EQ(in("[3]"), Lines{"hint_delete_held(w, c, parts, 2, true);"});
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
