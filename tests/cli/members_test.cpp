// Ranks that leave a live run and join it: by signal, by command, by plan.
#include <algorithm>

#include "command.hpp"

namespace tessera::tests {
namespace {

// Prints each number once; long enough for somebody to leave meanwhile.
constexpr const char* kLongRun =
    "C++ sub make(int i, name x) ${{ double *p = x.create<double>(2000); p[7] = i; usleep(20000); "
    "$}}\n"
    "C++ sub show(value x) ${{ printf(\"%d\\n\", (int)x.getData<double>()[7]); fflush(stdout); usleep(20000); $}}\n"
    "sub main() { df x; for i = 1..100 { make(i, x[i]) @ { locator_cyclic: i; }; show(x[i]); } }\n";

std::string numbers_to(int n) {
  std::vector<std::string> lines;
  for (int i = 1; i <= n; ++i) lines.push_back(std::to_string(i));
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& l : lines) text += l + "\n";
  return text;
}

class Members : public Command {
 protected:
  // Runs `tessera run words...` in the background; when numbers appear, `then`, a shell script in
  // which $pid is that process and rank N is found by `rank_pid N`; its stdout follows a line
  // "---".
  Outcome meanwhile(const std::string& then, const std::string& words) {
    write("p.fa", kLongRun);
    return run({"bash", "-c",
                // One process looks at all: on a busy machine two for each took longer than the run.
                "rank_pid() { for e in $(grep -lzx \"OMPI_COMM_WORLD_RANK=$1\" /proc/[0-9]*/environ); do\n"
                "    p=${e%/environ}; p=${p#/proc/}; q=$p\n"
                "    while [ \"$q\" -gt 1 ] && [ \"$q\" != $pid ]; do\n"
                "      q=$(sed -n 's/^PPid:\\t//p' /proc/$q/status); done\n"
                "    [ \"$q\" = $pid ] && echo $p && return; done 2> /dev/null; }\n"
                ": > out; " TESSERA_COMMAND " run p.fa -t 1 " +
                    words +
                    " > out & pid=$!\n"
                    "until grep -q . out || ! kill -0 $pid; do sleep 0.02; done\n"
                    "{ " +
                    then +
                    "\n} > said; echo $? > code\n"
                    "wait $pid; code=$?; cat out; exit $code"});
  }
};

TEST_F(Members, ASignalledRankLeavesAndTheOutputIsTheSame) {
  for (const char* balancer : {"none", "steal", "central"}) {
    const Outcome o = meanwhile("kill -USR1 $(rank_pid 1)", std::string("-n 3 --balancer ") + balancer);
    EXPECT_TRUE(ended(o, 0, {"rank 1 leaves", "rank 1 has left"})) << balancer;
    EXPECT_EQ(sorted(o.out), numbers_to(100)) << balancer << "\n" << o.err;
  }
}

TEST_F(Members, ADrainedRankIsReplacedByASpareAndMayComeBack) {
  const Outcome o =
      meanwhile(TESSERA_COMMAND " drain 0 --run $pid && " TESSERA_COMMAND " status --run $pid && " TESSERA_COMMAND
                                " join 0 --run $pid && kill -USR2 "
                                "$(rank_pid 0)",
                "-n 2 --spare 1 --balancer none");
  EXPECT_TRUE(ended(o, 0, {"rank 0 takes part already"}));
  EXPECT_EQ(sorted(o.out), numbers_to(100)) << o.err;
  EXPECT_EQ(read("said").rfind("rank 0 leaves, spare rank 2 joins\nrank 0 has left: ", 0), 0u) << read("said");
  EXPECT_NE(read("said").find("  has left\n"), std::string::npos) << read("said");
  EXPECT_NE(read("said").find("rank 0 joins\n"), std::string::npos) << read("said");
  EXPECT_EQ(read("code"), "0\n");
}

TEST_F(Members, StatusSaysWhoRests) {
  const Outcome o = meanwhile(TESSERA_COMMAND " status --run $pid; " TESSERA_COMMAND " status --json --run $pid",
                              "-n 2 --spare 1 --balancer none");
  EXPECT_TRUE(ended(o, 0));
  EXPECT_NE(read("said").find("  rests: a spare\n"), std::string::npos) << read("said");
  for (const char* part : {"\"part\": \"works\"", "\"part\": \"rests\""})
    EXPECT_NE(read("said").find(part), std::string::npos) << read("said");
}

TEST_F(Members, WhatCannotBeIsRefused) {
  const Outcome o =
      meanwhile("for r in 9 2 1 0; do " TESSERA_COMMAND " drain $r --run $pid 2>&1; echo $?; done; " TESSERA_COMMAND
                " join 0 --run $pid 2>&1; echo $?",
                "-n 3 --balancer central");
  EXPECT_TRUE(ended(o, 0));
  EXPECT_EQ(sorted(o.out), numbers_to(100)) << o.err;
  const std::string said = read("said");
  for (const char* part : {"there is no rank 9: this run has ranks 0 to 2\n2\n", "rank 2 coordinates (central)",
                           "rank 1 has left: ", "rank 0 is the last one that runs fragments: it can't leave\n2\n",
                           "rank 0 takes part already\n2\n"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
  }
}

// It used to wait for it, whichever run was meant.
TEST_F(Members, AStoppedRunIsNamedAndHoldsUpNobody) {
  write("stopped.fa", kLongRun);
  const Outcome o = run(
      {"bash", "-c",
       TESSERA_COMMAND " run stopped.fa -t 1 --inproc-ranks 2 --balancer none --quiet > first & a=$!\n" TESSERA_COMMAND
                       " run stopped.fa -t 1 --inproc-ranks 2 --balancer none --quiet > second & b=$!\n"
                       "until grep -q . first && grep -q . second || ! kill -0 $a $b; do sleep 0.02; done\n"
                       "kill -STOP $a\n" TESSERA_COMMAND " drain 1 --run $b; echo $?\n" TESSERA_COMMAND
                       " drain 1 --run $a 2>&1; echo $?\n" TESSERA_COMMAND " drain 1 2>&1; echo $?\n"
                       "kill -CONT $a; wait $a && wait $b"});
  EXPECT_TRUE(ended(o, 0));
  EXPECT_NE(o.out.find("rank 1 has left"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("does not answer: is it stopped?\n2\n"), std::string::npos) << o.out;
  EXPECT_EQ(sorted(read("first")), numbers_to(100));
  EXPECT_EQ(sorted(read("second")), numbers_to(100));
}

TEST_F(Members, WithoutARunThereIsNothingToDrain) {
  environment_ = {"XDG_RUNTIME_DIR=" + folder_.string()};
  EXPECT_TRUE(ended(tessera({"drain", "1"}), 2, {"no run is found"}));
  EXPECT_TRUE(ended(tessera({"drain"}), 2, {"rank"}));
  EXPECT_TRUE(ended(tessera({"join", "-1"}), 2, {"-1"}));
  write("p.fa", kHello);
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--spare", "1"}), 2, {"--spare 1", "-n N"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--leave", "1"}), 2, {"RANK@SECONDS"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--join", "x@1"}), 2, {"RANK@SECONDS"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--leave", "2@1"}), 2, {"--leave", "no rank 2", "0 to 1"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--spare", "1", "--join", "3@1"}), 2,
                    {"--join", "no rank 3", "0 to 2"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "--leave", "1@1"}), 2, {"no rank 1", "rank 0 only"}));
  EXPECT_TRUE(ended(tessera({"run", "p.fa", "-n", "2", "--leave", "1@1e9"}), 0));
}

TEST_F(Members, ASpareRunsNothingUnlessAsked) {
  write("p.fa", kHello);
  const Outcome o = tessera({"run", "p.fa", "-n", "2", "--spare", "1", "--balancer", "steal"});
  EXPECT_TRUE(ended(o, 0, {"3 ranks", "; spare"}));
  EXPECT_EQ(o.out, "hello\n");
}

// Nobody asks for what is made on his own rank; but what is placed there while it is leaving is made elsewhere.
TEST_F(Members, WhoIsToLeaveAndStaysAsksForWhatIsMadeElsewhereMeanwhile) {
  write("p.fa",
        "C++ sub rest() ${{ usleep(1500000); $}}\n"
        "C++ sub late(name x) ${{ usleep(600000); x = 1; $}}\n"
        "C++ sub make(int i, name x) ${{ x = i; $}}\n"
        "C++ sub show(int v) ${{ printf(\"%d\\n\", v); $}}\n"
        "sub main() {\n"
        "  df x, a;\n"
        "  rest() @ { locator_cyclic: 1; };\n"
        "  late(a) @ { locator_cyclic: 0; };\n"
        "  for i = 1..4 show(x[i]) @ { locator_cyclic: i; };\n"
        "  if a for i = 1..4 make(i, x[i]) @ { locator_cyclic: i; };\n"
        "}\n");
  const Outcome o =
      tessera({"run", "p.fa", "-n", "2", "-t", "1", "--balancer", "none", "--leave", "1@0.4", "--join", "1@1"});
  EXPECT_TRUE(ended(o, 0, {"rank 1 was asked to join again before it had left"}));
  EXPECT_EQ(sorted(o.out), numbers_to(4));
}

// It ended the run, for the library was ready for signals only when MPI had started. The components of MPI appear in
// the middle of that.
TEST_F(Members, ASignalWhileRanksStartWaits) {
  write("p.fa", kLongRun);
  write("start.sh",
        "[ $OMPI_COMM_WORLD_RANK != 1 ] || (until grep -q /mca_ /proc/$$/maps; do :; done; kill -USR1 $$) &\n"
        "exec ./p\n");
  EXPECT_TRUE(ended(tessera({"build", "p.fa", "-o", "p"}), 0));
  const Outcome o = run({"mpirun", "--allow-run-as-root", "--oversubscribe", "-q", "-n", "2", "sh", "./start.sh"});
  EXPECT_TRUE(ended(o, 0, {"rank 1 leaves"}));
  EXPECT_EQ(sorted(o.out), numbers_to(100)) << o.err;
}

}  // namespace
}  // namespace tessera::tests
