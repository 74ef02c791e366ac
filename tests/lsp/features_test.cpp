// What an editor is told about a program, feature by feature.
#include "editor.hpp"

namespace tessera::tests {
namespace {

const char* const kKernels =
    "#include \"ucenv.h\"\n"
    "namespace { void scale(int) {} }\n"
    "static const char *text = \"void scale(\";  // void scale(int)\n"
    "extern \"C\" void other(int a) { scale(a); }\n"
    "// Multiplies by k.\n"
    "extern \"C\" void scale(double k, const InputDF &x,\n                      OutputDF &y) {\n  "
    "y = k;\n}\n";

const char* const kProgram =
    "#include \"shared.fa\"\n"
    "#define N 10\n"
    "import scale(real, value, name) as scaled;\n"
    "\n"
    "/* Doubles v.\n"
    " * Twice. */\n"
    "sub twice(int v, name result) {\n"
    "  cf step: init(v + v, result) @ { locator_cyclic: v; };\n"
    "}\n"
    "sub main() {\n"
    "  df x, y;  // the values\n"
    "  twice($N, x);\n"
    "  for i = 1..3\n"
    "    let j = i * 2 init(j, y[i]);\n"
    "  scaled(0.5, x, y[0]);\n"
    "  show(y[0]);\n"
    "}\n";

const char* const kShared =
    "C++ sub init(int v, name x) ${{ x = v; $}}\n"
    "// Prints one line.\n"
    "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n";

std::vector<std::string> labels(const Json& completion) {
  std::vector<std::string> all;
  for (const Json& item : completion.at("items")) all.push_back(item.at("label"));
  std::sort(all.begin(), all.end());
  return all;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// An editor with the program above open.
class Features : public Editor {
 protected:
  void SetUp() override {
    write("shared.fa", kShared);
    write("ucodes.cpp", kKernels);
    initialize();
    open("p.fa", kProgram);
  }
  void TearDown() override { EXPECT_EQ(stop(), 0); }
  std::string hovered(const std::string& word, int nth = 0) {
    const Json h = on("textDocument/hover", "p.fa", word, nth);
    return h.is_null() ? "" : h.at("contents").at("value").get<std::string>();
  }
  // "shared.fa:2 show": file, line (from 1) and text of a location.
  std::string shown(const Json& location) {
    if (location.is_null()) return "nowhere";
    const std::string uri = location.at("uri");
    const std::string name = uri.substr(uri.rfind('/') + 1);
    std::map<std::string, std::string> texts = {{"shared.fa", kShared}, {"ucodes.cpp", kKernels}};
    for (const auto& entry : texts_) texts[entry.first] = entry.second;
    const int line = location.at("range").at("start").at("line");
    return name + ":" + std::to_string(line + 1) + " " + covered(texts[name], location.at("range"));
  }
  std::string rename(const std::string& word, int nth, const std::string& to) {
    Json p = at("p.fa", word, nth);
    p["newName"] = to;
    const Json a = call("textDocument/rename", p);
    if (a.contains("error")) return a["error"]["message"];
    return edited(texts_.at("p.fa"), a["result"]["changes"].value(uri("p.fa"), Json::array()));
  }
};

TEST_F(Features, DiagnosticsAsYouType) {
  EXPECT_TRUE(diagnostics("p.fa").empty());
  change("p.fa", "#include \"shared.fa\"\nsub main() { /* é𝄞 */ show(n); }\n");
  const Json all = diagnostics("p.fa");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["code"], "T206");
  EXPECT_EQ(all[0]["severity"], 1);
  EXPECT_EQ(all[0]["source"], "tessera");
  EXPECT_NE(all[0]["message"].get<std::string>().find("`n` is not declared"), std::string::npos);
  // UTF-16: é is one unit, the clef two.
  EXPECT_EQ(all[0]["range"], Json::parse(R"({"start":{"line":1,"character":28},"end":{"line":1,"character":29}})"));
  change("p.fa", "#include \"shared.fa\"\nsub main() { show(1); show(2) @ { stealabel; }; }\n");
  const Json warned = diagnostics("p.fa");
  ASSERT_EQ(warned.size(), 1u);
  EXPECT_EQ(warned[0]["severity"], 2);
  change("p.fa", "#include \"shared.fa\"\nsub main() { show(1); }\n");
  EXPECT_TRUE(diagnostics("p.fa").empty());
}

TEST_F(Features, TheStandardLibrary) {
  change("p.fa",
         "#include <std/matrix.fa>\n#include <std/base.fa>\n"
         "sub main() {\n  df a, l;\n  identity(3, a);\n  cholesky(a, l);\n  print(l);\n}\n");
  EXPECT_TRUE(diagnostics("p.fa").empty());
  const std::string said = hovered("cholesky");
  for (const char* part : {"import tessera_std_cholesky(value a, name l) as cholesky", "a = l l^T",
                           "void tessera_std_cholesky(const Input& a, Output& l)"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << " in\n" << said;
  }
  const auto file = [&](const std::string& word) {
    const std::string name = on("textDocument/definition", "p.fa", word).at("uri");
    return name.substr(std::min(name.size(), name.find("/stdlib/")));
  };
  EXPECT_EQ(file("cholesky"), "/stdlib/std/matrix.cpp");
  EXPECT_EQ(file("std/base"), "/stdlib/std/base.fa");
  EXPECT_NE(rename("cholesky", 0, "factor").find("`cholesky` belongs to the standard library"), std::string::npos);
}

TEST_F(Features, DiagnosticsOfIncludes) {
  EXPECT_TRUE(diagnostics("p.fa").empty());
  write("shared.fa", "C++ sub init(int v, name x) ${{ x = v; $}}\nsub show(int v) { init(1, v); }\n");
  notify("workspace/didChangeWatchedFiles", {{"changes", Json::array()}});
  versions_.erase("shared.fa");
  const Json all = diagnostics("shared.fa");  // though it is not open
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["code"], "T209");
  EXPECT_EQ(all[0]["relatedInformation"][0]["location"]["uri"], uri("shared.fa"));
  // An included file is seen as part of its program: it needs no main, and its own text counts.
  open("shared.fa", kShared);
  EXPECT_TRUE(diagnostics("shared.fa").empty());
  change("shared.fa", "C++ sub init(int v, name x) ${{ x = v; $}}\n");
  const Json missing = diagnostics("p.fa");
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0]["code"], "T212");
  notify("textDocument/didClose", {{"textDocument", {{"uri", uri("shared.fa")}}}});
  EXPECT_EQ(diagnostics("p.fa").size(), 0u) << "the file on disk has no `show`, but that is T209 there";
}

TEST_F(Features, GoToDefinition) {
  const auto go = [&](const std::string& word, int nth) {
    return shown(on("textDocument/definition", "p.fa", word, nth));
  };
  EXPECT_EQ(go("twice", 1), "p.fa:7 twice");
  EXPECT_EQ(go("show", 0), "shared.fa:3 show");
  EXPECT_EQ(go("init", 0), "shared.fa:1 init");
  EXPECT_EQ(go("scaled", 1), "ucodes.cpp:6 scale") << "the extern \"C\" one";
  EXPECT_EQ(go("scale(", 0), "ucodes.cpp:6 scale");
  EXPECT_EQ(go("x, y[0]", 0), "p.fa:11 x");
  EXPECT_EQ(go("i]", 0), "p.fa:13 i");
  EXPECT_EQ(go("j, y", 0), "p.fa:14 j");
  EXPECT_EQ(go("v; }", 0), "p.fa:7 v");
  EXPECT_EQ(go("$N", 0), "p.fa:2 N");
  EXPECT_EQ(go("shared.fa", 0), "shared.fa:1 ");
  EXPECT_EQ(go("= 1..3", 0), "nowhere");
}

TEST_F(Features, References) {
  Json p = at("p.fa", "x, y[0]");
  p["context"] = {{"includeDeclaration", true}};
  std::string all;
  const Json found = call("textDocument/references", p)["result"];
  for (const Json& l : found) all += shown(l) + ", ";
  EXPECT_EQ(all, "p.fa:11 x, p.fa:12 x, p.fa:15 x, ");
}

TEST_F(Features, HoverShowsTypesAndDocumentation) {
  EXPECT_NE(hovered("twice", 1).find("sub twice(int v, name result)"), std::string::npos) << hovered("twice", 1);
  EXPECT_NE(hovered("twice", 1).find("Doubles v.\nTwice."), std::string::npos) << hovered("twice", 1);
  EXPECT_NE(hovered("show").find("Prints one line."), std::string::npos);
  EXPECT_NE(hovered("scaled").find("void scale(double k, const InputDF &x, OutputDF &y)"), std::string::npos);
  EXPECT_NE(hovered("scaled").find("Multiplies by k."), std::string::npos);
  EXPECT_NE(hovered("v + v").find("int v"), std::string::npos);
  EXPECT_NE(hovered("i * 2").find("int i"), std::string::npos);
  EXPECT_NE(hovered("j, y").find("let j = i * 2"), std::string::npos);
  EXPECT_NE(hovered("step").find("label"), std::string::npos);
  EXPECT_NE(hovered("$N").find("#define N 10"), std::string::npos);
  EXPECT_NE(hovered("locator_cyclic").find("e mod ranks"), std::string::npos);
  EXPECT_NE(hovered("for i").find("all iterations"), std::string::npos);
  const std::string x = hovered("x, y[0]");
  EXPECT_NE(x.find("df x"), std::string::npos) << x;
  EXPECT_NE(x.find("the values"), std::string::npos) << x;
  EXPECT_NE(x.find("assigned by `init` at p.fa:8"), std::string::npos) << x;
  EXPECT_EQ(hovered("= 1..3"), "");
}

TEST_F(Features, CompletionKnowsWhatIsInReach) {
  const auto all = labels(on("textDocument/completion", "p.fa", "j, y"));
  for (const char* name : {"x", "y", "i", "j", "twice", "init", "show", "scaled", "main", "for", "while"}) {
    EXPECT_TRUE(has(all, name)) << name;
  }
  EXPECT_FALSE(has(all, "v"));
  EXPECT_FALSE(has(all, "locator_cyclic"));
  const auto early = labels(on("textDocument/completion", "p.fa", "twice($N"));
  EXPECT_FALSE(has(early, "i"));
  EXPECT_TRUE(has(labels(on("textDocument/completion", "p.fa", "locator")), "req_count"));
  EXPECT_EQ(labels(on("textDocument/completion", "p.fa", "N, x")), std::vector<std::string>{"N"});
  EXPECT_TRUE(labels(on("textDocument/completion", "p.fa", "the values")).empty()) << "in a comment";
}

TEST_F(Features, CompletionWhileTyping) {
  diagnostics("p.fa");
  std::string text = kProgram;
  text.insert(text.find("  show(y"), "  tw\n");
  change("p.fa", text);
  auto all = labels(on("textDocument/completion", "p.fa", "\n  show(y"));
  EXPECT_TRUE(has(all, "twice") && has(all, "x"));
  text = kProgram;
  text.resize(text.find("  scaled("));  // nothing is closed any more
  change("p.fa", text + "  for k = 1..2 {\n    show(");
  Json end = at("p.fa", "show(", 0, 5);
  all = labels(call("textDocument/completion", end)["result"]);
  EXPECT_TRUE(has(all, "twice") && has(all, "x") && has(all, "y")) << Json(all);
  change("p.fa", text + "  show($");
  end = at("p.fa", "show($", 0, 6);
  EXPECT_EQ(labels(call("textDocument/completion", end)["result"]), std::vector<std::string>{"N"});
  change("p.fa", text + "#inc");
  end = at("p.fa", "#inc", 1, 4);
  EXPECT_TRUE(has(labels(call("textDocument/completion", end)["result"]), "include"));
}

TEST_F(Features, DocumentSymbols) {
  std::string all;
  for (const Json& s : on("textDocument/documentSymbol", "p.fa", "main")) {
    all += s["name"].get<std::string>();
    EXPECT_EQ(covered(kProgram, s["selectionRange"]), s["name"]);
    if (s.contains("children")) {
      for (const Json& c : s["children"]) all += "/" + c["name"].get<std::string>();
    }
    all += " ";
    if (s["name"] == "twice") {
      const std::string whole = covered(kProgram, s["range"]);
      EXPECT_EQ(whole.substr(0, 9), "sub twice");
      EXPECT_EQ(whole.back(), '}');
    }
  }
  EXPECT_EQ(all, "N scaled twice/step main/x/y ");
}

TEST_F(Features, RenameChangesEveryReference) {
  std::string to = rename("x, y[0]", 0, "values");
  EXPECT_NE(to.find("df values, y;"), std::string::npos) << to;
  EXPECT_NE(to.find("twice($N, values);"), std::string::npos) << to;
  EXPECT_NE(to.find("scaled(0.5, values, y[0]);"), std::string::npos) << to;
  to = rename("v + v", 0, "n");
  EXPECT_NE(to.find("sub twice(int n, name result) {\n  cf step: init(n + n, result) @ { "
                    "locator_cyclic: n; };"),
            std::string::npos)
      << to;
  EXPECT_NE(rename("$N", 0, "SIZE_OF").find("#define SIZE_OF 10"), std::string::npos);
  EXPECT_NE(rename("$N", 0, "SIZE_OF").find("twice($SIZE_OF, x)"), std::string::npos);
  EXPECT_NE(rename("scaled", 1, "grown").find("as grown;"), std::string::npos);
  // Across files.
  Json p = at("p.fa", "show");
  p["newName"] = "print";
  const Json changes = call("textDocument/rename", p)["result"]["changes"];
  EXPECT_EQ(edited(kShared, changes[uri("shared.fa")]).find("C++ sub print(int v)"),
            edited(kShared, changes[uri("shared.fa")]).find("C++ sub p"));
  EXPECT_NE(edited(kProgram, changes[uri("p.fa")]).find("print(y[0])"), std::string::npos);
  const Json can = on("textDocument/prepareRename", "p.fa", "twice", 1);
  EXPECT_EQ(can["placeholder"], "twice");
  EXPECT_TRUE(on("textDocument/prepareRename", "p.fa", "= 1..3").is_null());
}

TEST_F(Features, RenameRefusesClashes) {
  EXPECT_NE(rename("x, y[0]", 0, "y").find("`y` would mean something else"), std::string::npos);
  EXPECT_NE(rename("i * 2", 0, "y").find("`y` would mean something else"), std::string::npos) << "hides y";
  EXPECT_NE(rename("j, y", 0, "y").find("`y` would mean something else"), std::string::npos) << "hides y";
  // Nothing would be wrong with `let i = i * 2 init(i, y[i])`; it would be another program.
  EXPECT_EQ(rename("j, y", 0, "i"), "`i` would mean something else in this program");
  EXPECT_NE(rename("twice", 0, "show").find("would mean something else"), std::string::npos);
  EXPECT_NE(rename("main", 0, "start").find("would mean something else"), std::string::npos);
  EXPECT_NE(rename("x, y[0]", 0, "for").find("is a keyword"), std::string::npos);
  EXPECT_NE(rename("x, y[0]", 0, "a b").find("is not a name"), std::string::npos);
  EXPECT_NE(rename("= 1..3", 0, "a").find("no name"), std::string::npos);
  change("p.fa",
         "#define USE x\nC++ sub f(int v, name w) ${{ w = v; $}}\nimport k(int);\n"
         "sub main() { df x; f(1, $USE); k(x); }\n");
  EXPECT_NE(rename("x; f", 0, "a").find("comes out of a macro at p.fa:4"), std::string::npos) << rename("x; f", 0, "a");
  EXPECT_NE(rename("v, name", 0, "a").find("C++ text"), std::string::npos);
  EXPECT_NE(rename("k(x)", 0, "a").find("import k(int) as a;"), std::string::npos) << rename("k(x)", 0, "a");
  change("p.fa", "sub main() { f(; }");
  EXPECT_NE(rename("main", 0, "a").find("mistakes"), std::string::npos);
  change("p.fa",
         "C++ sub f(int v) ${{ $}}\nsub main() { for i = 1..2 f(i);\n#ifdef MORE\n  "
         "f(i);\n#endif\n}\n");
  EXPECT_NE(rename("i = 1", 0, "k").find("for k = 1..2 f(k)"), std::string::npos);
  const std::string warned = notification("window/showMessage")["message"];
  EXPECT_NE(warned.find("p.fa:4"), std::string::npos) << warned;
}

TEST_F(Features, Formatting) {
  Json p = at("p.fa", "main");
  p["options"] = {{"tabSize", 8}, {"insertSpaces", false}};
  EXPECT_EQ(call("textDocument/formatting", p)["result"], Json::array());
  change("p.fa", "sub f(int i){\nf( i+1 ) ;\n}\n\n\nsub main() {\n  f(1);\n}\n");
  const Json edits = call("textDocument/formatting", p)["result"];
  EXPECT_EQ(edited(texts_["p.fa"], edits), "sub f(int i) {\n  f(i+1);\n}\n\nsub main() {\n  f(1);\n}\n");
  EXPECT_EQ(edits[0]["range"]["end"]["line"], 3) << "main is left alone";
  change("p.fa", "sub main( {");
  EXPECT_TRUE(call("textDocument/formatting", p)["result"].is_null());
}

}  // namespace
}  // namespace tessera::tests
