// What is said when there is no room for a file, or for stdout.
#include "command.hpp"

namespace tessera::tests {
namespace {

class FullDisk : public Command {
 protected:
  FullDisk() { write("p.fa", kHello); }

  // Runs `tessera words...`, and no file may grow longer than that many blocks of 512 bytes.
  Outcome limited(const char* blocks, const Words& words) {
    Words command = {"sh", "-c", "trap '' XFSZ; ulimit -f $0; exec \"$@\"", blocks, TESSERA_COMMAND};
    command.insert(command.end(), words.begin(), words.end());
    return run(command);
  }
};

TEST_F(FullDisk, UnderTheCacheOrTheCompiler) {
  cache_ = path("cache");
  EXPECT_TRUE(
      ended(limited("1", {"run", "p.fa"}), 3, {"the compilation cache", path("cache").string(), "File too large"}));
  EXPECT_TRUE(ended(limited("16", {"run", "p.fa"}), 3, {"the C++ compiler can't write", "TMPDIR", "File too large"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 0)) << "no half of a file is left";
  // What the program says of it is another matter.
  write("p.fa", "C++ sub f() ${{ nosuch(\"No space left on device\"); $}}\nsub main() { f(); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1, {"do not compile", "p.fa:1"}));
}

TEST_F(FullDisk, UnderMpi) {
  EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa"}), 0));
  const Words mount = {"unshare",
                       "-rm",
                       "sh",
                       "-c",
                       "mkdir -p full; mount -t tmpfs -o size=64k tmpfs full && TMPDIR=$PWD/full exec \"$@\"",
                       "sh"};
  const auto there = [&](Words words) {
    words.insert(words.begin(), mount.begin(), mount.end());
    return run(words);
  };
  if (there({"true"}).exit_code != 0) GTEST_SKIP() << "nothing can be mounted here";
  EXPECT_TRUE(
      ended(there({TESSERA_COMMAND, "run", "p.fa", "-n", "2"}), 3, {path("full").string(), "is full", "TMPDIR"}));
}

TEST_F(FullDisk, BehindStdout) {
  write("many.fa", "C++ sub show(int i) ${{ printf(\"%d\\n\", i); $}}\nsub main() { for i = 1..5000 show(i); }\n");
  const auto lost = [&](Words words) {
    words.insert(words.begin(), {"sh", "-c", "exec \"$@\" > /dev/full", "sh", TESSERA_COMMAND});
    return ended(run(words), 3, {"tessera: error: can't write to stdout"});
  };
  EXPECT_TRUE(lost({"run", "-q", "p.fa"}));
  EXPECT_TRUE(lost({"run", "-q", "many.fa", "-t", "2"}));
  EXPECT_TRUE(lost({"run", "-q", "p.fa", "-n", "2"}));
  EXPECT_TRUE(lost({"run", "-q", "many.fa", "-n", "2"}));
  EXPECT_TRUE(lost({"check", "p.fa", "--format", "json"}));
  EXPECT_TRUE(lost({"policies"}));
  EXPECT_TRUE(lost({"explain"}));
  EXPECT_TRUE(lost({"--help"}));
  EXPECT_TRUE(lost({"simulate", "-w", "matmul:blocks=2", "-n", "2", "--json", "-"}));
  EXPECT_TRUE(ended(tessera({"build", "p.fa", "-o", "p"}), 0));
  EXPECT_TRUE(ended(run({"sh", "-c", "./p > /dev/full"}), 3, {"can't write to stdout"}));
}

// Nobody is told that it is another folder on another host, and nothing is tried again.
TEST_F(FullDisk, UnderTheJournal) {
  const auto there = [&](Words words) {
    words.insert(words.begin(), {"unshare", "-rm", "sh", "-c",
                                 "mkdir -p full; mount -t tmpfs -o size=64k tmpfs full && mkdir full/J && "
                                 "{ cat /dev/zero > full/rest 2> /dev/null; exec \"$@\"; }",
                                 "sh"});
    return run(words);
  };
  if (there({"true"}).exit_code != 0) GTEST_SKIP() << "nothing can be mounted here";
  for (const Words& ranks : {Words{"-t", "2"}, Words{"-n", "2"}}) {
    Words words = {TESSERA_COMMAND, "run", "-q", "p.fa", "--journal", "full/J"};
    words.insert(words.end(), ranks.begin(), ranks.end());
    const Outcome o = there(words);
    EXPECT_TRUE(ended(o, 2, {"--journal: can't write into", "full/J: No space left on device"}));
    EXPECT_EQ(o.err.find("rank 1"), std::string::npos) << o.err;
  }
}

// Other files than stdout.
TEST_F(FullDisk, LeavesNoHalfOfAFile) {
  EXPECT_TRUE(ended(limited("1", {"simulate", "-w", "matmul:blocks=2", "-n", "2", "--plot", "a.svg"}), 3,
                    {"a.svg", "File too large"}));
  EXPECT_FALSE(std::filesystem::exists(path("a.svg")));
  EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa"}), 0));
  EXPECT_TRUE(ended(limited("1", {"run", "-q", "p.fa", "--inproc-ranks", "2", "--record-policy", "logs"}), 3,
                    {"logs/rank-0.policy.jsonl: File too large"}));
  for (const char* option : {"--summary", "--record"}) {
    EXPECT_TRUE(ended(limited("0", {"run", "-q", "p.fa", option, "out"}), 3, {"out", "File too large"})) << option;
    EXPECT_FALSE(std::filesystem::exists(path("out")));
  }
  write("long.fa",
        "sub main() {" + std::string(2000, ' ') + "}" + std::string(100, '\n') + "// " + std::string(2000, 'x') + "\n");
  EXPECT_TRUE(ended(limited("1", {"fmt", "long.fa"}), 3, {"long.fa: File too large"}));
}

}  // namespace
}  // namespace tessera::tests
