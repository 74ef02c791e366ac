// How runs end that fail, are killed or told to stop.
#include <algorithm>
#include <cstdlib>

#include "command.hpp"

namespace tessera::tests {
namespace {

constexpr const char* kSleep =
    "C++ sub nap(int i) ${{ printf(\"napping\\n\"); fflush(stdout); sleep(60); $}}\n"
    "sub main() { for i = 1..8 { nap(i) @ { locator_cyclic: i; }; } }\n";

TEST_F(Command, AFailureOnARankIsTheExitCode) {
  write("p.fa", "C++ sub f() ${{ throw std::runtime_error(\"oh dear\"); $}}\nsub main() { f(); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa"}), 1, {"oh dear", "p.fa:2"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2"}), 1, {"oh dear", "p.fa:2"}));
}

TEST_F(Command, NothingEndsWithoutAWord) {
  write("p.fa",
        "C++ sub die() ${{ std::fputs(\"busy\\n\", stderr); ::kill(::getpid(), SIGKILL); $}}\nsub main() { die(); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--cxxflags=-include signal.h -include unistd.h"}), 137,
                    {"rank 0 on ", " was killed"}));
  write("bin/mpirun", "#!/bin/sh\nexit 5\n");
  std::filesystem::permissions(path("bin/mpirun"), std::filesystem::perms::owner_all);
  write("p.fa", kHello);
  environment_ = {"PATH=" + path("bin").string() + ":" + std::getenv("PATH")};
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2"}), 5, {"mpirun ended with exit code 5", "hostname"}));
}

TEST_F(Command, AChildOfAKernelMayExit) {
  write("p.fa",
        "C++ sub spawn() ${{\n"
        "  const pid_t child = fork();\n"
        "  if (child == 0) exit(0);\n"
        "  int status = 1;\n"
        "  waitpid(child, &status, 0);\n"
        "  printf(\"%d\", status);\n"
        "$}}\n"
        "sub main() { spawn(); }\n");
  const Outcome o = tessera({"run", "p.fa", "-q", "--cxxflags=-include unistd.h -include sys/wait.h"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "0");
  EXPECT_EQ(o.err, "");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(Command, AChildThatCrashesByItselfIsTold) {
  write("p.fa",
        "C++ head ${{\n#include <signal.h>\n#include <sys/wait.h>\n#include <unistd.h>\n$}}\n"
        "C++ sub spawn(name x) ${{\n"
        "  if (fork() == 0) raise(SIGSEGV);\n"
        "  int status = 0;\n"
        "  wait(&status);\n"
        "  x = WTERMSIG(status) == SIGSEGV;\n"
        "$}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\", v); $}}\n"
        "sub main() { df x; spawn(x) @ { locator_cyclic: 1; }; show(x); }\n");
  for (const Words& ranks : {Words{"-t", "1"}, Words{"-n", "2"}}) {
    Words words = {"run", "-q", "p.fa"};
    words.insert(words.end(), ranks.begin(), ranks.end());
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(
        o, 0,
        {"p.fa:13: warning: segmentation fault", "in a child that the kernel has forked [T410]\n  in `spawn(x)`"}));
    EXPECT_EQ(o.out, "1");
  }
}
#endif

// What is left for the end of the process comes after the run, and may keep nobody.
TEST_F(Command, AnExitHandlerThatDoesNotReturnEndsNoRun) {
  write("p.fa",
        "C++ sub bad(int v, name x) ${{ std::atexit([] { for (;;) pause(); }); x = v; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\", v); $}}\n"
        "sub main() { df x; bad(3, x) @ { locator_cyclic: 1; }; show(x); }\n");
  const Outcome o = tessera({"run", "p.fa", "-q"});
  EXPECT_TRUE(ended(o, 1, {"atexit()", "has not returned for 5 s [T414]"}));
  EXPECT_EQ(o.out, "3");
  EXPECT_TRUE(ended(tessera({"build", "p.fa", "-o", "p"}), 0));
  EXPECT_TRUE(ended(run({"mpirun", "-q", "-n", "2", "--oversubscribe", "--allow-run-as-root", "./p"}), 1,
                    {"has not returned for 5 s [T414]"}));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(Command, ACrashAtTheEndOfTheProcessIsTheKernels) {
  const auto program = [](const std::string& with) {
    return "C++ head ${{\nstruct Global { " + with +
           " { raise(SIGSEGV); } } global;\n$}}\n"
           "C++ sub show(int v) ${{ printf(\"%d\", v); $}}\nsub main() { show(3); }\n";
  };
  write("p.fa", program("Global()"));
  EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa", "--cxxflags=-include signal.h"}), 1,
                    {"a crash in the constructor or destructor of a global object", "[T410]"}));
  write("p.fa", program("~Global()"));
  for (const Words& ranks : {Words{"-t", "1"}, Words{"-n", "2"}}) {
    Words words = {"run", "-q", "p.fa", "--cxxflags=-include signal.h"};
    words.insert(words.end(), ranks.begin(), ranks.end());
    const Outcome o = tessera(words);
    EXPECT_TRUE(ended(o, 1, {"segmentation fault", "the destructor of a global object", "[T410]"}));
    EXPECT_EQ(o.out, "3");
  }
}
#endif

// All that it finds: among them what MPI has opened, and what the run itself has.
TEST_F(Command, AKernelMayCloseOnlyWhatItHasOpened) {
  const auto program = [](const std::string& what) {
    return "C++ head ${{\n#include <fcntl.h>\n#include <unistd.h>\n$}}\n"
           "C++ sub f(int v, name x) ${{ " +
           what +
           "; x = v; $}}\n"
           "C++ sub show(int v) ${{ printf(\"%d\", v); $}}\n"
           "sub main() { df x; f(3, x) @ { locator_cyclic: 1; }; show(x); }\n";
  };
  for (const char* what : {"for (int i = 0; i < 64; ++i) close(i)", "closefrom(3)", "close_range(3, ~0u, 0)",
                           "for (int i = 3; i < 64; ++i) dup2(1, i)"}) {
    write("p.fa", program(what));
    for (const Words& ranks : {Words{"-t", "1"}, Words{"-n", "2"}, Words{"-t", "1", "--journal", "J"}}) {
      Words words = {"run", "p.fa", "-q"};
      words.insert(words.end(), ranks.begin(), ranks.end());
      EXPECT_TRUE(ended(tessera(words), 1, {"p.fa:7: error: the kernel closes file descriptor ", "[T414]"})) << what;
    }
  }
  write("p.fa", program("std::thread([] { closefrom(3); }).join()"));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-q", "-t", "1"}), 1,
                    {"error: a thread that a kernel has started closes file descriptor ", "[T414]"}));
  write("p.fa", program("close(open(\"/dev/null\", O_RDONLY)); if (fork() == 0) { closefrom(3); _exit(0); }"));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-q", "-n", "2"}), 0));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-q"}), 0));
}

// Behind the end of what malloc() gave; found where malloc() is called next, with the allocator's lock held.
TEST_F(Command, AHeapThatAKernelHasDamagedHangsNothing) {
  write("p.fa",
        "C++ head ${{\n#include <string.h>\n$}}\n"
        "C++ sub damage(name x) ${{ char* volatile p = (char*)malloc(10); memset(p, 7, 190); x = p[3]; $}}\n"
        "C++ sub ask(int v, name y) ${{ void* volatile p; for (int i = 0; i < 1000; ++i) p = malloc(i * 40); y = v + "
        "(p == nullptr); $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\", v); $}}\n"
        "sub main() { df x, y; damage(x); ask(x, y); show(y); }\n");
  for (const Words& ranks : {Words{}, Words{"-n", "2"}}) {
    Words words = {"run", "-q", "p.fa", "-t", "1"};  // each thread has a heap of its own: one must damage and ask
    words.insert(words.end(), ranks.begin(), ranks.end());
    EXPECT_TRUE(ended(tessera(words), 1, {"[T410]"}));
  }
}

// Whose parent has ended; and it has the run's stdout open. (Command looks for what outlives the run.)
TEST_F(Command, TheChildOfAChildEndsWithTheRun) {
  write("p.fa",
        "C++ sub spawn(name x) ${{ x = system(\"sleep 300 &\"); $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\", v); $}}\n"
        "C++ sub fail(int v) ${{ throw std::runtime_error(\"oh dear\"); $}}\n"
        "sub main(int fails) { df x; spawn(x) @ { locator_cyclic: 1; }; if fails == 0 show(x); if fails > 0 fail(x); "
        "}\n");
  for (const Words& ranks : {Words{"-t", "2"}, Words{"-n", "2"}}) {
    for (const char* fails : {"0", "1"}) {
      Words words = {"run", "-q", "p.fa"};
      words.insert(words.end(), ranks.begin(), ranks.end());
      words.insert(words.end(), {"--", fails});
      EXPECT_TRUE(ended(tessera(words), *fails - '0')) << fails;
    }
  }
}

// The one waits for its child; the run fails meanwhile.
TEST_F(Command, AChildThatIsWaitedForEndsWithAFailedRun) {
  write("p.fa",
        "C++ head ${{\n#include <unistd.h>\n$}}\n"
        "C++ sub spawn(name x) ${{ x = system(\"sleep 300\"); $}}\n"
        "C++ sub fail(int v) ${{ usleep(300000); throw std::runtime_error(\"oh dear\"); $}}\n"
        "sub main() { df x; spawn(x) @ { locator_cyclic: 1; drop x; }; fail(3) @ { locator_cyclic: 0; }; }\n");
  EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa", "-t", "2"}), 1, {"oh dear"}));
  EXPECT_TRUE(ended(tessera({"run", "-q", "p.fa", "-n", "2"}), 1, {"oh dear"}));
}

// A script that starts something and becomes this program: that is not the run's.
TEST_F(Command, WhatRanBeforeGoesOn) {
  write("p.fa", kHello);
  const Outcome o = run({"sh", "-c", "(sleep 2; echo there) > said & exec \"$0\" run -q p.fa", TESSERA_COMMAND});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(read("said"), "there\n");
}

TEST_F(Command, AKernelBecomesNoOtherProgram) {
  for (const char* what : {"execlp(\"true\", \"true\", nullptr)", "execl(\"/bin/true\", \"true\", (char*)nullptr)",
                           "char* words[] = {nullptr}; execvp(\"true\", words)"}) {
    write("p.fa", std::string("C++ head ${{\n#include <unistd.h>\n$}}\nC++ sub f(int v, name x) ${{ x = v; ") + what +
                      "; $}}\n"
                      "C++ sub show(int v) ${{ printf(\"%d\", v); $}}\nsub main() { df x; f(3, x) @ { locator_cyclic: "
                      "1; }; show(x); }\n");
    for (const Words& ranks : {Words{"-t", "1"}, Words{"-n", "2"}}) {
      Words words = {"run", "-q", "p.fa"};
      words.insert(words.end(), ranks.begin(), ranks.end());
      EXPECT_TRUE(ended(tessera(words), 1, {"p.fa:6: error: the kernel ended the process: exec", "[T414]"})) << what;
    }
  }
  // A child may.
  write("p.fa",
        "C++ head ${{\n#include <sys/wait.h>\n#include <unistd.h>\n$}}\n"
        "C++ sub f() ${{ if (fork() == 0) execlp(\"echo\", \"echo\", \"child\", nullptr); wait(nullptr); $}}\nsub "
        "main() { f(); }\n");
  const Outcome o = tessera({"run", "-q", "p.fa"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(o.out, "child\n");
}

TEST_F(Command, AClosedStdoutIsNoPlaceForResults) {
  write("p.fa", kHello);
  for (const char* ranks : {"-t 1", "-n 2"}) {
    EXPECT_TRUE(ended(run({"sh", "-c", std::string(TESSERA_COMMAND) + " run -q p.fa " + ranks + " >&-"}), 3,
                      {"can't write to stdout"}))
        << ranks;
  }
}

TEST_F(Command, WhoStartsItMayIgnoreChildren) {
  write("p.fa", "C++ sub f() ${{ throw std::runtime_error(\"oh dear\"); $}}\nsub main() { f(); }\n");
  EXPECT_TRUE(
      ended(run({"sh", "-c", "trap '' CHLD; exec \"$@\"", "sh", TESSERA_COMMAND, "run", "p.fa", "-q", "-n", "2"}), 1,
            {"oh dear"}));
}

// Nobody reads what the kernel writes to stderr; the run ends when it is told to.
TEST_F(Command, AStderrThatNobodyReadsKeepsFromNoSignal) {
  write("p.fa",
        "C++ sub flood() ${{\n"
        "  fclose(fopen(\"floods\", \"w\"));\n"
        "  for (;;) std::fprintf(stderr, \"and on and on and on and on and on and on\\n\");\n"
        "$}}\n"
        "sub main() { flood(); }\n");
  const Outcome o = run({"sh", "-c",
                         "mkfifo pipe; exec 3<>pipe\n"
                         "\"$@\" 2>pipe 3>&- & pid=$!\n"
                         "until test -f floods || ! kill -0 $pid; do sleep 0.05; done; sleep 1\n"
                         "kill -TERM $pid; wait $pid",
                         "sh", TESSERA_COMMAND, "run", "p.fa", "-q", "-n", "2"});
  EXPECT_EQ(o.exit_code, 130);
}

// Open MPI may take a rank for lost that has ended well.
TEST_F(Command, ARunThatEndedWellIsNoFailureOfMpirun) {
  write("bin/mpirun", std::string("#!/bin/sh\nPATH='") + std::getenv("PATH") + "'\nmpirun \"$@\"\nexit 1\n");
  std::filesystem::permissions(path("bin/mpirun"), std::filesystem::perms::owner_all);
  environment_ = {"PATH=" + path("bin").string() + ":" + std::getenv("PATH")};
  write("p.fa", kHello);
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-q", "-n", "2"}), 0));
  write("p.fa", "C++ sub f() ${{ throw std::runtime_error(\"oh dear\"); $}}\nsub main() { f(); }\n");
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-q", "-n", "2"}), 1, {"oh dear"}));
}

TEST_F(Command, WhoReadsNoMoreEndsTheRun) {
  write("p.fa",
        "C++ sub show(int i) ${{ printf(\"%d\\n\", i); usleep(1000); $}}\nsub main() { for i = 1..2000 show(i) @ { "
        "locator_cyclic: i; }; }\n");
  for (const char* ranks : {"", "-n 3"}) {
    const Outcome o = run({"sh", "-c", std::string("{ \"$0\" run -q p.fa ") + ranks + "; echo $? > code; } | head -n 1",
                           TESSERA_COMMAND});
    EXPECT_EQ(read("code"), "141\n") << ranks;
    EXPECT_EQ(o.err, "") << ranks;
    EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 1);
  }
}

TEST_F(Command, ASignalToMpirunIsNoFaultOfARank) {
  write("p.fa",
        "C++ sub nap(int i) ${{ printf(\"napping %d\\n\", i); fflush(stdout); sleep(60); $}}\n"
        "sub main() { for i = 0..2 nap(i) @ { locator_cyclic: i; }; }\n");
  for (const char* signal : {"INT", "TERM", "HUP"}) {
    const Outcome o = run({"sh", "-c",
                           "signal=$1; shift; : > printed; env --default-signal=INT \"$@\" > printed & pid=$!\n"
                           "until [ $(grep -c napping printed) = 3 ] || ! kill -0 $pid; do sleep 0.05; done\n"
                           "kill -s $signal $(cat /proc/$pid/task/$pid/children); wait $pid",
                           "sh", signal, TESSERA_COMMAND, "run", "-q", "p.fa", "-n", "3", "--balancer", "none"});
    EXPECT_TRUE(ended(o, 130, {"mpirun was ended by a signal"})) << signal;
  }
}

TEST_F(Command, SignalsEndEveryRank) {
  write("p.fa", kSleep);
  EXPECT_EQ(tessera_signalled("INT", "napping", {"run", "p.fa"}).exit_code, 130);
  for (const char* signal : {"INT", "TERM", "HUP"}) {
    const Outcome o = tessera_signalled(signal, "napping", {"run", "p.fa", "-n", "3", "--balancer", "none"});
    EXPECT_EQ(o.exit_code, 130) << signal << "\n" << o.err;
  }
  // Nothing can be done on SIGKILL, and still nothing stays behind (the fixture looks).
  tessera_signalled("KILL", "napping", {"run", "p.fa", "-n", "3", "--balancer", "none"});
  // Nor while mpirun is stopped.
  run({"sh", "-c",
       ": > printed; \"$@\" > printed & pid=$!\n"
       "until grep -q napping printed || ! kill -0 $pid; do sleep 0.05; done\n"
       "for child in $(cat /proc/$pid/task/$pid/children); do [ $(cat /proc/$child/comm) != mpirun ] || kill -STOP "
       "$child; done\n"
       "kill -KILL $pid; wait $pid",
       "sh", TESSERA_COMMAND, "run", "-q", "p.fa", "-n", "3", "--balancer", "none"});
  // Nor where mpirun does not see the signal that it gets for this, as now and then while it starts.
  write("bin/mpirun", "#!/bin/sh\ntrap '' TERM\necho $$ > deaf\nexec sleep 60\n");
  const Outcome o = run({"sh", "-c",
                         "chmod +x bin/mpirun; PATH=$PWD/bin:$PATH \"$@\" & pid=$!\n"
                         "until [ -s deaf ] || ! kill -0 $pid; do sleep 0.05; done\n"
                         "kill -KILL $pid; deaf=$(cat deaf)\n"
                         "for n in $(seq 300); do kill -0 $deaf || break; sleep 0.1; done\n"
                         "kill -KILL $deaf || echo has followed",
                         "sh", TESSERA_COMMAND, "run", "-q", "p.fa", "-n", "3"});
  EXPECT_EQ(o.out, "has followed\n") << o.err;
}

}  // namespace
}  // namespace tessera::tests
