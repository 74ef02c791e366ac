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
  EXPECT_TRUE(ended(limited("1", {"run", "p.fa"}), 3, {"the compilation cache", path("cache").string(), "File too large"}));
  EXPECT_TRUE(ended(limited("16", {"run", "p.fa"}), 3, {"the C++ compiler can't write", "TMPDIR", "File too large"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 0)) << "no half of a file is left";
  // What the program says of it is another matter.
  write("p.fa", "C++ sub f() ${{ nosuch(\"No space left on device\"); $}}\nsub main() { f(); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1, {"do not compile", "p.fa:1"}));
}

TEST_F(FullDisk, UnderMpi) {
  EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa"}), 0));
  const Words mount = {"unshare", "-rm", "sh", "-c", "mkdir -p full; mount -t tmpfs -o size=64k tmpfs full && TMPDIR=$PWD/full exec \"$@\"", "sh"};
  const auto there = [&](Words words) {
    words.insert(words.begin(), mount.begin(), mount.end());
    return run(words);
  };
  if (there({"true"}).exit_code != 0) GTEST_SKIP() << "nothing can be mounted here";
  EXPECT_TRUE(ended(there({TESSERA_COMMAND, "run", "p.fa", "-n", "2"}), 3, {path("full").string(), "is full", "TMPDIR"}));
}

}  // namespace
}  // namespace tessera::tests
