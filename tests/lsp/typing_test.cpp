// Typing: edits while a check runs, and every half-typed text an editor can send.
#include <chrono>
#include <random>

#include "editor.hpp"

namespace tessera::tests {
namespace {

// A program whose check takes a good part of a second.
std::string large_program(const std::string& last) {
  std::string text = "C++ sub f(int v, name x) ${{ x = v; $}}\nsub main() {\n";
  for (int k = 0; k < 12000; ++k) {
    text += "  let a" + std::to_string(k) + " = 1 { df x; for i = 1..3 f(i, x[i]); }\n";
  }
  return text + "  " + last + "\n}\n";
}

TEST_F(Editor, EditsWhileACheckIsRunning) {
  initialize();
  open("p.fa", large_program(""));
  for (int k = 0; k < 20; ++k) {
    change("p.fa", large_program("f(" + std::to_string(k) + ", nobody);"));
    usleep(3000);
  }
  // The answers are about the text of the moment of the question.
  const Json symbols = call("textDocument/documentSymbol", at("p.fa", "main"))["result"];
  EXPECT_EQ(symbols.size(), 2u);
  change("p.fa", large_program("f(20, no_more);"));
  // What a check says of a text that has changed meanwhile is dropped; the last word is about the
  // last.
  int published = 0;
  Json last;
  for (int version = 0; version != versions_["p.fa"]; ++published) {
    const Json p = notification("textDocument/publishDiagnostics");
    EXPECT_GT(p["version"], version);
    version = p["version"];
    last = p["diagnostics"];
  }
  EXPECT_LT(published, 15);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_NE(last[0]["message"].get<std::string>().find("no_more"), std::string::npos);
  EXPECT_EQ(last[0]["range"]["start"]["line"], 12002);
  EXPECT_EQ(stop(), 0);
}

// Edits come five times as often as checks can end, of a small file that includes a large one: while
// they come, what a check finds is about a text that is gone, and nobody may hear of it.
TEST_F(Editor, WhatACheckSaysOfAnOlderTextIsNotPublished) {
  initialize();
  std::string large = large_program("");
  large.replace(large.find("main"), 4, "part");
  write("large.fa", large);
  const auto text = [](int k) {
    return "#include \"large.fa\"\nsub main() { part(); edit" + std::to_string(k) + "(); }\n";
  };
  open("p.fa", text(0));
  diagnostics("p.fa");
  const auto started = std::chrono::steady_clock::now();
  change("p.fa", text(1));
  diagnostics("p.fa");
  const std::chrono::duration<double, std::micro> one = std::chrono::steady_clock::now() - started;
  for (int k = 2; k < 42; ++k) {
    change("p.fa", text(k));
    usleep(static_cast<useconds_t>(one.count() / 5));
  }
  int published = 0;
  for (int version = 0; version != versions_["p.fa"]; ++published) {
    version = notification("textDocument/publishDiagnostics")["version"];
  }
  EXPECT_LT(published, 4) << "eight checks could have ended meanwhile";
  EXPECT_EQ(stop(), 0);
}

TEST_F(Editor, TruncatedAndBrokenDocumentsAreAnswered) {
  initialize();
  const std::string text =
      "#define N(a) ($a + 1) // é\n#ifdef X\nsub x() {}\n#else\n#endif\nimport k(int, name) as q;\n"
      "C++ sub f(int v, name x) ${{ x = v; $}}\n/* ü */ sub main() {\n  df a, b; `word\n"
      "  for i = 1..$N(3) let j = i, s = \"𝄞 \\\" t\" { cf l[i]: f(j, a[i]) >> (b[i]) @ { "
      "locator_cyclic a[k] => k; delete b; }; }\n"
      "  while a[i] != 1, i = 0 .. out b[9] if i == 2 ? 1 : 0 q(i, a[i + 1]) --> (b[1]);\n}\n";
  open("p.fa", text);
  const auto whole_character = [&](std::size_t k) {
    return k >= text.size() || (static_cast<unsigned char>(text[k]) & 0xC0u) != 0x80u;
  };
  std::mt19937 random(7);
  const char* const methods[] = {"definition",     "references", "hover",         "completion",
                                 "documentSymbol", "formatting", "prepareRename", "rename"};
  int answered = 0;
  for (std::size_t k = 0; k <= text.size(); ++k) {
    if (!whole_character(k)) continue;
    std::string part = text.substr(0, k);
    if (k % 3 == 0) {  // or with a hole in it
      std::size_t to = std::min(text.size(), k + random() % 40);
      while (!whole_character(to)) ++to;
      part += text.substr(to);
    }
    change("p.fa", part);
    const auto lines = static_cast<int>(std::count(part.begin(), part.end(), '\n'));
    for (int j = 0; j < 2; ++j) {
      const std::string method = std::string("textDocument/") + methods[random() % std::size(methods)];
      const Json where = {{"line", j == 0 ? lines : static_cast<int>(random() % 14)}, {"character", random() % 90}};
      const Json a = call(method, {{"textDocument", {{"uri", uri("p.fa")}}},
                                   {"position", where},
                                   {"newName", "fresh"},
                                   {"options", Json::object()}});
      ASSERT_TRUE(a.contains("result") || a["error"]["code"] == -32803) << method << where << "\n" << part << a;
      ++answered;
    }
  }
  EXPECT_GT(answered, 700);
  change("p.fa", text);
  diagnostics("p.fa");
  EXPECT_EQ(stop(), 0);
}

TEST_F(Editor, FilesThatAreNoUtf8) {
  write("bad.fa", "// \xff\xfe\nC++ sub f(int v) ${{ $}} // \x80\nsub g() { f(\xc3); }\n");
  initialize();
  open("p.fa", "#include \"bad.fa\"\nsub main() { f(1); }\n");
  const Json hover = on("textDocument/hover", "p.fa", "f(1)");
  EXPECT_NE(hover["contents"]["value"].get<std::string>().find("\xEF\xBF\xBD"), std::string::npos) << hover;
  const Json place = on("textDocument/definition", "p.fa", "f(1)");
  EXPECT_EQ(place["range"]["start"], Json::parse(R"({"line":1,"character":8})"));
  versions_.erase("bad.fa");
  EXPECT_FALSE(diagnostics("bad.fa").empty());
  EXPECT_EQ(stop(), 0);
}

}  // namespace
}  // namespace tessera::tests
