// --balancer ./mine.so: the example is built as its page says, and runs live and simulated; other files are refused.
#include <cstdlib>

#include "command.hpp"

namespace tessera::tests {
namespace {

class PolicyFile : public Command {
 protected:
  Outcome compile(const Words& source_and_flags, const std::string& to) {
    Words words = {"c++", "-std=c++20", "-fPIC", "-shared", "-I", TESSERA_SOURCE_DIR};
    words.insert(words.end(), source_and_flags.begin(), source_and_flags.end());
    words.insert(words.end(), {"-o", to});
    return run(words);
  }
  void example() {
    ASSERT_TRUE(ended(compile({TESSERA_SOURCE_DIR "/examples/policy/neighbour.cpp"}, "neighbour.so"), 0));
  }
};

TEST_F(PolicyFile, IsListed) {
  example();
  const Outcome o = tessera({"policies", "./neighbour.so"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_NE(o.out.find("neighbour: an idle rank asks"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("pause (default 1ms)"), std::string::npos) << o.out;
}

TEST_F(PolicyFile, IsSimulatedBesideOthers) {
  example();
  const Outcome o =
      tessera({"simulate", "-w", "loop:items=300", "-n", "2", "-b", "none,./neighbour.so", "--csv", "out.csv"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_NE(o.out.find("\nneighbour "), std::string::npos) << o.out;
  EXPECT_TRUE(ended(
      tessera({"simulate", "-w", "loop:items=300", "-n", "2", "-b", "./neighbour.so", "--sweep", "pause=1ms,2ms"}), 0));
  EXPECT_TRUE(ended(tessera({"simulate", "-w", "loop", "-n", "2", "-b", "./neighbour.so", "--set", "pause=soon"}), 2,
                    {"pause", "soon"}));
}

TEST_F(PolicyFile, RunsLiveOnRanksAndInOneProcess) {
  example();
  write("p.fa",
        "C++ sub work(int i) ${{ usleep(20000); $}}\n"
        "sub main() { for i = 1..20 work(i); }\n");
  for (const Words& how : {Words{"-n", "2"}, Words{"--inproc-ranks", "2"}}) {
    Words words = {"run", "p.fa", "-t", "1", "--balancer", "./neighbour.so", "--set", "pause=500us"};
    words.insert(words.end(), how.begin(), how.end());
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(o, 0, {"balancer neighbour: moved"}));
    EXPECT_EQ(o.err.find("moved 0 "), std::string::npos) << o.err;
  }
}

TEST_F(PolicyFile, WhatIsNoPolicyIsRefusedWithTheReason) {
  write("text.so", "this is a text\n");
  write("none.c", "int other = 1;\n");
  ASSERT_TRUE(ended(run({"cc", "-shared", "-fPIC", "none.c", "-o", "none.so"}), 0));
  write("old.c", "const struct { unsigned magic, version; } tessera_policy = {0x74737061, 0};\n");
  ASSERT_TRUE(ended(run({"cc", "-shared", "-fPIC", "old.c", "-o", "old.so"}), 0));
  write("wide.c",
        "const struct { unsigned magic, version; unsigned long layout; void* policy; } tessera_policy = {0x74737061, "
        "1, 7, "
        "0};\n");
  ASSERT_TRUE(ended(run({"cc", "-shared", "-fPIC", "wide.c", "-o", "wide.so"}), 0));
  write("taken.cpp",
        "#include \"balancer/plugin/plugin.hpp\"\n"
        "using namespace tessera::balancer;\n"
        "const PolicyInfo& info() { return *find_policy(\"steal\"); }\n"
        "TESSERA_POLICY(info)\n");
  ASSERT_TRUE(ended(compile({"taken.cpp"}, "taken.so"), 0));
  write("p.fa", kHello);
  const std::vector<std::pair<std::string, std::vector<std::string>>> refused = {
      {"./no.so", {"no.so", "does not exist"}},
      {"./", {"is no file"}},
      {"./text.so", {"text.so", "can't be loaded"}},
      {"./none.so", {"none.so", "without a policy"}},
      {"./old.so", {"old.so", "version 0", "this is 1"}},
      {"./wide.so", {"wide.so", "other headers"}},
      {"./taken.so", {"taken.so", "calls itself `steal`"}},
  };
  for (const auto& [file, parts] : refused) {
    EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--balancer", file}), 2, parts)) << file;
    EXPECT_TRUE(ended(tessera({"simulate", "-w", "loop", "-n", "2", "-b", file}), 2, parts)) << file;
    EXPECT_TRUE(ended(tessera({"policies", file}), 2, parts)) << file;
  }
}

}  // namespace
}  // namespace tessera::tests
