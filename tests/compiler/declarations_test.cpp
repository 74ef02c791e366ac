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
  EXPECT_EQ(codes(out), "") << text << (out.diagnostics.empty() ? "" : render(out.diagnostics[0], false));
}

TEST(Declarations, MentionsThatCount) {
  // in advice, also advice without effect
  expect_silent(
      "sub f(name n, int m) { show(n); } @ { locator_cyclic n => m; }\n"
      "sub main() { df x; init(1, x); f(x, 2); }");
  expect_silent("sub main() { df x; for i = 1..1 { init(1, x[0]) @ { locator_cyclic: i; }; show(x[0]); } }");
  // as an index, a bound, in a label
  expect_silent("for i = 1..3 cf a[i]: show(1);");
  expect_silent("for i = 1..3 for j = 1..i show(j);");
  expect_silent("for i = 1..3 let k = i { show(k); }");
  // in a pragma
  expect_silent("sub f(int n) { for << unrolling, n >> i = 1..3 show(i); }\nsub main() { f(1); }");
  // by other C++ text
  expect_silent("C++ sub helper() ${{ $}}\nC++ sub user() ${{ helper(); $}}\nsub main() { user(); }");
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
  EXPECT_EQ(codes(translate(w.write("prog.fa", "#include \"lib.inc\"\nsub main() { show(1); }\n"), {})), "");
}

TEST(Declarations, MacroBodiesAreNotReported) {
  expect_silent("#define REPEAT(n, what) for i = 1..$n { $what }\nsub main() { $REPEAT(3, show(1);) }");
  expect_silent("#define DECLARE df a, b;\nsub main() { $DECLARE init(1, a); show(a); }");
}

TEST(Declarations, TheLastOfOneNameIsUsed) {
  const std::string one = "sub f(int v) { show(v); }\n";
  const std::string two = "sub f(int v) { show(v + 1); }\n";
  const std::string main = "sub main() { f(1); }\n";
  expect_silent(one + "sub f( int v ) { /* again */ show(v); }\n" + main + one);
  expect_silent("import f(int);\nimport f(int `or v);\n" + main);
  expect_silent("C++ head ${{ struct S {}; $}}\nC++ head ${{ struct S {}; $}}\n" + one + main);
  Options options;
  options.dump_after = "number-blocks";
  const std::string show = "C++ sub show(int v) ${{ $}}\n";
  for (const std::string& text : {one + two + main, main + one + two, one + two + two + main}) {
    const Output out = translate_text(show + text, options);
    EXPECT_EQ(codes(out), "T202") << text;
    EXPECT_NE(out.dump.find("call tessera_kernel_show((1 + 1))"), std::string::npos) << text << out.dump;
  }
  const Output three = translate_text(show + one + two + one + main);
  EXPECT_EQ(codes(three), "T202 T202");
  ASSERT_FALSE(three.diagnostics.empty());
  EXPECT_EQ(three.diagnostics[0].span.line, 3);
  ASSERT_EQ(three.diagnostics[0].notes.size(), 1u);
  EXPECT_EQ(three.diagnostics[0].notes[0].span.line, 2);
  // Of one kind or not; what is overridden is not looked at.
  EXPECT_EQ(
      codes(translate_text(show + "sub f(int v) { nothing(of_this); }\nC++ sub f(int v) ${{ $}}\nimport g(int) as f;\n"
                                  "sub main() { f(1); show(2); }")),
      "T202 T202");
  Options strict;
  strict.warnings.strict = true;
  EXPECT_FALSE(translate_text(show + one + two + main, strict).ok);
  EXPECT_TRUE(translate_text(show + one + one + main, strict).ok);
}

TEST(Declarations, AKeywordIsNoNameOfAParameter) {
  for (const char* declaration :
       {"import f(int, name out) as f;", "import f(int in, name) as f;", "sub f(int v, name out) { }"})
    EXPECT_EQ(codes(translate_text(std::string(declaration) + "\nsub main() { }\n")).substr(0, 4), "T133")
        << declaration;
}

TEST(Declarations, AKeywordForANameIsToldOfOnce) {
  const std::string kernel = "C++ sub put(int v, name x) ${{ x = v; $}}\n", main = "sub main() { df x; f(3, x); }\n";
  EXPECT_EQ(codes(translate_text(
                kernel + "sub f(int n, name out) { for i = 0..n put(i, out[i]); put(n, out[n + 1]); }\n" + main)),
            "T133");
  EXPECT_EQ(codes(translate_text(kernel + "sub f(int in, name r) { put(in + 1, r[in]); }\n" + main)), "T133");
  EXPECT_EQ(codes(translate_text(
                kernel + "sub f(int n, name out) { while i < n, i = 0 .. out out[9] put(i, out[i]); }\n" + main)),
            "T133")
      << "one of them is a keyword";
}

TEST(Declarations, APlainNameBesideAnIndexedOneIsAnotherFragment) {
  const std::string kernels = "C++ sub init(int v, name x) ${{ x = v; $}}\nC++ sub show(int v) ${{ $}}\n";
  EXPECT_EQ(
      codes(translate_text(
          kernels + "sub main() { df a; init(1, a); init(2, a[0]); init(3, a[0][1]); show(a + a[0] + a[0][1]); }")),
      "T208");
  EXPECT_EQ(codes(translate_text(kernels +
                                 "sub main() { df a; init(1, a); init(1, a[0]); show(a[0]) --> (a[0]); show(a); }")),
            "T208");
  // The analyses go on, and know them apart.
  EXPECT_EQ(codes(translate_text(kernels + "sub main() { df a; init(1, a); show(a); show(a[0]); }")), "T208 T311");
  EXPECT_EQ(codes(translate_text(kernels +
                                 "sub main() { df a; init(1, a); init(2, a); show(a); init(1, a[0]); show(a[0]); }")),
            "T310 T208");
}

TEST(Declarations, AKernelMayBeMain) {
  const Output out = translate_text("C++ sub main(int n, real r, string s) ${{ printf(\"%d\", n); $}}");
  EXPECT_EQ(codes(out), "");
  EXPECT_NE(out.program_cpp.find("\"irs\""), std::string::npos) << "the program's arguments";
  EXPECT_EQ(codes(translate_text("C++ sub main(name x) ${{ $}}")), "T205");
}

TEST(Declarations, MainOfALibraryMayHaveValuesAndNames) {
  Options called;
  called.called = true;
  const Output kernel = translate_text("C++ sub main(value a, int n, name x) ${{ x = n; $}}", called);
  EXPECT_EQ(codes(kernel), "");
  EXPECT_NE(kernel.program_cpp.find("\"vin\""), std::string::npos) << "all of its parameters";
  EXPECT_NE(kernel.program_cpp.find("tessera_result"), std::string::npos) << "who gives x to the caller";
  EXPECT_TRUE(kernel.imports.empty()) << "which no kernel file has to define";
  const std::string kernels = "C++ sub init(int v, name x) ${{ x = v; $}}\nC++ sub show(int v) ${{ $}}\n";
  EXPECT_EQ(codes(translate_text(kernels + "sub main(name x, name y) { init(1, x); init(x, y); show(y); }", called)),
            "");
  EXPECT_NE(codes(translate_text(kernels + "sub main(name x) { show(1); }", called)).find("T301"), std::string::npos)
      << "nothing assigns x";
}

TEST(Declarations, HidingIsLegal) {
  expect_silent("sub f(int x) { for i = 1..x { df x; init(i, x); show(x); } }\nsub main() { f(2); }");
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
      options.called = true;
      const Output out = without_remarks(translate(file.path(), options));
      if (codes(out) == "T204") continue;  // a file for #include
      EXPECT_EQ(codes(out), "") << (out.diagnostics.empty() ? "" : render(out.diagnostics[0], false));
    }
  }
  EXPECT_GT(programs, 20);
}

}  // namespace
}  // namespace tessera::compiler::testing
