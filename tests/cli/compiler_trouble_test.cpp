// C++ compilers that are none, crash, or can't be executed: that is said, and it is no bug of Tessera.
#include "command.hpp"
#include "runtime/run.hpp"

namespace tessera::tests {
namespace {

class CompilerTrouble : public Command {
 protected:
  // Runs a program with this compiler, nothing of it in the cache.
  Outcome with(const std::string& compiler) {
    write("hello.fa", kHello);
    environment_ = {"CXX=" + compiler, "XDG_CACHE_HOME=" + path("empty").string()};
    return tessera({"run", "-q", "hello.fa"});
  }
  std::string script(const std::string& text) {
    write("compiler", "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(path("compiler"), std::filesystem::perms::owner_all);
    return "'" + path("compiler").string() + "'";
  }
};

void expect_told(const Outcome& o, const std::vector<std::string>& parts) {
  EXPECT_TRUE(ended(o, runtime::kExitEnvironment, parts));
  EXPECT_EQ(o.err.find("internal error"), std::string::npos) << o.err;
}

TEST_F(CompilerTrouble, NoneAtAll) {
  expect_told(with("/bin/false"), {"/bin/false", "ends with exit code 1", "apt-get install"});
  expect_told(with("/bin/true"), {"/bin/true", "makes nothing of C++", "apt-get install"});
}

TEST_F(CompilerTrouble, Crashes) { expect_told(with(script("kill -SEGV $$")), {"ended by a signal"}); }

TEST_F(CompilerTrouble, ToldByItsDriver) {
  expect_told(with(script("echo 'g++: fatal error: Killed signal terminated program cc1plus' >&2; exit 1")),
              {"ended by a signal", "for want of memory", "cc1plus"});
}

TEST_F(CompilerTrouble, CannotBeExecuted) {
  write("text", "no program\n");
  expect_told(with("'" + path("text").string() + "'"), {"can't be executed", "CXX"});
  expect_told(with("/no/such/compiler"), {"is not there", "CXX"});
}

// A compiler is several processes. (Command looks for what outlives the command.) `timeout` sends its signal twice: to
// the command and to the group.
TEST_F(CompilerTrouble, WhoIsInterruptedEndsAllOfIt) {
  write("hello.fa", kHello);
  for (const std::string signal : {"INT", "TERM", "HUP"}) {
    environment_ = {"CXX=" + script("(echo started >&2; sleep 300) & sleep 300"),
                    "XDG_CACHE_HOME=" + path("empty").string()};
    const Outcome o =
        run({"sh", "-c",
             "timeout --preserve-status -s " + signal + " 2 " + std::string(TESSERA_COMMAND) + " run -q hello.fa"});
    EXPECT_TRUE(ended(o, runtime::kExitInterrupted, {"interrupted while it compiled"})) << signal;
    EXPECT_TRUE(o.survivors.empty());
    EXPECT_TRUE(std::filesystem::is_empty(path("empty") / "tessera" / "tmp"));
  }
}

}  // namespace
}  // namespace tessera::tests
