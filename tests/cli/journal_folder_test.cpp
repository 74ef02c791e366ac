// Journals that are refused, shown, or can not be written.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "journal_command.hpp"

namespace tessera::tests {
namespace {

namespace fs = std::filesystem;

TEST_F(Journal, OfAnotherProgramOrOtherArgumentsIsRefused) {
  deadly();
  EXPECT_NE(journalled({}).exit_code, 0);
  EXPECT_TRUE(ended(journalled({}, "4"), 2, {"is the journal of a run with `3`, not with `4`"}));
  EXPECT_TRUE(ended(journalled({"-n", "2"}, "4"), 2, {"is the journal of a run with `3`, not with `4`"}));
  // Nothing is lost where it has come to its end.
  EXPECT_TRUE(ended(journalled({}), 0, {"goes on from the journal"}));
  write("p.fa", kEcho);
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--journal", "J", "--", "1", "b"}), 2, {"another program"}));
  write("p.fa", kRows);
  EXPECT_TRUE(ended(journalled({}, "4"), 0, {"begins anew"}));
}

// Values of kernels that were mended would stand beside new ones.
TEST_F(Journal, OfOtherKernelsIsRefused) {
  const std::string kernels =
      "#include <unistd.h>\n#include <cstdio>\n#include <cstdlib>\n#include \"step.h\"\n#include \"ucenv.h\"\n"
      "#ifndef SHIFT\n#define SHIFT 0\n#endif\n"
      "extern \"C\" void start(OutputDF& x) { x = 0; }\n"
      "extern \"C\" void step(int i, int before, OutputDF& x) {\n"
      "  if (i == 40 && access(\"die\", F_OK) == 0) {\n"
      "    for (int n = 0; n < 5000 && system(\"test $(cat J/*.tsj | wc -c) -gt 500\") != 0; ++n) usleep(2000);\n"
      "    unlink(\"die\");\n    kill(getpid(), SIGKILL);\n  }\n"
      "  x = before + STEP + SHIFT;\n}\n";
  write("k/steps.cpp", "#include <csignal>\n" + kernels);
  write("k/step.h", "#define STEP 2\n");
  write("k/p.fa",
        "import start(name) as start;\nimport step(int, int, name) as step;\n"
        "C++ sub show(int v) ${{ printf(\"sum %d\\n\", v); $}}\n"
        "sub main() { df x; start(x[0]); for i = 1..60 step(i, x[i - 1], x[i]); show(x[60]); }\n");
  const std::string options = "-t 1 --journal J --journal-interval 0.005";
  const auto tessera_run = [&](const char* more = "") {
    return run({"sh", "-c", std::string(more) + " exec " TESSERA_COMMAND " run k/p.fa " + options});
  };
  const Words changed = {"the kernels of k/p.fa have changed since", "Remove the folder"};
  deadly();
  EXPECT_NE(tessera_run().exit_code, 0);
  EXPECT_FALSE(fs::exists(path("die")));
  const auto journal = [&] { return run({"sh", "-c", "cat J/*.tsj | md5sum; ls J"}).out; };
  const std::string before = journal();
  // A header, the file itself, an option.
  write("k/step.h", "#define STEP 3\n");
  EXPECT_TRUE(ended(tessera_run(), 2, changed));
  EXPECT_TRUE(ended(run({"sh", "-c", TESSERA_COMMAND " build k/p.fa -o p && TESSERA_OPTIONS='" + options + "' ./p"}), 2,
                    changed));
  EXPECT_TRUE(ended(run({"sh", "-c", "TESSERA_OPTIONS='" + options + "' exec " LUNA_COMMAND " k/p.fa"}), 1, changed));
  write("k/step.h", "#define STEP 2\n");
  write("k/steps.cpp", "#include <csignal>\n" + kernels + "extern \"C\" int other() { return STEP; }\n");
  EXPECT_TRUE(ended(tessera_run(), 2, changed));
  write("k/steps.cpp", "#include <csignal>\n" + kernels);
  EXPECT_TRUE(ended(tessera_run("CXXFLAGS=-DSHIFT=1"), 2, changed));
  EXPECT_EQ(journal(), before);
  // What a person reads is no kernel. Whichever command made the program, it is the same.
  write("k/steps.cpp", "// Steps of STEP.\n\n#include <csignal>\n" + kernels);
  EXPECT_TRUE(ended(run({"sh", "-c",
                         "cp -r J K; " TESSERA_COMMAND " build k/p.fa -o p && "
                         "TESSERA_OPTIONS='-t 1 --journal K' ./p"}),
                    0, {"goes on from the journal"}));
  EXPECT_TRUE(
      ended(run({"sh", "-c",
                 "rm -rf K; cp -r J K; cd k; TESSERA_OPTIONS='--journal ../K' exec " LUNA_COMMAND " --verbose p.fa"}),
            0, {"goes on from the journal"}));
  const Outcome rest = tessera_run();
  EXPECT_TRUE(ended(rest, 0, {"goes on from the journal"}));
  EXPECT_EQ(rest.out, "sum 120\n");
  // It has come to its end: the next one begins anew, with whatever kernels.
  write("k/step.h", "#define STEP 3\n");
  const Outcome anew = tessera_run();
  EXPECT_TRUE(ended(anew, 0, {"begins anew"}));
  EXPECT_EQ(anew.out, "sum 180\n");
}

TEST_F(Journal, IsShownAndCompacted) {
  const Outcome all = tessera({"run", "-q", "p.fa", "--", "3"});
  deadly();
  const Outcome killed = journalled({"-n", "2", "--restarts", "0"});
  EXPECT_NE(killed.exit_code, 0);
  const Outcome shown = tessera({"journal", "J", "--verify"});
  EXPECT_TRUE(ended(shown, 0));
  for (const char* part : {"the journal of p.fa -- 3", "1, the last one on 2 ranks", "fragments", "values", "files"})
    EXPECT_NE(shown.out.find(part), std::string::npos) << shown.out;
  const Outcome compacted = tessera({"journal", "J", "--compact"});
  EXPECT_TRUE(ended(compacted, 0));
  EXPECT_NE(compacted.out.find("have become"), std::string::npos);
  const auto fragments = [](const std::string& text) {
    const std::size_t at = text.find("fragments");
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(fragments(tessera({"journal", "J"}).out), fragments(shown.out));
  const Outcome rest = journalled({"-t", "1"});
  EXPECT_TRUE(ended(rest, 0, {"goes on from the journal"}));
  EXPECT_EQ(lines(killed.out + rest.out), lines(all.out));

  const Outcome verified =
      run({"sh", "-c", "for f in J/*.tsj; do echo xxxxxxxx >> $f; done; exec " TESSERA_COMMAND " journal J --verify"});
  EXPECT_TRUE(ended(verified, 2));
  EXPECT_NE(verified.out.find("bytes can't be read"), std::string::npos) << verified.out;
  // What is named like a file and is none is named, and opened by nobody.
  const Outcome odd = run({"sh", "-c",
                           "cp -r J K; mkdir K/00009-00000-00000.tsj; mkfifo K/00010-00000-00000.tsj; "
                           "timeout 20 " TESSERA_COMMAND " journal K --verify"});
  EXPECT_TRUE(ended(odd, 2));
  for (const char* part : {"K/00009-00000-00000.tsj: is no file", "K/00010-00000-00000.tsj: is no file", "fragments"})
    EXPECT_NE(odd.out.find(part), std::string::npos) << odd.out;
  const Outcome beside =
      run({"sh", "-c", "rm K/finished; exec timeout 60 " TESSERA_COMMAND " run p.fa -t 1 --journal K -- 3"});
  EXPECT_TRUE(ended(beside, 0, {"K/00010-00000-00000.tsj is no file", "goes on from the journal"}));
  EXPECT_TRUE(ended(tessera({"journal", "nosuch"}), 2, {"no such folder"}));
  EXPECT_TRUE(ended(tessera({"journal", "."}), 2, {"there is no journal"}));
  // Over before there was a sweep.
  write("short.fa", kHello);
  EXPECT_TRUE(ended(tessera({"run", "-q", "short.fa", "--journal", "S", "--journal-interval", "100"}), 0));
  const Outcome over = tessera({"journal", "S"});
  EXPECT_TRUE(ended(over, 0));
  EXPECT_NE(over.out.find("came to its end"), std::string::npos) << over.out;
}

TEST_F(Journal, OfWhichNothingCanBeReadItIsSaid) {
  const Outcome all = tessera({"run", "-q", "p.fa", "--", "3"});
  deadly();
  EXPECT_NE(journalled({"-n", "2", "--restarts", "0"}).exit_code, 0);
  EXPECT_EQ(run({"sh", "-c", "for f in J/*.tsj; do head -c 5000 /dev/zero | tr '\\0' x > $f; done"}).exit_code, 0);
  const Outcome anew = journalled({"-t", "1"});
  EXPECT_TRUE(ended(anew, 0, {"warning: nothing in the journal", "can be read", "this run begins anew"}));
  EXPECT_EQ(sorted(anew.out), sorted(all.out));
}

TEST_F(Journal, WhereItCantBeWrittenTheRunGoesOn) {
  EXPECT_TRUE(
      ended(tessera({"run", "p.fa", "--journal", "/proc/J", "--", "3"}), 2, {"--journal: can't make the folder"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--journal-interval", "x", "--", "3"}), 2, {"write auto, or seconds"}));
  write("slow.fa",
        "C++ sub f(int i, name x) ${{ usleep(3000); x = i; $}}\n"
        "sub main() { df x; for i = 1..100 f(i, x[i]); }\n");
  EXPECT_TRUE(ended(tessera({"build", "slow.fa", "-o", "p"}), 0));
  const Outcome o =
      run({"sh", "-c", "trap '' XFSZ; ulimit -f 2; TESSERA_OPTIONS='-t 1 --journal J --journal-interval 0.005' ./p"});
  EXPECT_TRUE(ended(o, 0, {"warning: the journal can't be written", "File too large", "the run goes on"}));
}

// Each rank has a folder of its own where the other sees none: nothing runs.
TEST_F(Journal, AFolderThatRanksDoNotShareIsRefused) {
  EXPECT_TRUE(ended(tessera({"build", "p.fa", "-o", "p"}), 0));
  const Outcome o = run({"sh", "-c",
                         "mkdir 0 1; export TESSERA_OPTIONS='--journal /proc/self/cwd/J'; mpirun --allow-run-as-root "
                         "--oversubscribe -n 2 sh -c 'cd $OMPI_COMM_WORLD_RANK; exec ../p 3'"});
  EXPECT_TRUE(ended(o, 3, {"rank 1: --journal: /proc/self/cwd/J is not the folder that rank 0 sees there"}));
  EXPECT_EQ(o.out, "");
  EXPECT_FALSE(fs::exists(path("0/ran")));
}

}  // namespace
}  // namespace tessera::tests
