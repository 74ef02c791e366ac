// Marks in what a command prints: taken out, and noted when all in front of them is written.
#include "cli/printed_marks.hpp"

#include <gtest/gtest.h>

#include "runtime/journal/captured.hpp"
#include "tests/temporary_folder.hpp"

namespace tessera::cli {
namespace {

using runtime::journal::Acknowledged;
using runtime::journal::mark;
using runtime::journal::PrintedFile;

TEST(PrintedMarks, AreTakenOutHoweverThePiecesAreCut) {
  const std::string alike = "\036tessera:x\037 \036tess \036tessera:12345678901234567890123456789012345678901234567890";
  const std::string all = "a\n" + mark(16, 7, "a\n") + "half" + mark(3, 4, "half") + " a line\n" + alike +
                          mark(16, 15 + alike.size(), " a line\n" + alike) + "\n";
  for (std::size_t size = 1; size <= all.size(); ++size) {
    const tests::TemporaryFolder journal;
    PrintedMarks marks(journal);
    std::string shown;
    for (std::size_t at = 0; at < all.size(); at += size) shown += marks.pass(std::string_view(all).substr(at, size));
    EXPECT_TRUE(PrintedFile::read(journal).empty()) << "nothing is written yet";
    marks.written();
    EXPECT_EQ(PrintedFile::read(journal), (Acknowledged{{16, 15 + alike.size()}, {3, 4}})) << size;
    EXPECT_EQ(shown + marks.rest(0), "a\nhalf a line\n" + alike + "\n") << size;
  }
}

TEST(PrintedMarks, WhatOnlyBeginsLikeOneIsShownAtTheEnd) {
  const tests::TemporaryFolder journal;
  PrintedMarks marks(journal);
  EXPECT_EQ(marks.pass("text\n\036tess"), "");
  EXPECT_EQ(marks.rest(0), "text\n\036tess");
}

// Half a line that is shown spoils the first one of whoever prints next.
TEST(PrintedMarks, IsShownUpToAMark) {
  const tests::TemporaryFolder journal;
  PrintedMarks marks(journal);
  EXPECT_EQ(marks.pass("one\ntw"), "");
  EXPECT_EQ(marks.pass("o\n" + mark(1, 8, "one\ntwo\n") + "thr"), "one\ntwo\n");
  EXPECT_EQ(marks.pass("ee? " + mark(1, 15, "three? ")), "three? ");
  EXPECT_EQ(marks.pass("yes"), "");
  EXPECT_EQ(marks.rest(0), "yes");
}

// An mpirun that is ended loses some of what it has in hand, and passes on what came later.
TEST(PrintedMarks, WhatIsBehindALossIsNotNoted) {
  const tests::TemporaryFolder journal;
  PrintedMarks marks(journal);
  EXPECT_EQ(marks.pass("one\n" + mark(1, 4, "one\n") + "cut o"), "one\n");
  EXPECT_EQ(marks.pass("other\n" + mark(2, 6, "other\n")), "other\n");
  EXPECT_EQ(marks.pass("t of a line\nsix\n" + mark(1, 34, "cut off, as it is: end of a line\nsix\n")), "");
  EXPECT_EQ(marks.pass("seven\n" + mark(1, 40, "seven\n")), "seven\n");
  marks.written();
  EXPECT_EQ(PrintedFile::read(journal), (Acknowledged{{1, 4}, {2, 6}}));
  EXPECT_EQ(marks.rest(143), "");
}

// A long line is written in parts.
TEST(PrintedMarks, PiecesOfOthersMayComeWithinOne) {
  const tests::TemporaryFolder journal;
  PrintedMarks marks(journal);
  EXPECT_EQ(marks.pass("a long "), "");
  EXPECT_EQ(marks.pass("other\n" + mark(2, 6, "other\n")), "other\n");
  EXPECT_EQ(marks.pass("line\n" + mark(1, 12, "a long line\n")), "a long line\n");
  marks.written();
  EXPECT_EQ(PrintedFile::read(journal), (Acknowledged{{1, 12}, {2, 6}}));
}

// The next run prints behind it.
TEST(PrintedMarks, WhatARunHasShownThatIsEndedEndsWithALine) {
  const tests::TemporaryFolder journal;
  for (const int code : {75, 130, 137, 1}) {
    PrintedMarks marks(journal);
    EXPECT_EQ(marks.pass("one\ntw"), "");
    EXPECT_EQ(marks.rest(code), code == 1 ? "one\n" : "");
    EXPECT_EQ(marks.pass("three? " + mark(1, 7, "three? ") + "\036tess"), "three? ");
    EXPECT_EQ(marks.rest(code), "\n");
    EXPECT_EQ(marks.rest(code), "");
  }
}

}  // namespace
}  // namespace tessera::cli
