// What kernels allocate for themselves: once, not at each call.
#include <string>

#include "command.hpp"

namespace tessera::tests {
namespace {

class Temporaries : public Command {
 protected:
  // How often the system was asked for a page, in 200 calls that hold four vectors of 160 kB each.
  long faults(const Words& options) {
    write("p.fa", R"fa(
C++ head ${{
#include <sys/resource.h>
$}}
C++ sub work(int i, int before, name x) ${{
  std::vector<double> a(20000, i), b(20000, before), c(20000, 1), d(20000, 2);
  x = (before + int(a[i] + b[i] + c[i] + d[i])) % 1000;
$}}
C++ sub first(name x, name from) ${{ x = 0; rusage u{}; getrusage(RUSAGE_SELF, &u); from = int(u.ru_minflt); $}}
C++ sub last(int x, int from) ${{ rusage u{}; getrusage(RUSAGE_SELF, &u); printf("%d\n", int(u.ru_minflt) - from); $}}
sub main() { df x, from; first(x[0], from); for i = 0..199 work(i, x[i], x[i + 1]); last(x[200], from); }
)fa");
    Words words = {"run", "-q", "p.fa"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(o, 0));
    return std::atol(o.out.c_str());
  }
};

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// A kernel's vectors have 160 pages.
TEST_F(Temporaries, AreKeptForTheNextCall) {
  EXPECT_LT(faults({"-t", "1"}), 2000);
  EXPECT_LT(faults({"-n", "2", "-t", "1", "--balancer", "none"}), 2000);
  environment_ = {"MALLOC_TRIM_THRESHOLD_=131072"};
  EXPECT_GT(faults({"-t", "1"}), 10000) << "as the user has it";
}
#endif

}  // namespace
}  // namespace tessera::tests
