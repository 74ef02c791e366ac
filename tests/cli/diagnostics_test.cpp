// Diagnostics on the command line: -W, --strict, --format.
#include <nlohmann/json.hpp>
#include <set>

#include "command.hpp"

namespace tessera::tests {
namespace {

using Json = nlohmann::json;

constexpr const char* kWarned =
    "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
    "sub main() {\n"
    "  for << roll >> i = 1..1\n"
    "    show(0 < i < 2);\n"
    "}\n";

TEST_F(Command, WarningsAreOnAndCanBeTurnedOff) {
  write("p.fa", kWarned);
  for (const char* command : {"check", "run", "build"}) {
    SCOPED_TRACE(command);
    EXPECT_TRUE(ended(tessera({command, "p.fa"}), 0, {"[T224]", "[T240]"}));
    const Outcome one = tessera({command, "p.fa", "-Wno-boolean-as-int"});
    EXPECT_TRUE(ended(one, 0, {"[T240]"}));
    EXPECT_EQ(one.err.find("T224"), std::string::npos) << one.err;
    const bool check = std::string(command) == "check";
    if (!check) {
      EXPECT_EQ(tessera({command, "p.fa", "-q"}).err.find("T224"), std::string::npos);
    }
    const Outcome none = tessera({command, "p.fa", "-Wno-T224", "-W", "no-t240", "--strict"});
    EXPECT_TRUE(ended(none, 0));
    EXPECT_EQ(none.err.find("warning"), std::string::npos) << none.err;
    EXPECT_TRUE(ended(tessera({command, "p.fa", "-Wno-T224", "-WT224"}), 0, {"[T224]"}));
  }
}

TEST_F(Command, AdviceWithoutEffectIsNamedByCheckOnly) {
  write("p.fa",
        "C++ sub set(int v, name x) ${{ x = v; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() {\n"
        "  df x;\n"
        "  set(1, x) @ { push x => reader; };\n"
        "  cf reader: show(x) @ { wait x; };\n"
        "} @ { locator_cyclic x => 1; }\n");
  const Outcome check = tessera({"check", "p.fa", "--strict"});
  EXPECT_TRUE(ended(check, 0, {"p.fa:5:17: note: `push`", "p.fa:6:26: note: `wait`", "p.fa:7:7: note:"}));
  EXPECT_EQ(tessera({"run", "p.fa"}).err.find("T245"), std::string::npos);
}

TEST_F(Command, FewerReadsThanCountedAreAWarning) {
  write("p.fa",
        "C++ sub set(int v, name x) ${{ x = v; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() {\n"
        "  df x;\n"
        "  for i = 1..4 {\n"
        "    set(i, x[i]) @ { req_count x[i] = i; };\n"
        "    show(x[i]);\n"
        "  }\n"
        "}\n");
  EXPECT_TRUE(
      ended(tessera({"run", "p.fa"}), 0, {"p.fa:6: warning: `req_count` of `set`", "there was only 1", "and 2 more"}));
  EXPECT_EQ(tessera({"run", "-q", "p.fa"}).err, "");
}

TEST_F(Command, QuietIsQuietBesideErrors) {
  write("p.fa",
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "C++ sub unused(int v) ${{ $}}\n"
        "sub main() { df x; show(x); }\n");
  for (const char* command : {"run", "build"}) {
    EXPECT_TRUE(ended(tessera({command, "p.fa"}), 1, {"[T301]", "[T253]"}));
    const Outcome o = tessera({command, "p.fa", "-q"});
    EXPECT_TRUE(ended(o, 1, {"[T301]", "1 error"}));
    EXPECT_EQ(o.err.find("warning"), std::string::npos) << o.err;
  }
}

TEST_F(Command, WarningsCanBeErrors) {
  write("p.fa", kWarned);
  for (const char* command : {"check", "run", "build"}) {
    SCOPED_TRACE(command);
    EXPECT_TRUE(ended(tessera({command, "p.fa", "--strict"}), 1, {"error: unknown pragma", "2 errors"}));
    EXPECT_TRUE(ended(tessera({command, "p.fa", "-Werror"}), 1, {"2 errors"}));
    EXPECT_TRUE(ended(tessera({command, "p.fa", "-Werror=T240"}), 1, {"1 error", "warning: comparisons"}));
    EXPECT_TRUE(ended(tessera({command, "p.fa", "--strict", "-Wno-error=unknown-pragma"}), 1,
                      {"1 error", "warning: unknown pragma"}));
  }
}

TEST_F(Command, WarningsThatDoNotExistAreRefused) {
  write("p.fa", kWarned);
  EXPECT_TRUE(ended(tessera({"check", "p.fa", "-Wno-boolean-as-in"}), 2, {"did you mean `boolean-as-int`"}));
  EXPECT_TRUE(ended(tessera({"check", "p.fa", "-Wno-T206"}), 2, {"T206", "is an error"}));
  EXPECT_TRUE(ended(tessera({"check", "p.fa", "-Wall"}), 2, {"there is no warning `all`"}));
}

TEST_F(Command, DiagnosticsAsJson) {
  write("p.fa", "C++ sub show(int v) ${{ $}}\nsub main() {\n  df x; show(/* \xC3\xA9\xC3\xA9 */ xx);\n}\n");
  const Outcome o = tessera({"check", "--format", "json", "p.fa"});
  EXPECT_TRUE(ended(o, 1));
  EXPECT_EQ(o.err, "");
  const Json j = Json::parse(o.out);
  EXPECT_EQ(j["version"], 1);
  EXPECT_EQ(j["errors"], 1);
  const Json& d = j["diagnostics"][0];
  EXPECT_EQ(d["code"], "T206");
  EXPECT_EQ(d["name"], "unknown-name");
  EXPECT_EQ(d["severity"], "error");
  EXPECT_EQ(d["file"], "p.fa");
  EXPECT_EQ(d["line"], 3);
  EXPECT_EQ(d["column"], 23) << "characters, not bytes";
  EXPECT_EQ(d["endColumn"], 25);
  EXPECT_NE(d["message"].get<std::string>().find("`xx` is not declared"), std::string::npos);
  EXPECT_TRUE(ended(tessera({"check", "--format", "xml", "p.fa"}), 2, {"--format"}));
  EXPECT_TRUE(ended(tessera({"check", "--format", "json", "--emit-cpp", "p.fa"}), 2, {"--emit-cpp"}));
  write("good.fa", kHello);
  EXPECT_EQ(Json::parse(tessera({"check", "--format", "json", "good.fa"}).out)["diagnostics"].size(), 0u);
}

// What the SARIF 2.1.0 schema asks of the parts we write.
void expect_location(const Json& l) {
  const Json& p = l.at("physicalLocation");
  const auto uri = p.at("artifactLocation").at("uri").get<std::string>();
  EXPECT_EQ(uri.find_first_of(" <>\"\\^`{|}"), std::string::npos) << uri;
  const Json& r = p.at("region");
  EXPECT_GE(r.at("startLine").get<int>(), 1);
  EXPECT_GE(r.at("startColumn").get<int>(), 1);
  EXPECT_GE(r.at("endLine").get<int>(), r.at("startLine").get<int>());
  EXPECT_GT(r.at("endColumn").get<int>(), r.at("startColumn").get<int>());
}

TEST_F(Command, DiagnosticsAsSarif) {
  write("a folder/p.fa",
        "C++ sub show(int v) ${{ $}}\nsub main() {\n  df x, x; show(0 < 1 < 2);\n  show(x); show(\"\xC3\xA9\");\n}\n");
  const Outcome o = tessera({"check", "--format", "sarif", "a folder/p.fa"});
  EXPECT_TRUE(ended(o, 1));
  EXPECT_EQ(o.err, "");
  const Json j = Json::parse(o.out);
  EXPECT_EQ(j.at("version"), "2.1.0");
  EXPECT_NE(j.at("$schema").get<std::string>().find("sarif-2.1.0.json"), std::string::npos);
  ASSERT_EQ(j.at("runs").size(), 1u);
  const Json& run = j["runs"][0];
  EXPECT_EQ(run.at("columnKind"), "unicodeCodePoints");
  const Json& driver = run.at("tool").at("driver");
  EXPECT_EQ(driver.at("name"), "tessera");
  std::set<std::string> ids;
  for (const Json& rule : driver.at("rules")) {
    EXPECT_TRUE(ids.insert(rule.at("id")).second);
    EXPECT_FALSE(rule.at("shortDescription").at("text").get<std::string>().empty());
    EXPECT_FALSE(rule.at("help").at("text").get<std::string>().empty());
  }
  EXPECT_EQ(ids, (std::set<std::string>{"T201", "T211", "T224"}));
  ASSERT_EQ(run.at("results").size(), 3u);
  for (const Json& r : run["results"]) {
    EXPECT_EQ(driver["rules"][r.at("ruleIndex").get<std::size_t>()].at("id"), r.at("ruleId"));
    EXPECT_TRUE(r.at("level") == "error" || r.at("level") == "warning");
    EXPECT_FALSE(r.at("message").at("text").get<std::string>().empty());
    ASSERT_EQ(r.at("locations").size(), 1u);
    expect_location(r["locations"][0]);
    for (const Json& l : r.value("relatedLocations", Json::array())) {
      expect_location(l);
      EXPECT_FALSE(l.at("message").at("text").get<std::string>().empty());
    }
  }
  EXPECT_EQ(run["results"][0]["relatedLocations"].size(), 1u);
  EXPECT_EQ(run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%20folder/p.fa");
  EXPECT_EQ(run["results"][1]["level"], "warning");
}

}  // namespace
}  // namespace tessera::tests
