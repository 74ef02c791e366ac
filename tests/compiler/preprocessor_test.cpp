// The preprocessor, seen through whole translations: what a kernel is called with, and where a
// mistake is said to be.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

const char kShowAndSay[] = "C++ sub show(int n) ${{ $}}\nC++ sub say(string s) ${{ $}}\n";

// The calls in the block program, one per line.
std::string calls(const std::string& text, Options options = {}) {
  options.dump_after = "number-blocks";
  for (const char* flag : {"no-unused-sub", "no-unused-macro"}) options.warnings.set(flag);
  const Output out = translate_text(kShowAndSay + text, options);
  std::string result;
  for (const Diagnostic& d : out.diagnostics) result += d.code + ": " + d.text + "\n";
  std::size_t at = 0;
  while ((at = out.dump.find("call tessera_kernel_", at)) != std::string::npos) {
    at += 20;
    result += out.dump.substr(at, out.dump.find('\n', at) + 1 - at);
  }
  return result;
}

TEST(Preprocessor, DropsTheFirstLineAndComments) {
  const Output out = translate_text(
      "#!/usr/bin/env tessera\n// sub main() {}\n/* sub \n main() */ C++ sub f(int `width) ${{ $}}\n"
      "sub main() { f(1 // one \\\n 2\n ); }");
  EXPECT_EQ(codes(out), "T131");  // `width` is gone with its comment: the name is missing
}

TEST(Preprocessor, AOneWordCommentEndsWithItsWord) {
  EXPECT_EQ(calls("sub main() { show(`ten 10); }"), "show(10)\n");
  EXPECT_EQ(calls("sub main() { show(10`ten); }"), "show(10)\n");
  EXPECT_EQ(calls("sub main() { show(`t_1(10)); }"), "show(10)\n");
  EXPECT_EQ(calls("sub main() { show(`(10)); }"), "show(10)\n") << "nothing of a word";
  EXPECT_EQ(calls("sub main() { show(10`a\\,b\\)\\ c); }"), "show(10)\n") << "a backslash takes a character along";
  EXPECT_EQ(calls("sub main() { show(`\xc3\xa4 10); }"), "show(10)\n") << "a letter of another alphabet";
  EXPECT_EQ(calls("#define TEN 10`ten\nsub main() { show($TEN); }"), "show(10)\n");
  const Output out = translate_text("import f(int `width, int `height, name `out);\nsub main() { df x; f(1, 2, x); }");
  EXPECT_TRUE(out.ok);
  ASSERT_EQ(out.imports.size(), 1u);
  EXPECT_EQ(out.imports[0].parameters, (std::vector<std::string>{"int", "int", "name"}));
}

TEST(Preprocessor, ForeignBlocksEndWithAnyTextAsked) {
  for (const char* block : {"${<END} puts(\"x\"); END", "${<A B $>} puts(\"x\"); A B $>",
                            "${<++}\n// {\n{ puts(\"x\"); }\n++", "${<END}{ puts(\"x\"); }END"}) {
    const Output out = translate_text(std::string("C++ sub f() ") + block + "\nsub main() { f(); }");
    EXPECT_TRUE(out.ok) << block;
    const std::size_t body = out.kernels_cpp.find("puts");
    ASSERT_NE(body, std::string::npos) << block;
    const std::string around = out.kernels_cpp.substr(out.kernels_cpp.find("f()"));
    EXPECT_EQ(std::count(around.begin(), around.end(), '}'), 1) << around;
  }
  for (const char* open : {"${<}\nx\n}", "${<END\n{ } END", "${<END"}) {
    EXPECT_EQ(codes(translate_text(std::string("sub main() { }\nC++ sub f() ") + open)).substr(0, 4), "T103") << open;
  }
}

TEST(Preprocessor, CommentSignsInsideStringsAreText) {
  EXPECT_EQ(calls("sub main() { say(\"// `a /* \\\" $N\"); }"), "say(\"// `a /* \" $N\")\n");
}

TEST(Preprocessor, Macros) {
  EXPECT_EQ(calls("#define N 10 // ten\nsub main() { show($N); }"), "show(10)\n");
  EXPECT_EQ(calls("#define SUM(a, b) ($a + \\\n $b)\nsub main() { show($SUM(1, 2)); }"), "show((1 + 2))\n");
  EXPECT_EQ(calls("#define ID(a) $a\n#define TWO $ID($ID(2))\nsub main() { show($TWO); }"), "show(2)\n");
  EXPECT_EQ(calls("#define CALL(f, x) $f($x);\nsub main() { $CALL(show, (1, 2)) }"),
            "T131: expected `)` to close the bracket, found `,`\n");
  EXPECT_EQ(calls("#define ID(x) $x\nsub main() { $ID(show\\(1\\);) }"), "show(1)\n");
  EXPECT_EQ(calls("#define A 1\n#undef A\n#ifdef A\n#define B 2\n#else\n#define B 3\n#endif\n"
                  "sub main() { show($B); }"),
            "show(3)\n");
}

TEST(Preprocessor, NestedConditionsThatAreNotRead) {
  EXPECT_EQ(calls("#ifdef X\n#ifdef Y\n#else\n$BAD\n#endif\n#else\nsub main() { show(1); }\n#endif"), "show(1)\n");
}

TEST(Preprocessor, DefinesOfTheCommandLine) {
  Options options;
  options.defines = {{"N", "7"}, {"FLAG", ""}};
  EXPECT_EQ(calls("#ifdef FLAG\nsub main() { show($N); }\n#endif", options), "show(7)\n");
}

TEST(Preprocessor, SelfExpansionIsAnError) {
  EXPECT_EQ(codes(translate_text("#define A $B\n#define B $A\nsub main() { $A }")), "T113 T131");
  EXPECT_EQ(codes(translate_text("#define A(x) $A($x)\n" + std::string(kShowAndSay) + "sub main() { show($A(1)); }")),
            "T113");
}

TEST(Preprocessor, MacrosThatDoubleDoNotExhaustMemory) {
  std::string text;
  for (int k = 0; k < 40; ++k) {
    text += "#define M" + std::to_string(k) + " $M" + std::to_string(k + 1) + " $M" + std::to_string(k + 1) + "\n";
  }
  text += "#define M40 1234567890\nsub main() { $M0 }";
  const Output out = translate_text(text);
  EXPECT_NE(codes(out).find("T116"), std::string::npos);
}

TEST(Preprocessor, DeepMacrosAreAnsweredSoon) {
  std::string deep;
  std::string unknown;
  for (int k = 0; k < 50000; ++k) deep += "$N(";
  for (int k = 0; k < 20000; ++k) unknown += "$M(";
  // Once a stack overflow, and once quadratic: seconds, as was an error in each of 2^20 uses, and
  // each bracket that is never closed.
  std::string doubled = "#define D0 $NOT_THERE\n";
  for (int k = 1; k < 30; ++k) {
    const std::string before = " $D" + std::to_string(k - 1);
    doubled += "#define D" + std::to_string(k) + before + before + "\n";
  }
  const auto started = std::chrono::steady_clock::now();
  EXPECT_NE(codes(translate_text("#define N(a) $a\n" + deep + "1" + std::string(50000, ')'))).find("T116"),
            std::string::npos);
  EXPECT_NE(codes(translate_text("#define N(a) $a\n" + deep)).find("T114"), std::string::npos);
  EXPECT_NE(codes(translate_text(unknown)).find("T112"), std::string::npos);
  EXPECT_FALSE(translate_text(doubled + "$D29").ok);
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(20 * TESSERA_SLOWER));
}

TEST(Preprocessor, PositionsSurviveMacrosAndIncludes) {
  const Workspace w;
  w.write("inc.fa", "// a comment\nC++ sub show(int n) ${{ $}}\n  sub helper() { show(oops1); }\n");
  const auto path = w.write("prog.fa",
                            "#define WRAP(x) show($x + 1)\n"
                            "#include \"inc.fa\"\n"
                            "sub main() { /* c */ $WRAP(oops2); show(\"\n\"); show(oops3); }\n");
  const Output out = translate(path, {});
  ASSERT_EQ(codes(out), "T206 T211 T206 T206");
  EXPECT_EQ(out.diagnostics[0].span.line, 3);
  EXPECT_EQ(out.diagnostics[0].span.column, 28);  // inside the macro's argument
  EXPECT_EQ(out.diagnostics[2].span.line, 4);
  EXPECT_EQ(out.diagnostics[2].span.column, 10);  // behind a string over two lines
  EXPECT_EQ(out.diagnostics[3].span.line, 3);
  EXPECT_EQ(std::filesystem::path(out.diagnostics[3].span.file).filename(), "inc.fa");
  EXPECT_EQ(out.files.size(), 2u);
}

TEST(Preprocessor, IncludesAreFoundBesideAndOnThePath) {
  const Workspace w;
  std::filesystem::create_directory(w.folder() / "lib");
  w.write("lib/a.fa", "#include \"b.fa\"\n");
  w.write("lib/b.fa", "sub main() { }\n");
  const auto path = w.write("prog.fa", "#include \"a.fa\"\n");
  Options options;
  EXPECT_EQ(codes(translate(path, options)), "T119");
  options.include_path = {w.folder() / "lib"};
  EXPECT_EQ(codes(translate(path, options)), "");
  w.write("lib/b.fa", "#include \"a.fa\"\nsub main() { }");
  EXPECT_EQ(codes(translate(path, options)), "T118");
}

TEST(Preprocessor, LibraryFilesAreInsertedOnceAndMeanTheirOwnNames) {
  const Workspace w;
  std::filesystem::create_directories(w.folder() / "lib/std");
  w.write("lib/std/a.fa", "import lib_show(int) as show;\nsub twice(int v) { show(v); show(v); }\n");
  w.write("lib/std/b.fa", "#include <std/a.fa>\nimport lib_other(int) as other;\n");
  w.write("std/a.fa", "sub wrong(\n");
  const auto path = w.write("prog.fa",
                            "#include <std/b.fa>\n#include <std/a.fa>\n"
                            "import my_show(string) as show;\n"
                            "sub main() { show(\"text\"); twice(1); }\n");
  Options options;
  EXPECT_EQ(codes(translate(path, options)), "T119 T119 T212") << "no library was given";
  options.library = w.folder() / "lib";
  const Output out = translate(path, options);
  ASSERT_EQ(codes(out), "");
  ASSERT_EQ(out.imports.size(), 2u) << "`other` is not called";
  for (const Import& i : out.imports) {
    const bool of_library = i.symbol == "lib_show";
    EXPECT_EQ(i.symbol, of_library ? "lib_show" : "my_show");
    EXPECT_EQ(i.library, of_library ? w.folder() / "lib/std/a.cpp" : "");
  }
  // Two files of the library, or two of the user's, may not have one name.
  w.write("lib/std/b.fa", "#include <std/a.fa>\nsub twice(int v) { show(v); }\n");
  EXPECT_EQ(codes(translate(path, options)), "T202");
  w.write("lib/std/b.fa", "#include <std/b.fa>\n#include <std/a.fa>\n");
  EXPECT_EQ(codes(translate(path, options)), "") << "inserted once, it can't include itself";
}

TEST(Preprocessor, ForeignBlocksPassUnchanged) {
  const Output out = translate_text(
      "C++ head ${<--}\n#define X(a) \"`\" // $NAME\n--\n"
      "C++ sub f(int n) ${{ puts(\"/*\"); $}}\nsub main() { f(1); }");
  EXPECT_EQ(codes(out), "");
  EXPECT_NE(out.kernels_cpp.find("#define X(a) \"`\" // $NAME\n"), std::string::npos);
  EXPECT_NE(out.kernels_cpp.find("{ puts(\"/*\"); }"), std::string::npos);
  EXPECT_NE(out.kernels_cpp.find("#line 4 "), std::string::npos);
}

}  // namespace
}  // namespace tessera::compiler::testing
