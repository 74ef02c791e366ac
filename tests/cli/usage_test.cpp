// The command line itself: help, wrong words, wrong files; nothing is run.
#include <utility>

#include "command.hpp"

namespace tessera::tests {
namespace {

TEST_F(Command, HelpTeaches) {
  const Outcome all = tessera({"--help"});
  EXPECT_TRUE(ended(all, 0));
  EXPECT_NE(all.out.find("tessera run hello.fa"), std::string::npos) << all.out;
  EXPECT_EQ(all.out.find("exec-program"), std::string::npos) << "internal commands are not shown";
  for (const char* command :
       {"run", "build", "check", "explain", "fmt", "lsp", "policies", "replay", "simulate", "advise"}) {
    const Outcome one = tessera({command, "--help"});
    EXPECT_TRUE(ended(one, 0)) << command;
    EXPECT_NE(one.out.find("Usage"), std::string::npos) << one.out;
  }
  EXPECT_TRUE(ended(tessera({}), 2, {"Usage"}));
  EXPECT_EQ(tessera({"--version"}).out.rfind("tessera ", 0), 0u);
}

// It was 1, as -D X is.
TEST_F(Command, AMacroWithoutAValueIsTold) {
  write("p.fa", "C++ sub show(int v) ${{ printf(\"%d\", v); $}}\nsub main() { show($X); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-D", "X="}), 2, {"nothing stands behind the `=` of X="}));
  EXPECT_EQ(tessera({"run", "p.fa", "-q", "-D", "X"}).out, "1");
}

// After `./dev run`, say.
TEST_F(Command, WhereToolsAreNotBuiltThatIsTold) {
  std::filesystem::create_directories(path("bin"));
  std::filesystem::copy_file(TESSERA_COMMAND, path("bin/tessera"));
  write("p.fa", kHello);
  const std::string libraries = std::string("LD_LIBRARY_PATH=" TESSERA_BUILD_DIR "/lib");
  const auto alone = [&](const Words& words) {
    Words all = {"env", libraries, path("bin/tessera").string()};
    all.insert(all.end(), words.begin(), words.end());
    return run(all);
  };
  EXPECT_TRUE(ended(alone({"check", "p.fa"}), 0));
  for (const char* command : {"lsp", "simulate", "advise", "report", "status", "top", "export"}) {
    EXPECT_TRUE(ended(alone({command, "--help"}), 3, {"`tessera " + std::string(command) + "`", "./dev tools"}));
  }
  EXPECT_NE(alone({"--help"}).out.find("  simulate "), std::string::npos);
}

TEST_F(Command, UnknownWordsAreRefusedWithAGuess) {
  write("p.fa", kHello);
  EXPECT_TRUE(ended(tessera({"rum", "p.fa"}), 2, {"unknown command `rum`", "did you mean `run`"}));
  EXPECT_TRUE(ended(tessera({"sim"}), 2, {"unknown command `sim`", "did you mean `simulate`"}));
  EXPECT_EQ(tessera({"help", "run"}).out, tessera({"run", "--help"}).out);
  EXPECT_NE(tessera({"help"}).out.find("Subcommands:"), std::string::npos);
  EXPECT_TRUE(ended(tessera({"p.fa"}), 2, {"did you mean `tessera run p.fa`"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "5"}), 2, {"after --"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--quite"}), 2, {"--quite", "did you mean `--quiet`"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "many"}), 2, {"--ranks", "many"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-t", "-3"}), 2, {"threads"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-D", "=3"}), 2, {"-D"}));
  EXPECT_TRUE(ended(tessera({"run"}), 2, {"program"}));
}

TEST_F(Command, NoSuchFile) {
  EXPECT_TRUE(ended(tessera({"run", "absent.fa"}), 2, {"no such file: absent.fa"}));
  EXPECT_TRUE(ended(tessera({"check", "absent.fa"}), 2, {"no such file: absent.fa"}));
  EXPECT_TRUE(ended(tessera({"run", "."}), 2, {"is not a file"}));
  write("p.fa", kHello);
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "absent.cpp"}), 2, {"absent.cpp"}));
}

TEST_F(Command, RanksAreCounted) {
  write("p.fa", kHello);
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "0"}), 2, {"at least 1 rank"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "-2"}), 2, {"at least 1 rank"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "1000000"}), 2, {"-n 1000000", "at most 4096 ranks"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "1", "-c"}), 2, {"at least 2 ranks"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-c"}), 2, {"at least 2 ranks", "-n 4"}));
}

TEST_F(Command, RanksStartNoRanks) {
  write("p.fa", kHello);
  EXPECT_TRUE(ended(run({"mpirun", "-q", "--allow-run-as-root", "--oversubscribe", "-n", "2", TESSERA_COMMAND, "run",
                         "p.fa", "-n", "2"}),
                    2, {"already started by mpirun", "leave out -n"}));
}

TEST_F(Command, PoliciesAndParametersAreChecked) {
  write("p.fa", kHello);
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--balancer", "centrall"}), 2,
                    {"unknown balancer `centrall`", "did you mean `central`"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "-c", "--set", "jobs_left=1"}), 2, {"jobs_left"}));
  EXPECT_TRUE(
      ended(tessera({"run", "p.fa", "-n", "2", "--jobs_difference_ratio", "-4"}), 2, {"--jobs-difference-ratio"}));
  write("c.toml", "balancer = \"central\"\n[settings]\njobs_left_treshold = 1\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--config", "c.toml"}), 2, {"c.toml:3"}));
  write("open.toml", "balancer = \"steal\nworker_ranks = 2\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--config", "open.toml"}), 2, {"open.toml:1", "no `\"`"}));
}

TEST_F(Command, PoliciesAreListed) {
  const Outcome all = tessera({"policies"});
  EXPECT_TRUE(ended(all, 0));
  for (const char* name : {"none", "central", "steal"}) EXPECT_NE(all.out.find(name), std::string::npos);
  EXPECT_NE(tessera({"policies", "central"}).out.find("jobs_left_threshold"), std::string::npos);
  EXPECT_TRUE(ended(tessera({"policies", "steel"}), 2, {"did you mean `steal`"}));
}

TEST_F(Command, DiagnosticsAreExplained) {
  const Outcome all = tessera({"explain"});
  EXPECT_TRUE(ended(all, 0));
  for (const char* code : {"T102", "T206", "T301"}) EXPECT_NE(all.out.find(code), std::string::npos);
  const Outcome one = tessera({"explain", "T206"});
  EXPECT_TRUE(ended(one, 0));
  EXPECT_NE(one.out.find("show(aplha);"), std::string::npos) << one.out;
  EXPECT_EQ(tessera({"explain", "t206"}).out, one.out);
  EXPECT_EQ(tessera({"explain", "unknown-name"}).out, one.out);
  EXPECT_TRUE(ended(tessera({"explain", "T999"}), 2, {"T999", "`tessera explain` lists"}));
  EXPECT_TRUE(ended(tessera({"explain", "unknown-nam"}), 2, {"did you mean `unknown-name`"}));
}

TEST_F(Command, WhatIsGivenIsNotEmpty) {
  write("p.fa", kHello);
  const std::vector<Words> all = {{"run", "p.fa", "--record"},
                                  {"run", "p.fa", "--powers"},
                                  {"run", "p.fa", "--record-policy"},
                                  {"run", "p.fa", "--path"},
                                  {"run", "p.fa", "-l"},
                                  {"build", "p.fa", "-o"},
                                  {"simulate", "-w", "matmul:blocks=2", "--json"},
                                  {"simulate", "-w", "matmul:blocks=2", "--plot"},
                                  {"simulate", "-w", "matmul:blocks=2", "--save-trace"},
                                  {"simulate", "-w", "matmul:blocks=2", "--ranks"},
                                  {"replay"},
                                  {"check"}};
  for (Words words : all) {
    words.push_back("");
    EXPECT_TRUE(ended(tessera(words), 2, {words.size() > 2 ? words[words.size() - 2] : "", "empty"}));
  }
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-q", "--cxxflags", "", "--ldflags", ""}), 0));
}

TEST_F(Command, OutputPathsAreTriedBeforeTheRun) {
  write("p.fa", kHello);
  for (const char* option : {"--summary", "--save-groups"}) {
    const Outcome o = tessera({"run", "p.fa", option, "no/such/folder/file"});
    EXPECT_TRUE(ended(o, 2, {option, "no/such/folder"}));
    EXPECT_EQ(o.out, "") << "it ran";
  }
  EXPECT_TRUE(ended(tessera({"build", "p.fa", "-o", "no/such/program"}), 2, {"-o"}));
  EXPECT_TRUE(ended(tessera({"build", "p.fa", "-o", "p.fa"}), 2, {"is the program itself"}));
  EXPECT_EQ(read("p.fa"), kHello);
}

TEST_F(Command, OutputsGoWhereLinksLeadAndIntoPipes) {
  write("p.fa", kHello);
  const std::vector<std::pair<Words, std::string>> outputs = {
      {{"run", "p.fa", "-q", "--summary"}, "{"},
      {{"run", "p.fa", "-q", "--record"}, "tessera-trace"},
      {{"run", "p.fa", "-q", "--save-groups"}, "# Weights"},
      {{"build", "p.fa", "-o"}, "\177ELF"},
      {{"simulate", "-w", "matmul:blocks=2", "-n", "2", "--json"}, "{"},
      {{"simulate", "-w", "matmul:blocks=2", "-n", "2", "--plot"}, "<svg"},
      {{"simulate", "-w", "matmul:blocks=2", "-n", "2", "--save-trace"}, "tessera-trace"}};
  for (auto [words, begin] : outputs) {
    std::filesystem::create_symlink("end", path("link"));
    words.push_back("link");
    EXPECT_TRUE(ended(tessera(words), 0));
    EXPECT_TRUE(std::filesystem::is_symlink(path("link"))) << words[words.size() - 2];
    EXPECT_EQ(read("end").rfind(begin, 0), 0u) << words[words.size() - 2];
    words.back() = "pipe";
    Words piped = {"sh", "-c", "mkfifo pipe; timeout 10 cat pipe > end & \"$@\"; code=$?; wait; exit $code", "sh",
                   TESSERA_COMMAND};
    piped.insert(piped.end(), words.begin(), words.end());
    EXPECT_TRUE(ended(run(piped), 0));
    EXPECT_TRUE(std::filesystem::is_fifo(path("pipe"))) << words[words.size() - 2];
    EXPECT_EQ(read("end").rfind(begin, 0), 0u) << words[words.size() - 2];
    for (const char* name : {"link", "pipe", "end"}) std::filesystem::remove(path(name));
  }
}

}  // namespace
}  // namespace tessera::tests
