// Programs that run: in this process, on ranks, built.
#include <sys/resource.h>

#include "command.hpp"
#include "nlohmann/json.hpp"

namespace tessera::tests {
namespace {

TEST_F(Command, RunsHereAndOnRanks) {
  write("p.fa", kHello);
  for (const Words& words :
       {Words{"run", "p.fa"}, Words{"run", "p.fa", "-n", "1"}, Words{"run", "p.fa", "-n", "2"},
        Words{"run", "p.fa", "-n", "3", "-c"}, Words{"run", "p.fa", "-n", "2", "--balancer", "steal"}}) {
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(o, 0)) << shown(words);
    EXPECT_EQ(o.out, "hello\n") << "stdout is the program's alone";
  }
}

TEST_F(Command, QuietIsSilent) {
  write("p.fa", kHello);
  EXPECT_EQ(tessera({"run", "-q", "p.fa"}).err, "");
  EXPECT_EQ(tessera({"run", "-q", "p.fa", "-n", "2"}).err, "");
}

TEST_F(Command, ACallWhoseIndicesAreReadHasItsWeight) {
  write("p.fa",
        "C++ sub set(int i, name x) ${{ x = i; $}}\n"
        "C++ sub nap(int i, int v, name x) ${{ usleep(3000); x = i + v; $}}\n"
        "sub main() {\n"
        "  df n, y, _x;\n"
        "  set(4, n);\n"
        "  set(1, y[4]);\n"
        "  for i = 1..20 nap(i, y[n], _x[i]);\n"
        "}\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa", "-t", "1", "--summary", "s.json", "--save-groups", "p.profile"}), 0));
  const auto groups = nlohmann::json::parse(read("s.json")).at("groups");
  int seen = 0;
  for (const auto& g : groups) {
    if (g.at("label") != "nap") continue;
    ++seen;
    EXPECT_TRUE(g.at("atomic").get<bool>());
    EXPECT_EQ(g.at("count"), 20);
    EXPECT_GE(g.at("mean_ns").get<double>(), 3e6);
  }
  EXPECT_EQ(seen, 1);
  EXPECT_NE(read("p.profile").find("nap"), std::string::npos);
}

// Each call of a small sub is a group: by which call it is told.
TEST_F(Command, TheGroupsOfSmallSubsSayWhoCallsThem) {
  write("p.fa",
        "C++ sub show(int v) ${{ printf(\"%d\", v); $}}\n"
        "sub twice(int v) show(2 * v);\n"
        "sub main() {\n"
        "  twice(1);\n"
        "  for i = 1..3 twice(i);\n"
        "}\n");
  const Outcome o = tessera({"run", "p.fa", "-t", "1"});
  EXPECT_TRUE(ended(o, 0, {"  called at p.fa:4\n", "  called at p.fa:5\n"}));
}

// Waking a thread that has nothing to do costs more than most fragments.
TEST_F(Command, ARankAloneWakesNobody) {
  write("p.fa",
        "C++ sub set(int v, name x) ${{ usleep(20); x = v; $}}\n"
        "sub main() {\n"
        "  df x, y;\n"
        "  for i = 1..4000 set(x[i] + 1, y[i]) @ { delete x[i]; };\n"
        "  for i = 1..4000 set(i, x[i]);\n"
        "}\n");
  const auto sleeps = [&] {  // usleep is one for each of the 8,000
    rusage before{}, after{};
    getrusage(RUSAGE_CHILDREN, &before);
    EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa", "-t", "1"}), 0));
    getrusage(RUSAGE_CHILDREN, &after);
    return after.ru_nvcsw - before.ru_nvcsw;
  };
  sleeps();  // it is compiled
  EXPECT_LT(sleeps(), 8000 + 1500);
}

TEST_F(Command, NoProgressLineWithoutATerminal) {
  write("p.fa", kHello);
  EXPECT_EQ(tessera({"run", "p.fa"}).err.find('\r'), std::string::npos);
}

TEST_F(Command, ArgumentsAfterTheDashesAreThePrograms) {
  write("p.fa", kEcho);
  EXPECT_EQ(tessera({"run", "-q", "p.fa", "--", "5", "--help"}).out, "5 --help\n");
  EXPECT_EQ(tessera({"run", "-q", "p.fa", "-n", "2", "--", "-5", "-n 7 'x"}).out, "-5 -n 7 'x\n");
  EXPECT_EQ(tessera({"run", "-q", "p.fa", "--", "5", "--"}).out, "5 --\n");
  EXPECT_EQ(tessera({"run", "-q", "p.fa", "-n", "2", "--", "5", ""}).out, "5 \n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 2)) << "two arguments are missing";
}

TEST_F(Command, PathsMayHaveBlanks) {
  write("a folder/my program.fa", "import f(int) as f;\nsub main() { f(3); }\n");
  write("a folder/my kernels.cpp",
        "#include \"ucenv.h\"\n#include \"my header.h\"\n"
        "extern \"C\" void f(int n) { printf(\"%d\\n\", n + ONE); }\n");
  write("a folder/my header.h", "#define ONE 1\n");
  EXPECT_EQ(tessera({"run", "-q", "a folder/my program.fa"}).out, "4\n");
  EXPECT_EQ(tessera({"run", "-q", "a folder/my program.fa", "-n", "2"}).out, "4\n");
  EXPECT_TRUE(ended(tessera({"build", "a folder/my program.fa", "-o", "a folder/it runs"}), 0));
  EXPECT_EQ(run({"./a folder/it runs"}).out, "4\n");
}

TEST_F(Command, MacrosComeFromTheCommandLine) {
  write("p.fa", "C++ sub show(int n) ${{ printf(\"%d\\n\", n); $}}\nsub main() { show($N); }\n");
  EXPECT_EQ(tessera({"run", "-q", "p.fa", "-D", "N=3"}).out, "3\n");
  EXPECT_EQ(tessera({"run", "-q", "-DN=4", "p.fa"}).out, "4\n");
}

TEST_F(Command, BuiltProgramsStartByThemselves) {
  write("p.fa", kEcho);
  EXPECT_TRUE(ended(tessera({"build", "p.fa"}), 0));
  EXPECT_EQ(run({"./p", "1", "--threads"}).out, "1 --threads\n");
  EXPECT_TRUE(ended(run({"./p", "--", "1", "x"}), 2, {"3 were given", "without `--`"}));
  environment_ = {"TESSERA_OPTIONS=--quiet --balancer none"};
  const Words mpirun = {"mpirun", "-q", "--allow-run-as-root", "--oversubscribe", "-n", "2"};
  Words words = mpirun;
  words.insert(words.end(), {"./p", "2", "x"});
  const Outcome o = run(words);
  EXPECT_EQ(o.out, "2 x\n") << o.err;
  EXPECT_EQ(o.err, "");
  environment_ = {"TESSERA_OPTIONS=--no-such"};
  EXPECT_TRUE(ended(run({"./p", "1", "x"}), 2, {"TESSERA_OPTIONS", "--no-such"}));
}

TEST_F(Command, TheSummaryIsWritten) {
  write("p.fa", kHello);
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--summary", "s.json"}), 0));
  EXPECT_EQ(read("s.json").front(), '{');
}

TEST_F(Command, ProfilesAreSavedAndWrongOnesRefused) {
  write("p.fa", "C++ sub work(int i) ${{ usleep(1000); $}}\nsub main() { for i = 1..20 { work(i); } }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "-c", "--save-groups", "good"}), 0));
  const std::string good = read("good");
  ASSERT_FALSE(good.empty());
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "-c", "--load-groups", "good"}), 0));
  EXPECT_EQ(read("good"), good) << "only read";
  write("broken", "this is no profile\n");
  write("cut", good.substr(0, good.size() / 2));
  for (const char* name : {"broken", "cut"}) {
    const std::string before = read(name);
    const Outcome o = tessera({"run", "p.fa", "-n", "2", "-c", "--load-groups", name});
    EXPECT_TRUE(ended(o, 2, {name}));
    EXPECT_EQ(read(name), before);
  }
  write("other.fa", kHello);
  EXPECT_TRUE(ended(tessera({"run", "other.fa", "-n", "2", "-c", "--load-groups", "good"}), 2, {"good"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--load-groups", "."}), 2, {". is a directory"}));
  EXPECT_TRUE(ended(tessera({"run", "other.fa", "-n", "2", "-c", "--load-groups", "good", "--load-groups-anyway"}), 0));
}

// As the manual of the published balancer prints it: no file is named, and a letter of its -c is Cyrillic.
TEST_F(Command, TheOperatorsCommandLineWorksAsPrinted) {
  std::filesystem::create_directory(path("sub"));
  write("sub/p.fa", "C++ sub work(int i) ${{ usleep(1000); $}}\nsub main(int n) { for i = 1..n { work(i); } }\n");
  const Words words = {"run", "-n", "2", "-c", "--jobs_left_threshold", "0.5", "--jobs_difference_ratio", "0.1"};
  const auto with = [&](const Words& more) {
    Words all = words;
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--", "20"});
    return tessera(all);
  };
  EXPECT_TRUE(ended(with({"sub/p.fa", "--load_groups"}), 2, {"no such file", "sub/p.groups"}));
  EXPECT_TRUE(ended(with({"--save_groups", "sub/p.fa"}), 0, {"balancer central"}));
  EXPECT_NE(read("sub/p.groups").find("# Weights"), std::string::npos);
  EXPECT_EQ(read("sub/p.fa").substr(0, 3), "C++") << "the program is no name of a profile";
  EXPECT_TRUE(ended(with({"--load_groups", "--save-groups", "other.groups", "sub/p.fa"}), 0));
  EXPECT_FALSE(read("other.groups").empty());
  EXPECT_TRUE(ended(tessera({"run", "-n", "2", "-\u0441", "sub/p.fa", "--", "20"}), 0, {"balancer central"}));
}

// A thousand wait for the slow one, and no more are made while others cease to wait (Lead): but not for ever.
TEST_F(Command, WhatStandsBehindFragmentsThatWaitIsRunMeanwhile) {
  write("p.fa",
        "C++ sub slow(name x) ${{ usleep(1500000); printf(\"slow\\n\"); x = 1; $}}\n"
        "C++ sub busy() ${{ usleep(1000); $}}\n"
        "C++ sub use(int i, int v) ${{ (void)i; (void)v; $}}\n"
        "C++ sub late() ${{ usleep(1000); printf(\"late\\n\"); $}}\n"
        "sub main() {\n"
        "  df s;\n"
        "  slow(s);\n"
        "  for i = 1..20 busy();\n"
        "  for i = 1..20000 use(i, s);\n"
        "  for i = 1..4 late();\n"
        "}\n");
  for (const Words& where : {Words{"-t", "2"}, Words{"-t", "2", "--inproc-ranks", "2", "--balancer", "none"}}) {
    Words words = {"run", "-q", "p.fa", "--cxxflags=-include unistd.h"};
    words.insert(words.end(), where.begin(), where.end());
    EXPECT_EQ(tessera(words).out, "late\nlate\nlate\nlate\nslow\n") << ::testing::PrintToString(where);
  }
}

}  // namespace
}  // namespace tessera::tests
