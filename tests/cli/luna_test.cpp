// `luna` as scripts call it: one test per behaviour of the old command that they rely on.
#include <algorithm>

#include "command.hpp"

namespace tessera::tests {
namespace {

namespace fs = std::filesystem;

// A program with a kernel file and an argument.
constexpr const char* kProgram =
    "import show(int, int) as show;\n"
    "sub main(int n) { show(n, $K); }\n";
constexpr const char* kKernels =
    "#include \"ucenv.h\"\n"
    "extern \"C\" void show(int n, int k) { printf(\"%d\\n\", n + k); }\n";

class Luna : public Command {
 protected:
  Luna() {
    write("p.fa", kProgram);
    write("ucodes.cpp", kKernels);
  }
  Outcome luna(const Words& words) { return run(with({LUNA_COMMAND}, words)); }
  Outcome luna_on_ranks(const char* ranks, const Words& words) {
    return run(with({"mpirun", "-q", "--allow-run-as-root", "--oversubscribe", "-n", ranks, LUNA_COMMAND}, words));
  }
  static Words with(Words first, const Words& rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
  }
  // The files in the program's folder, and below.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& e : fs::recursive_directory_iterator(folder_)) {
      names.push_back(fs::relative(e.path(), folder_).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(Luna, RunsAndLeavesNothingBehind) {
  const auto before = files();
  const Outcome o = luna({"-D", "K=1", "p.fa", "41"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "42\n");
  EXPECT_EQ(o.err, "") << "there is nothing to say";
  EXPECT_EQ(files(), before);
}

TEST_F(Luna, HelpNamesEveryOption) {
  const Outcome o = luna({"--help"});
  EXPECT_TRUE(ended(o, 0));
  for (const char* option : {"-q",
                             "--quiet",
                             "--verbose",
                             "-t",
                             "-g",
                             "-O0",
                             "-O",
                             "-b",
                             "-c",
                             "--output-file",
                             "--compile-only",
                             "--build-dir",
                             "--no-cleanup",
                             "--worker-threads-count",
                             "-u",
                             "-D",
                             "--cpp-dir",
                             "--cpp-source",
                             "--disable-warning",
                             "--path",
                             "--central",
                             "--jobs-left-threshold",
                             "--save-groups",
                             "LUNA_NO_CLEANUP"}) {
    EXPECT_NE(o.out.find(option), std::string::npos) << option << "\n" << o.out;
  }
}

TEST_F(Luna, EveryErrorIsExitCode1) {
  EXPECT_TRUE(ended(luna({}), 1, {"which program"}));
  EXPECT_TRUE(ended(luna({"absent.fa"}), 1, {"luna: error: no such file: absent.fa"}));
  EXPECT_TRUE(ended(luna({"--quite", "p.fa"}), 1, {"--quite", "did you mean `--quiet`"}));
  EXPECT_TRUE(ended(luna({"-D", "K=1", "p.fa"}), 1)) << "main's argument is missing";
  EXPECT_TRUE(ended(luna({"p.fa", "1"}), 1, {"p.fa:2", "K"}));
  environment_ = {"CXX=no-such-compiler"};
  EXPECT_TRUE(ended(luna({"-D", "K=1", "p.fa", "1"}), 1, {"no-such-compiler"}));
}

TEST_F(Luna, WhatStandsBehindTheProgramIsItsOwn) {
  write("e.fa", kEcho);
  EXPECT_EQ(luna({"e.fa", "-5", "--help"}).out, "-5 --help\n");
  EXPECT_EQ(luna({"-q", "e.fa", "7", "-q"}).out, "7 -q\n");
  EXPECT_EQ(luna({"--", "e.fa", "7", "two words"}).out, "7 two words\n");
  EXPECT_TRUE(ended(luna({"e.fa", "5", "x", "-q"}), 1, {"options of luna stand before it"}));
}

TEST_F(Luna, TheOperatorsCommandLineOfTheCentralBalancerWorksAsPrinted) {
  write("e.fa", kEcho);
  const Words mpirun = {"mpirun", "--oversubscribe", "--allow-run-as-root", "-n", "2", LUNA_COMMAND, "--verbose"};
  const auto on_two = [&](const Words& more) {
    Words all = mpirun;
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"e.fa", "7", "-c"});
    return run(all);
  };
  Outcome o = on_two({"-c", "--jobs_left_threshold", "0.5", "--jobs_difference_ratio", "0.1", "--save_groups"});
  EXPECT_TRUE(ended(o, 0, {"balancer central"}));
  EXPECT_EQ(o.out, "7 -c\n");
  EXPECT_FALSE(read("e.groups").empty());
  EXPECT_TRUE(ended(on_two({"-\u0441", "--load_groups"}), 0, {"balancer central"}));
  EXPECT_TRUE(ended(luna({"-c", "e.fa"}), 0)) << "alone it is what it always was";
  EXPECT_TRUE(std::filesystem::exists(path("libucodes.so")));
}

TEST_F(Luna, QuietAndVerbose) {
  write("w.fa", "C++ sub f() ${{ printf(\"out\\n\"); $}}\nsub main() { f() @ { no_such_advice; }; }\n");
  EXPECT_TRUE(ended(luna({"w.fa"}), 0, {"w.fa:2", "warning"}));
  const Outcome quiet = luna({"--quiet", "w.fa"});
  EXPECT_EQ(quiet.out, "out\n");
  EXPECT_EQ(quiet.err, "");
  EXPECT_TRUE(ended(luna({"--verbose", "w.fa"}), 0, {"compiling w.fa", "efficiency"}));
}

TEST_F(Luna, AWarningMayBeDisabled) {
  write("w.fa", "C++ sub f() ${{ $}}\nsub main() { f() @ { no_such_advice; }; }\n");
  const std::string shown = luna({"w.fa"}).err;
  const std::size_t at = shown.find("[T");
  ASSERT_NE(at, std::string::npos) << shown;
  const std::string number = shown.substr(at + 2, 3);
  EXPECT_EQ(luna({"--disable-warning=" + number, "w.fa"}).err, "");
  EXPECT_EQ(luna({"--disable-warning", "T" + number, "w.fa"}).err, "");
  EXPECT_NE(luna({"--disable-warning=999", "w.fa"}).err, "");
}

TEST_F(Luna, TimeAndUsageArePrintedWhenAskedFor) {
  write("h.fa", kHello);
  const Outcome o = luna({"-q", "-t", "-u", "h.fa"});
  EXPECT_TRUE(ended(o, 0, {"Execution time: ", "CPU usage of rank 0: "}));
  EXPECT_EQ(o.out, "hello\n");
}

TEST_F(Luna, CompilesToALibraryThatRuns) {
  const Outcome o = luna({"-c", "-DK=2", "p.fa"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "") << "it ran";
  EXPECT_TRUE(fs::exists(path("libucodes.so")));
  EXPECT_EQ(luna({"libucodes.so", "5"}).out, "7\n");
  EXPECT_TRUE(ended(luna({"-c", "--output-file=my lib", "-DK=3", "p.fa"}), 0));
  EXPECT_EQ(luna({"my lib", "5"}).out, "8\n");
}

TEST_F(Luna, CompileOnlyPrintsACommandForMpirun) {
  write("a b/p.fa",
        "C++ sub f(int n) ${{ printf(\"%d\\n\", n); $}}\n"
        "sub main(int n) { for i = 0..3 { f(n + i) @ { locator_cyclic: i; }; } }\n");
  const Outcome o = luna({"--compile-only", "-b", "--worker-threads-count=1", "a b/p.fa", "3"});
  EXPECT_TRUE(ended(o, 0));
  const std::string command = o.out.substr(0, o.out.find('\n'));
  const std::string mpirun = "mpirun -q --allow-run-as-root --oversubscribe -n 2 ";
  const Outcome ranks = run({"sh", "-c", mpirun + command + " | sort"});
  EXPECT_EQ(ranks.out, "3\n4\n5\n6\n") << ranks.err;
  EXPECT_EQ(run({"sh", "-c", command + " | sort"}).out, "3\n4\n5\n6\n");
  EXPECT_EQ(
      run({"sh", "-c", "mpirun -q --allow-run-as-root -n 1 $('" LUNA_COMMAND "' --compile-only -D K=1 p.fa 3)"}).out,
      "4\n");
}

TEST_F(Luna, TheBuildFolderIsKeptWhenAskedFor) {
  EXPECT_TRUE(ended(luna({"--build-dir=b/d", "-D", "K=1", "p.fa", "1"}), 0));
  EXPECT_NE(read("b/d/program.cpp").find("tessera_program"), std::string::npos);
  EXPECT_EQ(luna({"b/d/libucodes.so", "1"}).out, "2\n");
  EXPECT_TRUE(ended(luna({"--no-cleanup", "-D", "K=1", "p.fa", "1"}), 0, {"libucodes.so"}));
  environment_ = {"LUNA_NO_CLEANUP=1"};
  EXPECT_TRUE(ended(luna({"-D", "K=1", "p.fa", "1"}), 0, {"libucodes.so"}));
  EXPECT_EQ(luna({"-q", "-D", "K=1", "p.fa", "1"}).err, "");
}

TEST_F(Luna, KernelFoldersAndSources) {
  write("one/a.cpp", "#include \"ucenv.h\"\nextern \"C\" void a(int) { printf(\"a\\n\"); }\n");
  write("two words/b.cpp", "#include \"ucenv.h\"\nextern \"C\" void b(int) { printf(\"b\\n\"); }\n");
  write("q.fa", "import a(int) as a;\nimport b(int) as b;\nsub main() { a(1); b(1); }\n");
  const Words sorted = {"sh", "-c", "\"$@\" | sort", "sh", LUNA_COMMAND};
  EXPECT_EQ(run(with(sorted, {"--cpp-dir=one:two words", "q.fa"})).out, "a\nb\n");
  EXPECT_EQ(run(with(sorted, {"--cpp-dir", "one", "--cpp-source=two words/b.cpp", "q.fa"})).out, "a\nb\n");
  EXPECT_EQ(run(with(sorted, {"--cpp-source=one/a.cpp", "--cpp-source=two words/b.cpp", "q.fa"})).out, "a\nb\n")
      << "and the files beside the program";
  EXPECT_TRUE(ended(luna({"--cpp-dir=one", "q.fa"}), 1, {"q.fa:2", "nothing defines the kernel `b`"}));
  EXPECT_TRUE(ended(luna({"--cpp-dir=none", "q.fa"}), 1, {"--cpp-dir", "none"}));
  EXPECT_TRUE(ended(luna({"--cpp-source=none.cpp", "q.fa"}), 1, {"--cpp-source", "none.cpp"}));
}

TEST_F(Luna, IncludesAreSearchedInThePath) {
  write("in c/k.fa", "#define K 5\n");
  write("r.fa", std::string("#include \"k.fa\"\n") + kProgram);
  EXPECT_EQ(luna({"--path=nowhere:in c", "r.fa", "1"}).out, "6\n");
  EXPECT_TRUE(ended(luna({"r.fa", "1"}), 1, {"k.fa"}));
}

TEST_F(Luna, CompilerFlags) {
  write("f.fa", "import f() as f;\nsub main() { f(); }\n");
  write("ucodes.cpp",
        "#include <cstdio>\n#ifndef LEVEL\n#define LEVEL 0\n#endif\nextern \"C\" void f() {\n"
        "#ifdef __OPTIMIZE__\n  printf(\"fast \");\n#endif\n#ifdef _GLIBCXX_ASSERTIONS\n  printf(\"checked \");\n"
        "#endif\n  printf(\"%d\\n\", LEVEL);\n}\n");
  EXPECT_EQ(luna({"f.fa"}).out, "fast 0\n");
  EXPECT_EQ(luna({"-O0", "f.fa"}).out, "0\n");
  EXPECT_EQ(luna({"-O0", "-O", "f.fa"}).out, "fast 0\n");
  EXPECT_EQ(luna({"-g", "-O0", "f.fa"}).out, "checked 0\n");
  environment_ = {"CXX_FLAGS=-DLEVEL=7", "LUNA_HOME=/nonexistent"};
  EXPECT_EQ(luna({"f.fa"}).out, "fast 7\n");
  environment_ = {"LDFLAGS=-lno_such_library"};
  EXPECT_TRUE(ended(luna({"f.fa"}), 1, {"no_such_library"}));
}

TEST_F(Luna, UnderMpirunOneRankCompiles) {
  write("compiler", "#!/bin/sh\necho x >> '" + path("calls").string() + "'\nsleep 0.3\nexec g++ \"$@\"\n");
  fs::permissions(path("compiler"), fs::perms::owner_all);
  environment_ = {"CXX='" + path("compiler").string() + "'"};
  write("m.fa",
        "C++ sub f(int i) ${{ printf(\"%d\\n\", i); $}}\n"
        "sub main() { for i = 0..3 { f(i) @ { locator_cyclic: i; }; } }\n// " +
            folder_.string() + "\n");
  for (const Words& balance : {Words{}, Words{"-b"}}) {
    const Outcome o = luna_on_ranks("3", with(balance, {"m.fa"}));
    EXPECT_TRUE(ended(o, 0));
    EXPECT_EQ(o.out.size(), 8u) << o.out;
  }
  EXPECT_EQ(read("calls").size() / 2, 3u) << "program, kernels, link: once";
}

TEST_F(Luna, UnderMpirunOneRankSaysWhatIsWrong) {
  write("bad.fa", "sub main() { prnt(1); }\n");
  const Outcome o = luna_on_ranks("3", {"bad.fa"});
  EXPECT_TRUE(ended(o, 1, {"bad.fa:1:14"}));
  EXPECT_EQ(o.err.find("bad.fa:1:14"), o.err.rfind("bad.fa:1:14")) << o.err;
}

TEST_F(Luna, AProgramThatCannotFinish) {
  write("stuck.fa",
        "C++ sub f(int n, name y) ${{ y = n; $}}\n"
        "sub main() { df k, x, y; f(3, k); f(1, x[k]); f(x[k * k], y); f(y, x[k + k]); }\n");
  const std::string text = "System is idle, but unfinished CFs";
  EXPECT_TRUE(ended(luna({"-q", "stuck.fa"}), 1, {text}));
  EXPECT_TRUE(ended(luna_on_ranks("2", {"-q", "stuck.fa"}), 1, {text}));
  write("never.fa", "C++ sub f(int n) ${{ $}}\nsub main() { df x; f(x); }\n");
  EXPECT_TRUE(ended(luna({"-q", "never.fa"}), 1, {"never.fa:2", "[T301]", text})) << "also when found early";
}

TEST_F(Luna, ItRunsInTheCallersFolder) {
  write("sub folder/p.fa", "C++ sub f() ${{ std::ofstream(\"made here\") << 1; $}}\nsub main() { f(); }\n");
  EXPECT_TRUE(ended(luna({"sub folder/p.fa"}), 0));
  EXPECT_EQ(read("made here"), "1");
}

TEST_F(Luna, TwoRunsAtOnceDoNotDisturbEachOther) {
  const std::string one = "'" LUNA_COMMAND "' -q --build-dir=b -D K=1 p.fa ";
  const Outcome o = run({"sh", "-c", "(" + one + "1 & " + one + "2 & " + one + "3 & wait) | sort"});
  EXPECT_EQ(o.out, "2\n3\n4\n") << o.err;
  EXPECT_EQ(o.err, "");
}

}  // namespace
}  // namespace tessera::tests
