// The index of names: every use bound to its declaration, in places of the files as written.
#include "compiler/index.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

std::string place(const Index& index, const Stretch& s) {
  const std::string& text = index.files[s.file].text;
  const auto line = 1 + std::count(text.begin(), text.begin() + s.begin, '\n');
  const std::size_t start = s.begin == 0 ? 0 : text.rfind('\n', s.begin - 1) + 1;
  return std::to_string(line) + ":" + std::to_string(s.begin - start + 1);
}

// One line per symbol: its signature, where it is declared, and where it is used.
std::string listed(const Index& index) {
  std::string out;
  for (std::uint32_t k = 0; k < index.symbols.size(); ++k) {
    out += index.symbols[k].signature + " @";
    for (const Reference& r : index.references) {
      if (r.symbol != k) continue;
      const std::string& file = index.files[r.at.file].text;
      out += " " + place(index, r.at);
      if (r.declares) out += "!";
      if (!r.at.written) out += "~" + file.substr(r.at.begin, r.at.end - r.at.begin);
      if (r.at.written) {
        EXPECT_EQ(file.substr(r.at.begin, r.at.end - r.at.begin), index.symbols[k].name);
      }
    }
    out += "\n";
  }
  return out;
}

TEST(Index, UsesAreBoundToDeclarations) {
  std::string all;
  for (const char* name : {"advice", "conditions", "lets", "loops", "strings", "subs"}) {
    Options options;
    options.index = true;
    const Output out =
        translate(std::filesystem::path(TESSERA_COMPILER_TESTS) / "programs" / (std::string(name) + ".fa"), options);
    ASSERT_TRUE(out.ok && out.index) << name;
    EXPECT_TRUE(out.index->complete);
    all += std::string("== ") + name + "\n" + listed(*out.index);
  }
  expect_golden("index.txt", all);
}

TEST(Index, IsMadeOfBrokenProgramsToo) {
  Options options;
  options.index = true;
  const Output out = translate_text("sub main() { df x; main(; show(x); y(x) }", options);
  ASSERT_FALSE(out.ok);
  ASSERT_TRUE(out.index);
  EXPECT_FALSE(out.index->complete);
  EXPECT_EQ(listed(*out.index), "sub main() @ 1:5!\ndf x @ 1:17! 1:32 1:38\n");
}

TEST(Index, UnsavedTextsStandForFiles) {
  const Workspace w;
  const auto program = w.write("prog.fa", "#include \"a.fa\"\nsub main() { old(); }\n");
  const auto included = w.write("a.fa", "sub old() { }\n");
  Options options;
  options.index = true;
  options.unsaved[std::filesystem::canonical(included)] = "sub fresh() { }\n";
  const Output out = translate(program, options);
  EXPECT_EQ(codes(out), "T212");
  ASSERT_EQ(out.index->files.size(), 2u);
  EXPECT_EQ(out.index->files[1].text, "sub fresh() { }\n");
  EXPECT_EQ(translate(program, {}).ok, true);
}

}  // namespace
}  // namespace tessera::compiler::testing
