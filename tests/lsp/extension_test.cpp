// The editor folder: files that parse, and a grammar that knows the keywords of the language.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "compiler/compiler.hpp"
#include "compiler/syntax/token.hpp"

namespace tessera::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kFolder = fs::path(TESSERA_SOURCE_DIR) / "cli" / "editor";

Json parsed(const fs::path& path) {
  std::ifstream in(path);
  return Json::parse(in);
}

// The words of `(a|b|c)` in a regular expression, sorted, without its escapes.
std::vector<std::string> alternatives(const std::string& expression) {
  const std::size_t begin =
      expression.find("(sub|") != std::string::npos ? expression.find("(sub|") + 1 : expression.find('(') + 1;
  std::string list = expression.substr(begin, expression.find(')', begin) - begin);
  list.erase(std::remove(list.begin(), list.end(), '\\'), list.end());
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string w; std::getline(in, w, '|');) words.push_back(w);
  std::sort(words.begin(), words.end());
  return words;
}

TEST(Extension, FilesParseAndNameEachOther) {
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kFolder)) {
    if (entry.path().string().find("node_modules") != std::string::npos) continue;
    if (entry.path().extension() != ".json") continue;
    EXPECT_NO_THROW(parsed(entry.path())) << entry.path();
    ++seen;
  }
  EXPECT_GE(seen, 3);
  const Json package = parsed(kFolder / "package.json");
  EXPECT_TRUE(package["dependencies"].contains("vscode-languageclient"));
  const Json contributes = package["contributes"];
  for (const Json& path :
       {package["main"], contributes["languages"][0]["configuration"], contributes["grammars"][0]["path"]}) {
    EXPECT_TRUE(fs::is_regular_file(kFolder / path.get<std::string>())) << path;
  }
}

TEST(Extension, GrammarKnowsTheKeywords) {
  const Json grammar = parsed(kFolder / "syntaxes" / "tessera.tmLanguage.json");
  std::vector<std::string> keywords(compiler::syntax::keywords().begin(), compiler::syntax::keywords().end());
  std::sort(keywords.begin(), keywords.end());
  EXPECT_EQ(alternatives(grammar["repository"]["keywords"]["match"]), keywords);
}

// Each word of advice in the grammar is known to the translator, which warns about others.
TEST(Extension, GrammarKnowsTheAdvice) {
  const Json grammar = parsed(kFolder / "syntaxes" / "tessera.tmLanguage.json");
  const auto warnings = [](const std::string& word) {
    compiler::Options options;
    const fs::path file = fs::weakly_canonical(fs::temp_directory_path() / "advice-of-the-grammar.fa");
    options.unsaved[file] = "C++ sub f() ${{ $}}\nsub main() { f() @ { " + word + "; }; }\n";
    int count = 0;
    for (const auto& d : compiler::translate(file, options).diagnostics)
      count += d.text.find("unknown advice") != std::string::npos;
    return count;
  };
  EXPECT_EQ(warnings("no_such_advice"), 1);
  for (const std::string& word : alternatives(grammar["repository"]["advice"]["patterns"][1]["match"])) {
    EXPECT_EQ(warnings(word), 0) << word;
  }
}

}  // namespace
}  // namespace tessera::tests
