// What mpirun says, as Open MPI 4.1 words it.
#include "cli/mpirun_notes.hpp"

#include <gtest/gtest.h>

namespace tessera::cli {
namespace {

const std::string kFrame(74, '-');

std::string note(const std::string& text) { return kFrame + "\n" + text + kFrame + "\n"; }

const std::string kKilled =
    note(
        "Primary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the job "
        "has been aborted.\n") +
    note("mpirun noticed that process rank 2 with PID 141 on node h3 exited on signal 9 (Killed).\n");
const std::string kAbsent =
    note(
        "mpirun was unable to launch the specified application as it could not access\nor execute an executable:\n\n"
        "Executable: /opt/tessera/bin/tessera\nNode: h2\n\nwhile attempting to start process rank 1.\n") +
    "2 total processes failed to start\n";
const std::string kLost = note(
    "ORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[34974,0],0] on node h1\n  Remote daemon: "
    "[[34974,0],2] on node h3\n\n"
    "This is usually due to either a failure of the TCP network\nconnection to the node, or possibly an internal "
    "failure of\n");

struct Said {
  std::string shown;
  MpirunNotes::Meaning meaning;
};

// In pieces of `size`.
Said said(const std::string& text, int exit_code, std::size_t size, bool signalled = false, bool begun = true) {
  MpirunNotes notes;
  Said s;
  for (std::size_t at = 0; at < text.size(); at += size) s.shown += notes.pass(std::string_view(text).substr(at, size));
  s.shown += notes.rest();
  s.meaning = notes.meaning({exit_code, signalled, !s.shown.empty(), begun});
  return s;
}

class Pieces : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, Pieces, testing::Values(1, 7, 75, 4096));

TEST_P(Pieces, NotesAreKeptAndTheRestIsShown) {
  const Said s = said("one\n" + kKilled + "two\n" + kAbsent + "three", 137, GetParam());
  EXPECT_EQ(s.shown, "one\ntwo\nthree");
}

TEST_P(Pieces, LinesOfDashesOfOthersAreShown) {
  const std::string text = "a table\n" + note("of a program\n") + "more\n";
  EXPECT_EQ(said(text, 0, GetParam()).shown, text);
  EXPECT_EQ(said(text + kKilled, 137, GetParam()).shown, text) << "and what follows is known";
  EXPECT_EQ(said(note("WARNING: of MPI\n") + kKilled, 137, GetParam()).shown, note("WARNING: of MPI\n"));
  const std::string open = kFrame + "\nmpirun noticed that nothing follows\n";
  EXPECT_EQ(said(open, 0, GetParam()).shown, open);
}

TEST_P(Pieces, SignalsThatArePassedOnAreNoNews) {
  const Said s = said("one\nmpirun: Forwarding signal 18 to job\nmpirun: Forwarding\nm", 130, GetParam());
  EXPECT_EQ(s.shown, "one\nmpirun: Forwarding\nm");
  EXPECT_EQ(s.meaning.text, "");
}

// Of a rank that has said why it aborts; no signal has ended mpirun.
TEST_P(Pieces, ATornNoteIsANote) {
  const Said s = said(
      "p.fa:6: error: oh dear\n[vm:23456] [[14174,0],0] ORTE_ERROR_LOG: Data unpack would read past end of buffer in "
      "file ../../../orte/util/show_help.c at line 513\n",
      1, GetParam());
  EXPECT_EQ(s.shown, "p.fa:6: error: oh dear\n");
  EXPECT_EQ(s.meaning.exit_code, 1);
  EXPECT_EQ(s.meaning.text, "");
}

// Beside a signal they come now and then.
TEST_P(Pieces, WhatItsPartsSayOfEachOtherIsForWhoHearsNothingElse) {
  const std::string parts =
      "[vm:4711] PMIX ERROR: UNREACHABLE in file ../../../src/server/pmix_server.c at line 2193\n"
      "[vm:4711] OPAL ERROR: Unreachable in file ext3x_client.c at line 112\n";
  const Said s = said("one\n" + parts + "two\n", 130, GetParam());
  EXPECT_EQ(s.shown, "one\ntwo\n");
  EXPECT_EQ(s.meaning.text, "");
  EXPECT_NE(said(parts, 9, GetParam(), false, false).meaning.text.find(parts.substr(0, parts.size() - 1)),
            std::string::npos);
  const std::string of_a_rank = "[vm:4711] PMIX ERROR: says a kernel\n";
  EXPECT_EQ(said(of_a_rank, 0, GetParam()).shown, of_a_rank);
}

TEST_P(Pieces, AKilledRankIsNamedWithItsHost) {
  const Said s = said(kKilled, 137, GetParam());
  EXPECT_EQ(s.meaning.exit_code, 137);
  EXPECT_EQ(s.meaning.text, "rank 2 on h3 was killed: by the system for want of memory, or by somebody");
}

TEST(MpirunNotes, AnotherSignalIsNamed) {
  const Said s = said(
      note("mpirun noticed that process rank 0 with PID 7 on node a.b exited on signal 15 (Terminated).\n"), 143, 99);
  EXPECT_EQ(s.meaning.exit_code, 143);
  EXPECT_EQ(s.meaning.text, "rank 0 on a.b was ended by signal 15 (Terminated)");
}

// Its exit code is 132, which looks like an illegal instruction.
TEST_P(Pieces, AHostWithoutTessera) {
  const Said s = said(kAbsent, 132, GetParam());
  EXPECT_EQ(s.shown, "");
  EXPECT_EQ(s.meaning.exit_code, 3);
  EXPECT_NE(s.meaning.text.find("host h2 can't start /opt/tessera/bin/tessera"), std::string::npos) << s.meaning.text;
}

TEST(MpirunNotes, AnExecutableThatIsNotFound) {
  const Said s = said(note("mpirun was unable to find the specified executable file, and therefore\ndid not launch the "
                           "job.  This error was first reported for process\n"
                           "rank 1; it may have occurred for other processes as well.\n\nNOTE: A common "
                           "cause.\n\nNode:       h2\nExecutable: /x/tessera\n"),
                      132, 4096);
  EXPECT_EQ(s.meaning.exit_code, 3);
  EXPECT_NE(s.meaning.text.find("host h2 can't start /x/tessera"), std::string::npos) << s.meaning.text;
}

TEST_P(Pieces, ALostHost) {
  const Said s = said("working\n" + kLost, 205, GetParam());
  EXPECT_EQ(s.shown, "working\n");
  EXPECT_EQ(s.meaning.exit_code, 3);
  EXPECT_NE(s.meaning.text.find("host h3 is lost"), std::string::npos) << s.meaning.text;
}

TEST(MpirunNotes, SignalsToMpirun) {
  EXPECT_EQ(said("", 1, 1).meaning.exit_code, 130);
  EXPECT_EQ(said("", 1, 1).meaning.text, "mpirun was ended by a signal");
  EXPECT_EQ(said("a warning\n", 1, 1).meaning.exit_code, 130);
  EXPECT_EQ(said("", 137, 1, true).meaning.exit_code, 137);
  EXPECT_NE(said("", 137, 1, true).meaning.text.find("mpirun was ended by signal 9"), std::string::npos);
}

TEST(MpirunNotes, WhatStartsNothingIsNoSignal) {
  const Said s = said("mpirun: Error: unknown option\n", 1, 9, false, false);
  EXPECT_EQ(s.meaning.exit_code, 3);
  EXPECT_EQ(s.meaning.text, "");
  EXPECT_NE(said("", 1, 9, false, false).meaning.text.find("mpirun ended with exit code 1"), std::string::npos);
}

TEST(MpirunNotes, WhatRanksHaveSaidIsEnough) {
  const Said s = said("p.fa:2: error: oh dear\n" +
                          note("Primary job  terminated normally, but 1 process returned\na non-zero exit code.\n"),
                      1, 50);
  EXPECT_EQ(s.meaning.exit_code, 1);
  EXPECT_EQ(s.meaning.text, "");
  EXPECT_EQ(said("ssh: Could not resolve hostname h9\n", 255, 50).meaning.exit_code, 3);
}

TEST(MpirunNotes, WhoEndsWithoutAWordIsNamed) {
  const Said s = said(note("mpirun detected that one or more processes exited with non-zero status, thus causing\nthe "
                           "job to be terminated. The first process to do so was:\n\n"
                           "  Process name: [[3412,1],2]\n  Exit code:    5\n"),
                      5, 50);
  EXPECT_EQ(s.meaning.exit_code, 5);
  EXPECT_NE(s.meaning.text.find("rank 2"), std::string::npos) << s.meaning.text;
  EXPECT_NE(s.meaning.text.find("_exit()"), std::string::npos) << s.meaning.text;
  EXPECT_NE(said("", 5, 1).meaning.text.find("mpirun ended with exit code 5"), std::string::npos);
}

}  // namespace
}  // namespace tessera::cli
