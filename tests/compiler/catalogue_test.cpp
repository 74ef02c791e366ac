// The catalogue against what is emitted: no code without an entry, no entry that is never emitted,
// examples that do what they say, and a documentation page that is up to date.
#include "compiler/catalogue/catalogue.hpp"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(TESSERA_COMPILER_TESTS) / ".." / "..";

bool is_command(const Entry& e) { return e.by == Entry::By::command; }

// What the entries whose example is a command are about, by hand.
Output of_command(const Entry& e) {
  Options options;
  if (e.code == "T100") return translate("no_such_file.fa", options);
  if (e.code == "T101") options.defines.emplace_back("N-1", "5");
  if (e.code == "T190") options.dump_after = "no-such-pass";
  if (e.code == "T122") {
    const Workspace w;
    for (const char* name : {"a", "b", "c", "d"}) {
      std::string text;
      for (int k = 0; k < 10; ++k) text += std::string("#include \"") + static_cast<char>(*name + 1) + ".fa\"\n";
      w.write(std::string(name) + ".fa", text);
    }
    w.write("e.fa", "");
    return translate(w.folder() / "a.fa", options);
  }
  std::string parameters = "int n";
  for (int k = 0; e.code == "T230" && k < 60000; ++k) parameters += ", int n" + std::to_string(k);
  return translate_text(complete("sub main(" + parameters + ") { show(n); }"), options);
}

TEST(Catalogue, EntriesAreWellFormed) {
  std::set<std::string_view> names;
  std::string_view before;
  for (const Entry& e : catalogue()) {
    SCOPED_TRACE(e.code);
    EXPECT_TRUE(std::regex_match(std::string(e.code), std::regex("T[1-4][0-9][0-9]")));
    EXPECT_TRUE(std::regex_match(std::string(e.name), std::regex("[a-z][a-z0-9]*(-[a-z0-9]+)*")));
    EXPECT_LT(before, e.code);
    before = e.code;
    EXPECT_TRUE(names.insert(e.name).second) << e.name << " is used twice";
    EXPECT_FALSE(e.title.empty() || e.title.back() == '.');
    EXPECT_TRUE(!e.text.empty() && e.text.back() == '.');
    EXPECT_FALSE(e.wrong.empty());
    EXPECT_EQ(e.right.empty(), is_command(e));
    EXPECT_EQ(find_entry(e.code), &e);
    EXPECT_EQ(find_entry(e.name), &e);
    EXPECT_EQ(e.code[1] == '4', e.by == Entry::By::run);
  }
  EXPECT_EQ(find_entry("T000"), nullptr);
  EXPECT_EQ(find_entry(""), nullptr);
}

TEST(Catalogue, ExamplesDoWhatTheySay) {
  std::map<char, std::string> shown;  // by family
  for (const Entry& e : catalogue()) {
    if (e.by == Entry::By::build || e.by == Entry::By::run) continue;  // tests/cli runs those
    SCOPED_TRACE(e.code);
    const Workspace workspace;
    const Output wrong = is_command(e) ? of_command(e) : translate(workspace.write("prog.fa", complete(e.wrong)), {});
    bool emitted = false;
    for (const Diagnostic& d : wrong.diagnostics) {
      const Entry* entry = find_entry(d.code);
      ASSERT_NE(entry, nullptr) << d.code;
      EXPECT_EQ(d.severity, entry->severity) << d.code;
      emitted = emitted || d.code == e.code;
    }
    EXPECT_TRUE(emitted) << "gives " << codes(wrong);
    if (!is_command(e)) shown[e.code[1]] += "== " + std::string(e.code) + "\n" + rendered(wrong, workspace.folder());
    if (e.right.empty()) continue;
    const Output right = translate_text(complete(e.right));
    EXPECT_EQ(codes(right), "") << (right.diagnostics.empty() ? "" : render(right.diagnostics[0], false));
  }
  for (const auto& [family, text] : shown) {
    expect_golden(std::string("catalogue_T") + family + ".txt", text);
  }
}

TEST(Catalogue, EveryCodeInTheSourcesHasAnEntry) {
  std::set<std::string> found;
  const std::regex code("[\"\\[](T[0-9]{3})[\"\\]]");  // "T206", or [T206] in a text
  for (const char* folder : {"compiler", "runtime", "cli"}) {
    for (const auto& file : fs::recursive_directory_iterator(kRoot / folder)) {
      const fs::path& path = file.path();
      if (path.extension() != ".cpp" && path.extension() != ".hpp") continue;
      if (path.parent_path().filename() == "catalogue") continue;
      const std::string text = read_file(path);
      for (std::sregex_iterator it(text.begin(), text.end(), code), end; it != end; ++it) {
        found.insert((*it)[1]);
        EXPECT_NE(find_entry((*it)[1].str()), nullptr) << path << " has " << (*it)[1];
      }
    }
  }
  for (const Entry& e : catalogue()) {
    EXPECT_TRUE(found.count(std::string(e.code)) != 0) << e.code << " is never emitted";
  }
}

TEST(Catalogue, SeveritiesInGoldensAreThoseOfTheCatalogue) {
  for (const auto& path : inputs("mistakes", ".fa")) {
    for (const Diagnostic& d : translate(path, {}).diagnostics) {
      const Entry* entry = find_entry(d.code);
      ASSERT_NE(entry, nullptr) << path << " gives " << d.code;
      EXPECT_EQ(d.severity, entry->severity) << path << " gives " << d.code;
    }
  }
}

TEST(Catalogue, ThePageIsUpToDate) { expect_golden("../../../docs/diagnostics.md", catalogue_page()); }

}  // namespace
}  // namespace tessera::compiler::testing
