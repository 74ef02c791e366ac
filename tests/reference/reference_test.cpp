// The reference interpreter itself: small programs with a known meaning, in the form before the
// passes and in the form after each of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "compiler/blocks.hpp"
#include "interpreter.hpp"
#include "kernels.hpp"

namespace tessera::reference {
namespace {

using End = Outcome::End;

// run interprets the program in every form, which must all come to the same outcome.
Outcome run(const std::string& text, const std::vector<std::string>& arguments = {}) {
  const auto path = std::filesystem::temp_directory_path() / ("tessera-reference-" + std::to_string(getpid()) + ".fa");
  std::ofstream(path) << kernels_text() << text;
  std::vector<Outcome> all;
  const auto look = [&](std::string_view, const auto&, const compiler::block::Program& program) {
    all.push_back(interpret(program, arguments, 20000));
  };
  const compiler::Output out = compiler::translate(path, {}, look);
  for (const auto& d : out.diagnostics) {
    if (d.severity == compiler::Severity::error) ADD_FAILURE() << compiler::render(d, false);
  }
  std::filesystem::remove(path);
  if (all.empty()) return {End::failed, "not translated", {}};
  for (const Outcome& o : all) {
    EXPECT_EQ(o.end, all.front().end) << o.why;
    EXPECT_EQ(o.lines, all.front().lines);
  }
  return all.front();
}

using Lines = std::vector<std::string>;

TEST(Reference, OrderOfStatementsMeansNothing) {
  const Outcome o = run("sub main() { df x, y; show(\"y\", y + 1); same(x * 2, y); same(3, x); }");
  EXPECT_EQ(o.end, End::finished) << o.why;
  EXPECT_EQ(o.lines, Lines{"y int 7"});
}

TEST(Reference, ArithmeticIsThatOfTheLanguage) {
  EXPECT_EQ(run("sub main() { show(\"\", 7 / 2 + -7 % 3); show(\"\", 1 < 2.5 && 0); "
                "show(\"\", 1 ? 2 : 0.5); show(\"\", \"a\" + 1 + 2); show(\"\", int(2.9)); }")
                .lines,
            (Lines{" int 0", " int 2", " int 2", " real 2", " string a12"}));
}

TEST(Reference, LoopsSubsAndIndices) {
  const Outcome o =
      run("sub fill(name a, int n) { for i = 0..n - 1 same(i * i, a[i]); }\n"
          "sub main(int n) { df A, at, w; fill(A[1], n); same(2, at);\n"
          "  show(\"indirect\", A[1][at]); \n"
          "  while A[1][i] < 9, i = 0 .. out w { nothing(); }\n"
          "  show(\"w\", w); if w == 3 { df t; same(w, t); show(\"t\", t); } }",
          {"5"});
  EXPECT_EQ(o.end, End::finished) << o.why;
  EXPECT_EQ(o.lines, (Lines{"indirect int 4", "t int 3", "w int 3"}));
}

TEST(Reference, AfterASubAndAllUnderIt) {
  const Outcome o =
      run("sub slow(name gate) { df t; same(gate, t); show(\"under\", t); }\n"
          "sub main() { df gate, done, x; slow(gate) >> (done); same(1, gate);\n"
          "  same(done, x) --> (gate); show(\"x\", x); }");
  EXPECT_EQ(o.end, End::finished) << o.why;
  EXPECT_EQ(o.lines, (Lines{"under int 1", "x int 1"}));
}

// The faults of the next tests hide behind an index that is read, or they would be found before.

TEST(Reference, FindsWhatCanNotEnd) {
  EXPECT_EQ(run("sub main() { df A, k, m; same(0, k); same(1, m); show(\"a\", A[k]); "
                "same(A[k + 5], A[m + 5]); same(1, A[m]); }")
                .end,
            End::unfinished);
}

TEST(Reference, FindsDoubleAssignment) {
  EXPECT_EQ(run("sub main() { df A, k; same(2, k); for i = 0..3 same(i, A[i / k]); }").end, End::failed);
}

// A `delete` waits here for all that can run, so only counts can be too small.
TEST(Reference, FindsWhatIsReadTooLate) {
  EXPECT_EQ(run("sub main() { df a; same(1, a) @ { req_count a = 2; }; "
                "for i = 1..3 show(\"a\", a); }")
                .end,
            End::failed);
}

TEST(Reference, FindsWhatDoesNotEnd) {
  EXPECT_EQ(run("sub f(int n) { if n > 0 f(n); } sub main() { f(1); }").end, End::endless);
}

TEST(Reference, FaultsOfExpressions) {
  EXPECT_EQ(run("sub main() { df x; same(0, x); show(\"\", 1 / x); }").end, End::failed);
  EXPECT_EQ(run("sub main() { df x, y; same(1.5, x); mix(x, 1, y); }").end, End::failed);
  EXPECT_EQ(run("sub main() { df x; same(2147483647, x); show(\"\", x + 1); }").end, End::failed);
}

}  // namespace
}  // namespace tessera::reference
