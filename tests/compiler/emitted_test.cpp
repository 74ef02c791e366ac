// What the translator writes is C++ that compiles without a warning against the ABI header alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

int run(const std::string& command) { return std::system(command.c_str()); }

std::string compiler() { return std::string(TESSERA_CXX) + " -std=c++20 -fsyntax-only -I '" + TESSERA_ABI_DIR + "' "; }

TEST(Emitted, ProgramsCompileWithoutWarnings) {
  const Workspace w;
  for (const auto& path : inputs("programs", ".fa")) {
    SCOPED_TRACE(path);
    const Output out = translate(path, {});
    ASSERT_TRUE(out.ok);
    const auto program = w.write(path.stem().string() + ".cpp", out.program_cpp);
    EXPECT_EQ(run(compiler() + "-Wall -Wextra -Werror '" + program.string() + "'"), 0);
  }
}

// Statements of many shapes: what can't be shared is compiled side by side.
TEST(Emitted, LargeProgramsAreSeveralFiles) {
  std::string text = "C++ sub set(int i, name x) ${{ x = i; $}}\nsub main(int n) {\n  df x;\n";
  for (int k = 0; k < 1500; ++k) {
    std::string e = "n";
    for (int bit = 0; bit < 11; ++bit) e += (k >> bit & 1) != 0 ? " + n" : " - n * n";
    text += "  set(" + e + ", x[" + std::to_string(k) + "]);\n";
  }
  const Output out = translate_text(text + "  set(0, x[1500]) @ { drop x; };\n}\n");
  ASSERT_TRUE(out.ok);
  ASSERT_FALSE(out.program_parts.empty());
  const Workspace w;
  std::string files = "'" + w.write("first.cpp", out.program_cpp).string() + "'";
  files += " '" + w.write("last.cpp", out.program_parts.back()).string() + "'";
  EXPECT_EQ(run(compiler() + "-Wall -Wextra -Werror " + files), 0);
}

TEST(Emitted, ProgramsIncludeTheAbiOnly) {
  for (const auto& path : inputs("programs", ".fa")) {
    const std::string text = translate(path, {}).program_cpp;
    EXPECT_EQ(text.find("#include"), text.rfind("#include")) << path;
  }
}

TEST(Emitted, TheSameSourceGivesTheSameText) {
  for (const auto& path : inputs("programs", ".fa")) {
    EXPECT_EQ(translate(path, {}).program_cpp, translate(path, {}).program_cpp) << path;
  }
}

// Loops whose calls, also by loops inside, read what others make, and all calls but those that repeat and follow
// nobody, take nothing along.
TEST(Emitted, WhatTakesMoreAlongIsBulk) {
  const std::string text =
      translate_text(
          "C++ sub set(int i, name x) ${{ x = i; $}}\nC++ sub next(int a, name x) ${{ x = a; $}}\nC++ sub use(int a) "
          "${{ $}}\nC++ sub both(int a, int b, name x) ${{ x = a + b; $}}\n"
          "sub main(int n) {\n"
          "  df x, y, v, w;\n"
          "  for makes = 1..n set(makes, x[makes]);\n"
          "  for reads = 1..n use(x[reads]);\n"
          "  for reads_own = 1..n { df t; set(reads_own, t); use(t); }\n"
          "  for reads_both = 1..n { df t; set(reads_both, t); use(t + x[reads_both]); }\n"
          "  set(0, y[0]);\n"
          "  for repeats = 1..n next(y[repeats - 1], y[repeats]);\n"
          "  for has_repeats = 1..n { df z; use(x[has_repeats]); set(0, z[0]); for i = 1..n next(z[i - 1], z[i]); }\n"
          "  for has_loops = 1..n for i = 1..has_loops use(x[i]);\n"
          "  for makes_by_loops = 1..n for j = 1..n set(j, v[makes_by_loops][j]);\n"
          "  both(0, 0, w[0]); for follows = 1..n both(w[follows - 1], x[follows], w[follows]);\n"
          "}\n")
          .program_cpp;
  std::vector<std::string> bulk;
  std::string flags;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("const Block ", 0) == 0) flags = line;
    if (line.rfind("  \"", 0) == 0 && flags.find("kBulk") != std::string::npos)
      bulk.push_back(line.substr(3, line.find('"', 3) - 3));
  }
  EXPECT_EQ(bulk, (std::vector<std::string>{"for makes", "for reads_own", "next", "for has_repeats", "next",
                                            "for makes_by_loops", "for j"}));
}

// ... unless none of the inputs is always needed: 12 / a is not to be divided where a is 0.
TEST(Emitted, ARowThatInputsShareIsFoundOnce) {
  const auto rows = [](const std::string& call) {
    const std::string text = translate_text(
                                 "C++ sub set(int i, name x) ${{ x = i; $}}\nC++ sub add(int a, int b, int c, name y) "
                                 "${{ y = a + b + c; $}}\n"
                                 "sub main(int a, int n) {\n  df x, y;\n"
                                 "  for i = 0..12 for j = 0..n set(j, x[i][j]);\n  " +
                                 call + "\n}\n")
                                 .program_cpp;
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find("index(frame_name", at)) != std::string::npos; ++at) ++found;
    return found;
  };
  const std::size_t others = rows("add(1, 2, 3, y[0]);");  // x[i] and y
  EXPECT_EQ(rows("add(x[12 / a][0], x[12 / a][1], x[12 / a][n], y[0]);"), others + 1);
  EXPECT_EQ(rows("add(a > 1 ? x[12 / a][0] : 0, x[12 / a][1], x[12 / a][n], y[0]);"), others + 1);
  EXPECT_EQ(rows("add(a > 0 ? x[12 / a][0] : 0, a > 0 ? x[12 / a][1] : 0, 3, y[0]);"), others + 2);
}

TEST(Emitted, AKernelsMistakeIsAtTheUsersLine) {
  const Workspace w;
  const Output out = translate_text(
      "C++ head ${<END}\nstatic int helper(int n) { return n; }\nEND\n"
      "C++ sub f(int n, real r, string s, value v, name x)\n${{\n  x = helper(n) + wrong;\n$}}\n"
      "sub main() { }\n");
  ASSERT_TRUE(out.ok);
  const auto kernels = w.write("kernels.cpp", out.kernels_cpp);
  const auto log = w.folder() / "log";
  EXPECT_NE(run(compiler() + "'" + kernels.string() + "' 2> '" + log.string() + "'"), 0);
  const std::string messages = read_file(log);
  EXPECT_NE(messages.find("prog.fa:6:"), std::string::npos) << messages;
}

TEST(Emitted, StringsAreEscaped) {
  const Output out = translate_text(
      "C++ sub say(string s) ${{ $}}\nsub main() { say(\"q\\\" b\\\\ n\\n \xC3\xA9 ?\?/ \x01"
      "7\"); }");
  EXPECT_NE(out.program_cpp.find("\"q\\\" b\\\\ n\\n \\303\\251 \\077\\077/ \\0017\""), std::string::npos)
      << out.program_cpp;
}

TEST(Emitted, ImportsAreThoseTheProgramUses) {
  const Output out =
      translate_text("import used(int) as u;\nimport unused(int);\nsub dead() { unused(1); }\nsub main() { u(1); }");
  ASSERT_EQ(out.imports.size(), 1u);
  EXPECT_EQ(out.imports[0].symbol, "used");
  EXPECT_EQ(out.imports[0].span.line, 1);
}

TEST(Emitted, SizeStaysProportional) {
  std::string text =
      "import set(int, name);\nimport work(int, value, name);\nsub main() {\n  df x;\n"
      "  set(0, x[0]);\n";
  const int kStatements = 500;
  for (int k = 0; k < kStatements; ++k) {
    text += "  work(" + std::to_string(k) + ", x[" + std::to_string(k) + "], x[" + std::to_string(k + 1) + "]);\n";
  }
  const Output out = translate_text(text + "}\n");
  ASSERT_TRUE(out.ok);
  const auto lines = std::count(out.program_cpp.begin(), out.program_cpp.end(), '\n');
  EXPECT_LT(lines, 45 * kStatements);
}

}  // namespace
}  // namespace tessera::compiler::testing
