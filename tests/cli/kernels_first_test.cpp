// What is wrong in kernels is told without waiting for the generated program, which may be large.
#include "command.hpp"

namespace tessera::tests {
namespace {

class KernelsFirst : public Command {
 protected:
  // A compiler that never ends with the generated program.
  KernelsFirst() {
    write("slow c++",
          "#!/bin/sh\nfor word in \"$@\"; do case $word in -Og) exec sleep 1000;; esac; done\nexec c++ \"$@\"\n");
    run({"chmod", "+x", "slow c++"});
    environment_ = {"CXX='" + path("slow c++").string() + "'"};
    write("p.fa", "import f(int);\nimport g(int);\nsub main() { f(1); g(2); }\n");
  }
};

TEST_F(KernelsFirst, AllTheirMistakesAreTold) {
  write("one.cpp", "#include \"ucenv.h\"\nextern \"C\" void f(int n) { mistake_one; }\n");
  write("two.cpp", "#include \"ucenv.h\"\nextern \"C\" void g(int n) { mistake_two; }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1, {"one.cpp:2", "mistake_one", "two.cpp:2", "mistake_two"}));
}

TEST_F(KernelsFirst, AlsoInPlace) {
  write("p.fa", "C++ sub f(int n) ${{ mistake_in_place; $}}\nsub main() { f(1); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1, {"p.fa:1", "mistake_in_place"}));
}

}  // namespace
}  // namespace tessera::tests
