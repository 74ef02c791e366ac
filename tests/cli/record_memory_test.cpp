// What rank 0 needs at the end of a run with --record: its own peak, beside that of the same run without.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "command.hpp"

namespace tessera::tests {
namespace {

class RecordMemory : public Command {
 protected:
  // MB, of one process that does all.
  double peak(const std::string& options) {
    const std::string program = path("p").string();
    const pid_t child = fork();
    if (child == 0) {
      setenv("TESSERA_OPTIONS", ("-t 1 " + options).c_str(), 1);
      const int said = open(path("said").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(said, STDERR_FILENO);
      execl(program.c_str(), program.c_str(), nullptr);
      _exit(127);
    }
    int status = 0;
    rusage used{};
    EXPECT_EQ(wait4(child, &status, 0, &used), child);
    EXPECT_EQ(status, 0) << read("said");
    return static_cast<double>(used.ru_maxrss) / 1024;
  }
};

// Much of what may be used is used, whatever is recorded: many small records, few large ones, what others assign and
// read.
TEST_F(RecordMemory, IsWithinItsLimit) {
  constexpr double kLimit = 48;
  const char* programs[] = {
      "C++ sub f(int i) ${{ (void)i; $}}\n"
      "sub main() { for i = 1..600000 f(i); }\n",
      "C++ sub f(int i, int a, name x) ${{ x = a + i; $}}\n"
      "C++ sub first(name x) ${{ x = 0; $}}\n"
      "sub main() { df x; first(x[0]); for i = 1..200000 f(i, x[i - 1], x[i]); }\n",
      "C++ sub put(int i, name x) ${{ x = i; $}}\n"
      "C++ sub sum(int a, int b, int c, name x) ${{ x = a + b + c; $}}\n"
      "sub main() { df x; for i = 0..401 put(i, x[0][i]); for t = 1..400 { put(0, x[t][0]); put(0, x[t][401]);\n"
      "  for i = 1..400 sum(x[t - 1][i - 1], x[t - 1][i], x[t - 1][i + 1], x[t][i]); } }\n"};
  for (const char* program : programs) {
    SCOPED_TRACE(program);
    write("p.fa", program);
    ASSERT_TRUE(ended(tessera({"build", "-q", "p.fa", "-o", "p"}), 0));
    const double without = peak("--quiet");
    const double with = peak("--quiet --record p.trace --record-limit-mb " + std::to_string(static_cast<int>(kLimit)));
    EXPECT_NE(read("said").find("this is only the last"), std::string::npos) << read("said");
    EXPECT_LE(with, without + kLimit) << without;
    EXPECT_GE(with, without + kLimit / 3) << without;
  }
}

}  // namespace
}  // namespace tessera::tests
