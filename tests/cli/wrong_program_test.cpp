// Programs and kernels that are wrong, and machines that lack a tool.
#include "command.hpp"
#include "compiler/catalogue/catalogue.hpp"

namespace tessera::tests {
namespace {

TEST_F(Command, CheckSaysWhatIsWrong) {
  write("good.fa", kHello);
  const Outcome good = tessera({"check", "good.fa"});
  EXPECT_TRUE(ended(good, 0));
  EXPECT_EQ(good.err, "");
  write("bad.fa", "C++ sub f() ${{ $}}\nsub main() {\n  f()\n}\n");
  EXPECT_TRUE(ended(tessera({"check", "bad.fa"}), 1, {"bad.fa:", "error"}));
  EXPECT_TRUE(ended(tessera({"run", "bad.fa"}), 1, {"bad.fa:", "error"}));
}

// The place is the one to mend, and what stands elsewhere is shown.
TEST_F(Command, AMessageIsAboutWhatHasToBeMended) {
  write("p.fa", "#include <std/base.fa>\nsub Main(int n) { print(n); }\n");
  EXPECT_TRUE(ended(tessera({"check", "p.fa"}), 1, {"p.fa:2:5: error: the program has no `sub main`", "`Main`"}));
  write("p.fa", "#include <std/base.fa>\n#define N 10;\nsub main() { for i = 0..$N print(i); }\n");
  const Outcome macro = tessera({"check", "p.fa"});
  EXPECT_TRUE(ended(macro, 1, {"p.fa:3:25: error", "p.fa:2:9: note: `$N` stands for `10;`, with the `;`", "1 error"}));
  EXPECT_EQ(macro.err.find("T206"), std::string::npos) << "`i` is declared";
  write("p.fa", "#define N 10\nC++ sub f() ${{ printf(\"%d\", $N); $}}\nsub main() { f(); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1, {"macros are not substituted in C++ text: give the kernel `$N`"}));
  // A counter that the kernel does not take is not known any more.
  write("p.fa",
        "#include <std/base.fa>\nsub main(int n) { df m; for i = 0..n for j = 0..n set(i, m[i]); print(m[0]); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--", "1"}), 1, {"two runs of one statement", "[T402]"}));
  write("p.fa",
        "#include <std/base.fa>\n"
        "sub main(int n) { df x; set(0, x[0]); for t = 0..n set(x[t] + 1, x[t + 1]); print(x[n + 2]); }\n");
  const Outcome stuck = tessera({"run", "p.fa", "--", "3"});
  EXPECT_TRUE(ended(stuck, 1, {"waits for `x[5]` (`set` at p.fa:2), which nothing will assign"}));
  EXPECT_EQ(stuck.err.find("System is idle"), std::string::npos) << "these are words of the old command";
}

// What waits for an index keeps all, be it never so late; what is swept is none, nor is a name that can't grow.
TEST_F(Command, CheckNamesWhatLivesLong) {
  write("p.fa",
        "#include <std/base.fa>\n"
        "C++ sub sum(int a, int b, name x) ${{ x = a + b; $}}\n"
        "sub main(int n) {\n"
        "  df u, p, s;\n"
        "  for i = 0..5 set(i, u[0][i]);\n"
        "  for i = 0..5 set(i % 3, p[i]);\n"
        "  for t = 0..n - 1 for i = 0..5 sum(u[t][i > 0 ? i - 1 : 0], u[t][i], u[t + 1][i]);\n"
        "  for i = 0..5 sum(u[n][i], p[p[i]], s[i]);\n"
        "  sum(u[s[5]][0], u[n][0], s[6]);\n"
        "  print(s[6]);\n"
        "}\n");
  const Outcome o = tessera({"check", "p.fa"});
  EXPECT_TRUE(ended(o, 0, {"p.fa:9:", "all of `u` lives as long as this waits", "[T246]"}));
  EXPECT_EQ(o.err.find("`p` lives"), std::string::npos) << o.err;
  std::string text = read("p.fa");
  text.erase(text.find("  sum(u[s[5]]"), text.find("  print") - text.find("  sum(u[s[5]]"));
  write("p.fa", text);
  EXPECT_EQ(tessera({"check", "p.fa"}).err.find("T246"), std::string::npos);
}

TEST_F(Command, AnArgumentThatNobodyNeedsIsWrongAllTheSame) {
  write("p.fa",
        "C++ sub put(int i, name x) ${{ x = i; $}}\n"
        "sub some(int n, int k) { df x; if n > 0 put(k, x); }\n"
        "sub element(int n, name x) { if n > 0 put(n, x); }\n"
        "sub main(int n, int zero) {\n"
        "  df x;\n"
        "  if zero == 1 some(0, 10 / n);\n"
        "  if zero == 2 element(0, x[10 / n]);\n"
        "}\n");
  for (const char* which : {"1", "2"}) {
    EXPECT_TRUE(ended(tessera({"run", "p.fa", "--", "1", which}), 0));
    EXPECT_TRUE(ended(tessera({"run", "p.fa", "--", "0", which}), 1, {"T406", "division by zero"}));
    EXPECT_TRUE(ended(tessera({"run", "p.fa", "--without", "inline-subs", "--", "0", which}), 1, {"T406"}));
  }
}

// Known before there is a fragment for it, or only when that has waited, or seen by a trace.
TEST_F(Command, AConditionIsWrongInItsFragmentWheneverItIsKnown) {
  const std::string flags = "  for i = 0..9 put(i % 4, f[i]);\n", calls = "  for i = 0..9 if 6 / f[i] == 3 say(i);\n";
  for (const bool known : {true, false}) {
    write("p.fa",
          "C++ sub put(int i, name x) ${{ x = i; $}}\n"
          "C++ sub say(int i) ${{ printf(\"%d\\n\", i); $}}\n"
          "sub main() {\n"
          "  df f;\n" +
              (known ? flags + calls : calls + flags) + "}\n");
    const std::string line = known ? "6" : "5";
    const std::initializer_list<std::string> said{"p.fa:" + line + ": error: division by zero [T406]",
                                                  "` at p.fa:" + line + " (i="};
    for (const std::string way : {"-q", "--without=fuse-branches", "--record=trace"}) {
      SCOPED_TRACE(way);
      EXPECT_TRUE(ended(tessera({"run", "-t", "1", way, "p.fa"}), 1, said));
    }
  }
}

TEST_F(Command, WhatFailsInASubNamesItsCalls) {
  write("p.fa",
        "C++ sub show(int v) ${{ printf(\"%d\", v); $}}\n"
        "sub inner(int a, int b) { show(a / b); }\n"
        "sub mid(int b) { inner(7, b); }\n"
        "sub main() { mid(2); mid(1);\n"
        "  mid(0); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1, {"`show(a / b)` at p.fa:2, called at p.fa:3, called at p.fa:5"}));
}

// Each sub would double the expression.
TEST_F(Command, SubsInSubsMakeNoEndlessExpressions) {
  std::string program = "C++ sub show(int v) ${{ (void)v; $}}\nsub s0(int a) { show(a + a); }\n";
  for (int k = 1; k < 28; ++k) {
    program += "sub s" + std::to_string(k) + "(int a) { s" + std::to_string(k - 1) + "(a + a); }\n";
  }
  write("p.fa", program + "sub main(int n) { s27(n); }\n");
  EXPECT_LT(tessera({"check", "--dump-after", "number-blocks", "p.fa"}).out.size(), 100'000u);
}

TEST_F(Command, UnknownKernelAndNoMain) {
  write("unknown.fa", "sub main() { prnt(5); }\n");
  EXPECT_TRUE(ended(tessera({"run", "unknown.fa"}), 1, {"unknown.fa:1:14", "prnt"}));
  write("empty.fa", "C++ sub f() ${{ $}}\n");
  EXPECT_TRUE(ended(tessera({"run", "empty.fa"}), 1, {"main"}));
}

TEST_F(Command, AKernelFileThatDoesNotCompile) {
  write("p.fa", "import f(int) as f;\nsub main() { f(1); }\n");
  write("kernels.cpp", "#include \"ucenv.h\"\nextern \"C\" void f(int n) {\n  int x = undeclared;\n}\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1,
                    {"the kernel file kernels.cpp does not compile", "kernels.cpp:3:", "undeclared"}));
}

TEST_F(Command, AKernelWrittenInPlaceThatDoesNotCompile) {
  write("p.fa", "sub main() { f(); }\nC++ sub f() ${{\n  int x = undeclared;\n$}}\n");
  EXPECT_TRUE(
      ended(tessera({"run", "p.fa"}), 1, {"the C++ kernels written in p.fa do not compile", "p.fa:3:", "undeclared"}));
}

TEST_F(Command, AnImportedKernelThatNothingDefines) {
  write("p.fa", "import compute(int) as f;\nsub main() { f(1); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1, {"p.fa:1:", "`compute`"})) << "no kernel file at all";
  write("kernels.cpp", "#include \"ucenv.h\"\nextern \"C\" void compte(int n) {}\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1, {"p.fa:1:", "`compute`", "did you mean `compte`"}));
  write("kernels.cpp", "#include \"ucenv.h\"\nvoid compute(int n) {}\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1, {"p.fa:1:", "write extern \"C\" before it"}));
  write("kernels.cpp", "extern \"C\" void compute(int n) {}\n");
  write("more.cpp", "extern \"C\" void compute(int n) {}\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1, {"defined twice", "kernels.cpp", "more.cpp"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "more.cpp"}), 0));
}

// The sanitizer reports crashes of kernels itself.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCrashesToo = false;
#else
constexpr bool kCrashesToo = true;
#endif

// The examples of `tessera explain` that only a build or a run can show; tests/compiler has the others.
// It does not belong to the program, and nobody has named it: the linker's text says neither.
TEST_F(Command, AFileBesideTheProgramThatDoesNotLink) {
  write("p.fa", "import f() as f;\nsub main() { f(); }\n");
  write("kernels.cpp", "extern \"C\" void f() {}\n");
  write("stray.cpp", "int helper(int);\nint stray() { return helper(1); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1,
                    {"`stray.cpp` uses `helper(int)`, which nothing defines", "All *.cpp beside the program are taken",
                     "tessera run prog.fa kernels.cpp"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "kernels.cpp"}), 0));
  write("stray.cpp", "int same() { return 1; }\n");
  write("kernels.cpp", "int same() { return 2; }\nextern \"C\" void f() {}\n");
  EXPECT_TRUE(
      ended(tessera({"run", "p.fa"}), 1, {"`same()` is defined in `kernels.cpp` and in `stray.cpp`", "are taken"}));
}

TEST_F(Command, ExamplesOfTheCatalogue) {
  for (const compiler::Entry& e : compiler::catalogue()) {
    if (e.by != compiler::Entry::By::build && e.by != compiler::Entry::By::run) continue;
    if (!kCrashesToo && (std::string(e.code) == "T410" || std::string(e.code) == "T415")) continue;
    SCOPED_TRACE(e.code);
    write("p.fa", compiler::complete(e.wrong));
    const bool error = e.severity == compiler::Severity::error;
    Words words = {"run", "p.fa"};
    if (!error) words.push_back("-Wno-error=" + std::string(e.code));  // some are errors unless that is said
    if (std::string(e.code) == "T417") words.push_back("-g");
    EXPECT_TRUE(ended(tessera(words), error ? 1 : 0, {"[" + std::string(e.code) + "]"}));
    write("p.fa", compiler::complete(e.right));
    EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa"}), 0));
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(Command, ACrashOfTheCommandIsABugOfOurs) {
  const Outcome o =
      run({"sh", "-c", "mkfifo in; exec 3<>in; \"$0\" lsp <&3 & sleep 0.5; kill -SEGV $!; wait $!", TESSERA_COMMAND});
  EXPECT_TRUE(ended(o, 70, {"internal error", "please report it"}));
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// In a kernel; in a loop; where nothing runs. What is made first is read last: else the ranks could wait until there is
// room again.
TEST_F(Command, WantOfMemoryIsNoBug) {
  write("big.fa",
        "C++ sub big(int mb, name x) ${{ x.create<char>(std::size_t(mb) << 20); $}}\n"
        "C++ sub last(value x, name y) ${{ y = int(x.getSize()); $}}\n"
        "C++ sub size(value x, int y) ${{ if (x.getSize() == 0) throw y; $}}\n"
        "sub main() {\n  df x, y;\n  last(x[300], y);\n"
        "  for i=0..300 big(20, x[i]) @ { locator_cyclic: i; };\n  for i=0..300 size(x[i], y);\n}\n");
  write("many.fa",
        "C++ sub one(int i, name x) ${{ x = i; $}}\n"
        "C++ sub use(int a) ${{ $}}\n"
        "sub main() {\n  df x;\n  for i=0..30000000 use(x[30000000 - i]);\n  for i=0..30000000 one(i, x[i]);\n}\n");
  for (const std::vector<std::string>& ranks : {std::vector<std::string>{"-t", "2"}, {"-n", "2", "-t", "1"}}) {
    for (const char* program : {"big.fa", "many.fa"}) {
      SCOPED_TRACE(program);
      std::vector<std::string> words{"sh", "-c",   "ulimit -v 800000; exec \"$@\"", "sh", TESSERA_COMMAND, "run",
                                     "-q", program};
      words.insert(words.end(), ranks.begin(), ranks.end());
      EXPECT_TRUE(ended(run(words), 3, {"out of memory", "ulimit -a"}));
    }
  }
}

// ... and a kernel that can do with less is let do so, also in threads of its own.
TEST_F(Command, AKernelMayDoWithLessMemory) {
  write("p.fa",
        "C++ sub f(name x) ${{\n"
        "  int refused = 0;\n"
        "  const auto ask = [&] { try { std::vector<char> v(std::size_t(1) << 46); } catch (const std::bad_alloc&) { "
        "++refused; } };\n"
        "  ask();\n"
        "  std::thread(ask).join();\n"
        "  x = refused;\n"
        "$}}\n"
        "C++ sub show(int n) ${{ printf(\"refused %d\\n\", n); $}}\n"
        "sub main() { df x; f(x); show(x); }\n");
  const Outcome o = tessera({"run", "-q", "p.fa"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "refused 2\n");
}
#endif

TEST_F(Command, NoCompiler) {
  write("p.fa", kHello);
  environment_ = {"CXX=no-such-compiler"};
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 3, {"no-such-compiler", "apt-get install g++"}));
  environment_ = {"-u", "CXX", "PATH=/nonexistent"};
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 3, {"no C++ compiler found", "apt-get install g++"}));
}

TEST_F(Command, NoMpirun) {
  write("p.fa", kHello);
  environment_ = {"PATH=/nonexistent"};
  const Outcome o = tessera({"run", "p.fa", "-n", "2"});
  EXPECT_TRUE(ended(o, 3, {"no mpirun", "apt-get install openmpi-bin"}));
}

TEST_F(Command, ACacheThatCannotBeWritten) {
  write("p.fa", kHello);
  write("file", "");
  cache_ = path("file");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 3, {"XDG_CACHE_HOME"}));
}

TEST_F(Command, WhatWaitsIsListedByNumbers) {
  write("p.fa",
        "C++ sub init(int v, name x) ${{ x = v; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() { df x, n; init(11, n); for i = 9..n show(x[i]); init(1, x[n + 1]); }\n");
  const Outcome o = tessera({"run", "-q", "p.fa"});
  EXPECT_TRUE(ended(o, 1, {"[T401]", "`x[9]`", "`x[10]`"}));
  EXPECT_LT(o.err.find("`x[9]`"), o.err.find("`x[10]`")) << o.err;
  EXPECT_LT(o.err.find("`x[10]`"), o.err.find("`x[11]`")) << o.err;
}

// A `while` that waits has names in hand that it only reads: it is not who would assign them.
TEST_F(Command, AWhileThatWaitsHidesNoOther) {
  write("p.fa",
        "C++ sub init(int v, name x) ${{ x = v; $}}\n"
        "C++ sub step(int v, int w, name x) ${{ x = v + w; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub inner(name x, name y, name n) { while x[i] < 9, i = 0 .. out n step(x[i], y[i], x[i + 1]); }\n"
        "sub main() { df x, y, n, k; init(3, k); init(1, x[0]); inner(x, y, n); init(2, y[0]); show(n);\n"
        "  for i = 1..k show(y[i]); init(0, y[k + 1]); }\n");
  const Outcome o = tessera({"run", "-q", "p.fa"});
  EXPECT_TRUE(ended(o, 1, {"[T401]", "waits for `y[1]`", "waits for `y[3]`"}));
  EXPECT_EQ(o.err.find("wait for each other"), std::string::npos) << o.err;
}

// A chain that is one fragment waits in one of its turns: what later ones assign waits for the cause, and is none.
TEST_F(Command, AChainThatWaitsIsNotTheCause) {
  write("p.fa",
        "C++ sub init(int v, name x) ${{ x = v; $}}\n"
        "C++ sub add(int v, int w, name x) ${{ x = v + w; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main(int n) { df r, s; init(0, s[0]);\n"
        "  for i = 1..n if i != 2 init(i, r[i]);\n"
        "  for i = 1..n add(s[i - 1], r[i], s[i]);\n"
        "  for i = 1..n show(s[i]); }\n");
  for (const char* ranks : {"1", "2"}) {
    const Outcome o = tessera({"run", "-q", "-n", ranks, "p.fa", "--", "30"});
    EXPECT_TRUE(ended(o, 1, {"[T401]", "waits for `r[2]`"})) << o.err;
    EXPECT_EQ(o.err.find("waits for `s"), std::string::npos) << o.err;
    EXPECT_EQ(o.err.find("more data fragment"), std::string::npos) << o.err;
  }
}

TEST_F(Command, TheCompilerKnowsTheColumn) {
  write("p.fa",
        "C++ sub f(int i) ${{ int q = nosuch; $}}\n"
        "C++ sub g(int i) ${{\n"
        "  int q = other; $}}\n"
        "sub main() { f(1); g(1); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1, {"p.fa:1:30: error", "p.fa:3:11: error"}));
}

}  // namespace
}  // namespace tessera::tests
