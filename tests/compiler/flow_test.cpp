// Data flow: programs of `corpus/` are right, however odd, and nothing is said about them; each
// program of `wrong/` says which findings belong to which of its lines.
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

std::string found(const Output& output) {
  std::string all;
  for (const Diagnostic& d : output.diagnostics) {
    all += (all.empty() ? "" : ", ") + std::string(d.severity == Severity::error ? "error" : "warning") + " " + d.code +
           " " + std::to_string(d.span.line);
  }
  return all;
}

TEST(Flow, NothingIsSaidAboutRightPrograms) {
  std::size_t programs = 0;
  for (const auto& path : inputs("corpus", ".fa")) {
    EXPECT_EQ(rendered(without_remarks(translate(path, {})), path.parent_path()), "") << path;
    ++programs;
  }
  EXPECT_GE(programs, 50u);
}

TEST(Flow, NothingIsSaidAboutThePrograms) {
  const auto root = std::filesystem::path(TESSERA_COMPILER_TESTS) / ".." / "..";
  std::size_t programs = 0;
  for (const char* folder : {"examples", "tests/program/programs", "tests/stdlib/programs"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const auto& path = entry.path();
      if (path.extension() != ".fa" || path.filename() == "shapes.fa") continue;
      Options options;
      options.defines = {{"FROM_COMMAND_LINE", "1"}};
      options.library = root / "stdlib";
      options.called = true;
      EXPECT_EQ(rendered(without_remarks(translate(path, options)), path.parent_path()), "") << path;
      ++programs;
    }
  }
  EXPECT_GE(programs, 40u);
}

TEST(Flow, WrongProgramsAreFound) {
  for (const auto& path : inputs("wrong", ".fa")) {
    SCOPED_TRACE(path);
    const std::string text = read_file(path);
    const std::string mark = "// expect: ";
    const std::size_t at = text.find(mark);
    ASSERT_NE(at, std::string::npos);
    const Output out = without_remarks(translate(path, {}));
    EXPECT_EQ(found(out), text.substr(at + mark.size(), text.find('\n', at) - at - mark.size()));
    expect_golden("wrong." + path.stem().string() + ".txt", rendered(out, path.parent_path()));
  }
}

// Programs of many statements of one kind: time must not grow with the square.
double seconds(const std::string& text, bool ok) {
  const Workspace w;
  const auto path = w.write("prog.fa", text);
  const auto start = std::chrono::steady_clock::now();
  const Output out = translate(path, {});
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(out.ok, ok) << rendered(out, w.folder()).substr(0, 2000);
  return time.count();
}

std::string many(int n, const std::string& head, const std::string& line) {
  std::ostringstream text;
  text << "C++ sub set(int v, name x) ${{ x = v; $}}\nC++ sub show(int v) ${{ $}}\n"
       << "sub one(name a, int i) { set(i, a[i]); show(a[i]); }\nsub main() {\n  df x;\n"
       << head;
  for (int k = 1; k <= n; ++k) {
    std::string l = line;
    for (std::size_t at = l.find('#'); at != std::string::npos; at = l.find('#')) {
      l.replace(at, 1, std::to_string(k));
    }
    text << "  " << l << "\n";
  }
  return text.str() + "}\n";
}

// A question whose answer takes too long is left open: between two multiples of such numbers there may be billions of
// cases.
TEST(Flow, LargeNumbers) {
  const std::string between = "2000000011 * i - 1999999991 * j";
  const std::string program =
      "C++ sub set(int v, name x) ${{ x = v; $}}\nC++ sub show(int v) ${{ $}}\nsub main() {\n  df x;\n"
      "  for i = 1..10 for j = 1..10 if " +
      between + " > 0 && " + between +
      " < 10 {\n"
      "    set(i, x[i][j]);\n    show(x[i][j]);\n  }\n}\n";
  EXPECT_LT(seconds(program, true), 5 * TESSERA_SLOWER);
}

TEST(Flow, LargePrograms) {
  constexpr double kLimit = 5 * TESSERA_SLOWER;
  EXPECT_LT(seconds(many(5000, "set(0, x[0]);\n", "set(x[# - 1], x[#]);"), true), kLimit);
  EXPECT_LT(seconds(many(5000, "", "one(x, #);"), true), kLimit);
  EXPECT_LT(seconds(many(2500, "", "for i = 0..9 { set(i, x[10 * # + i]); show(x[10 * # + i]); }"), true), kLimit);
  EXPECT_LT(seconds(many(2500, "", "if 1 { df y; for i = 0..9 set(i, y[i + #]); show(y[# + 9]); }"), true), kLimit);
  EXPECT_LT(seconds(many(2500, "", "for i = #..5000 set(i, x[i * i * #]); show(x[#]);"), true), kLimit);
}

}  // namespace
}  // namespace tessera::compiler::testing
