// Kernels that misbehave, and what finds out: -g, --sanitize, and words about what runs.
#include "command.hpp"

namespace tessera::tests {
namespace {

constexpr const char* kWritesInput =
    "C++ sub make(int v, name x) ${{ auto p = x.create<double>(10); p[0] = v; $}}\n"
    "C++ sub bad(value v, name y) ${{ double *p = const_cast<double *>(v.getData<double>()); p[0] += 1; y = 1; $}}\n"
    "C++ sub show(int v) ${{ printf(\"%d\", v); $}}\n"
    "sub main() { df x, y; make(1, x); bad(x, y) @ { locator_cyclic: 1; }; show(y); }\n";

TEST_F(Command, InputsThatAreWrittenToAreFound) {
  write("p.fa", kWritesInput);
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-q"}), 0)) << "looked for only if asked";
  for (const Words& words : {Words{"-t", "1"}, Words{"-n", "2"}, Words{"--inproc-ranks", "2", "--record", "p.trace"}}) {
    Words all = {"run", "-g", "p.fa", "-q"};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_TRUE(ended(tessera(all), 1,
                      {"p.fa:4: error: the kernel wrote to its input `x`", "in `bad(x, y)` at p.fa:4", "[T417]"}));
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Whatever else is overwritten: both sides of the input, or what the runtime knows of it. And who has got the output of
// the kernel, on another worker, is not to blame.
TEST_F(Command, WritingAroundInputsIsFound) {
  for (const char* range : {"p - 16, 0, 1056", "p - 104, 0, 1200"}) {
    write("p.fa",
          std::string("C++ sub make(name x) ${{ x.create<double>(100); $}}\n"
                      "C++ sub bad(value v, name y) ${{ char *p = const_cast<char *>(v.getData<char>()); memset(") +
              range +
              "); y = 1; $}}\n"
              "C++ sub show(value v, int y) ${{ printf(\"%d\", y); $}}\n"
              "sub main() { df x, y; make(x); bad(x, y); show(x, y); }\n");
    for (int run = 0; run < 5; ++run) {
      EXPECT_TRUE(ended(tessera({"run", "-g", "p.fa", "-q", "-t", "2"}), 1,
                        {"p.fa:4: error: the kernel wrote outside its input `x`", "in `bad(x, y)`"}))
          << range;
    }
  }
}
#endif

TEST_F(Command, DebugTurnsAssertionsOn) {
  write(
      "p.fa",
      "C++ sub f(int i) ${{ std::vector<int> v(3); printf(\"%d\", v[std::size_t(i)] * 0); $}}\nsub main() { f(3); }\n");
  EXPECT_TRUE(ended(tessera({"run", "-g", "p.fa", "-q"}), 1, {"Assertion", "p.fa:2: error: abort in a kernel [T410]"}));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(Command, TheSanitizerNamesTheKernelAndItsLine) {
  write("p.fa",
        "C++ sub make(int v, name x) ${{ auto p = x.create<double>(10); p[0] = v; $}}\n"
        "C++ sub show(value v) ${{\n"
        "  auto *p = v.getData<double>();\n"
        "  printf(\"%g\", p[10]);\n"
        "$}}\n"
        "sub main() { df x; make(1, x); show(x) @ { locator_cyclic: 1; }; }\n");
  for (const char* ranks : {"", "-n2"}) {
    Words words = {"run", "p.fa", "-q", "--sanitize", "address"};
    if (*ranks != 0) words.push_back(ranks);
    EXPECT_TRUE(ended(tessera(words), 1,
                      {"AddressSanitizer: ", "p.fa:4",
                       "p.fa:6: error: the sanitizer's report above is about this kernel [T410]", "in `show(x)`"}));
  }
  write("p.fa", kHello);
  const Outcome o = tessera({"run", "p.fa", "-q", "-g", "--sanitize", "address"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "hello\n");
}
#endif

constexpr const char* kSpins =
    "C++ sub spin(int v, name x) ${{ sleep(3); printf(\"spinning\\n\"); fflush(stdout); sleep(60); x = v; $}}\n"
    "C++ sub show(int v) ${{ printf(\"%d\", v); $}}\n"
    "sub main() { df x; spin(1, x) @ { locator_cyclic: 1; }; show(x); }\n";

TEST_F(Command, WhoIsInterruptedSaysWhatRuns) {
  write("p.fa", kSpins);
  EXPECT_TRUE(ended(tessera_signalled("INT", "spinning", {"run", "p.fa"}), 130,
                    {"rank 0 (", "has run `spin(1, x)` at p.fa:3"}));
  EXPECT_TRUE(ended(tessera_signalled("INT", "spinning", {"run", "p.fa", "-n", "2"}), 130,
                    {"rank 1 (", "has run `spin(1, x)` at p.fa:3"}));
}

// As batch systems do, and `timeout`: mpirun gets it, too, and a second one from us would make it give up on its ranks.
TEST_F(Command, WhoIsInterruptedWithItsGroupSaysWhatRuns) {
  write("p.fa", kSpins);
  for (const char* signal : {"TERM", "INT"}) {
    EXPECT_TRUE(ended(tessera_signalled(signal, "spinning", {"run", "p.fa", "-n", "2"}, true), 130,
                      {"rank 1 (", "has run `spin(1, x)` at p.fa:3"}))
        << signal;
  }
}

TEST_F(Command, TheProgressLineNamesWhatRunsLong) {
  write("p.fa", "C++ sub nap(int v) ${{ sleep(v); $}}\nsub main() { nap(4); }\n");
  const Outcome o = run({"script", "-qec", std::string(TESSERA_COMMAND) + " run p.fa", "/dev/null"});
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_NE(o.out.find("rank 0, 2 s: `nap(4)` at p.fa:2"), std::string::npos) << o.out;
}

}  // namespace
}  // namespace tessera::tests
