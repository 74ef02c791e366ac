// Warnings about declarations: what must be reported is in the catalogue's examples and in
// mistakes/; here is what must not be.
#include <gtest/gtest.h>

#include "compiler/catalogue/catalogue.hpp"
#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

namespace fs = std::filesystem;

void expect_silent(const std::string& text) {
  const Output out = without_remarks(translate_text(complete(text)));
  EXPECT_EQ(codes(out), "") << text
                            << (out.diagnostics.empty() ? "" : render(out.diagnostics[0], false));
}

TEST(Declarations, MentionsThatCount) {
  // in advice, also advice without effect
  expect_silent(
      "sub f(name n, int m) { show(n); } @ { locator_cyclic n => m; }\n"
      "sub main() { df x; init(1, x); f(x, 2); }");
  expect_silent(
      "sub main() { df x; for i = 1..1 { init(1, x[0]) @ { locator_cyclic: i; }; show(x[0]); } }");
  // as an index, a bound, in a label
  expect_silent("for i = 1..3 cf a[i]: show(1);");
  expect_silent("for i = 1..3 for j = 1..i show(j);");
  expect_silent("for i = 1..3 let k = i { show(k); }");
  // in a pragma
  expect_silent("sub f(int n) { for << unrolling, n >> i = 1..3 show(i); }\nsub main() { f(1); }");
  // by other C++ text
  expect_silent(
      "C++ sub helper() ${{ $}}\nC++ sub user() ${{ helper(); $}}\nsub main() { user(); }");
}

TEST(Declarations, BranchesThatAreNotTaken) {
  expect_silent(
      "sub helper(int i) { show(i); }\nsub main() {\n#ifdef DEBUG\n  helper(1);\n#endif\n  "
      "show(2);\n}\n#define _X");
  expect_silent("#define N 5\nsub main() {\n#ifdef DEBUG\n  show($N);\n#endif\n  show(2);\n}");
  expect_silent(
      "#define CALL helper(1);\n#ifdef DEBUG\n#define DO $CALL\n#else\n#define DO\n#endif\n"
      "sub helper(int i) { show(i); }\nsub main() { $DO show(2); }");
}

TEST(Declarations, MacrosThatAreAskedFor) {
  expect_silent("#define DEBUG\nsub main() {\n#ifdef DEBUG\n  show(1);\n#endif\n}");
  expect_silent("#define GUARD\n#ifndef GUARD\n#endif\nsub main() { show(1); }");
  expect_silent("#define _UNUSED 5\nsub main() { show(1); }");
  expect_silent("#define A 5\n#define B $A\nsub main() { show($B); }");
  expect_silent("#define FIVE 5\n#define GET(n) $$n\nsub main() { show($GET(FIVE)); }");
  Options options;
  options.defines.emplace_back("UNUSED", "1");
  EXPECT_EQ(codes(translate_text(complete("show(1);"), options)), "");
}

TEST(Declarations, IncludedFilesAreLibraries) {
  const Workspace w;
  w.write("lib.inc",
          "#define UNUSED 1\nimport spare(int);\nC++ sub show(int v) ${{ $}}\n"
          "sub spare_sub(int a, name b) { df t; show(a); for i = 1..2 show(1); }\n");
  EXPECT_EQ(
      codes(translate(w.write("prog.fa", "#include \"lib.inc\"\nsub main() { show(1); }\n"), {})),
      "");
}

TEST(Declarations, MacroBodiesAreNotReported) {
  expect_silent(
      "#define REPEAT(n, what) for i = 1..$n { $what }\nsub main() { $REPEAT(3, show(1);) }");
  expect_silent("#define DECLARE df a, b;\nsub main() { $DECLARE init(1, a); show(a); }");
}

TEST(Declarations, HidingIsLegal) {
  expect_silent(
      "sub f(int x) { for i = 1..x { df x; init(i, x); show(x); } }\nsub main() { f(2); }");
  expect_silent("let a = 1 { show(a); let a = 2 { show(a); } }");
  expect_silent("for i = 1..2 show(i);\nfor i = 1..2 show(i);");
  expect_silent("sub main() { df a; df b; init(1, a); df c; init(a, b); init(b, c); show(c); }");
}

TEST(Declarations, ProgramsOfTheRepositoryAreSilent) {
  const fs::path root = fs::path(TESSERA_COMPILER_TESTS) / ".." / "..";
  int programs = 0;
  for (const char* folder : {"examples", "tests/program/programs", "tests/stdlib/programs"}) {
    for (const auto& file : fs::recursive_directory_iterator(root / folder)) {
      if (file.path().extension() != ".fa") continue;
      ++programs;
      Options options;
      options.defines.emplace_back("FROM_COMMAND_LINE", "1");
      options.library = root / "stdlib";
      const Output out = without_remarks(translate(file.path(), options));
      if (codes(out) == "T204") continue;  // a file for #include
      EXPECT_EQ(codes(out), "") << (out.diagnostics.empty() ? ""
                                                            : render(out.diagnostics[0], false));
    }
  }
  EXPECT_GT(programs, 20);
}

}  // namespace
}  // namespace tessera::compiler::testing
