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
  const std::string all = "a\n" + mark(16, 7) + "half" + mark(3, 1) + " a line\n" + alike + mark(16, ~0ul) + "\n";
  for (std::size_t size = 1; size <= all.size(); ++size) {
    const tests::TemporaryFolder journal;
    PrintedMarks marks(journal);
    std::string shown;
    for (std::size_t at = 0; at < all.size(); at += size) shown += marks.pass(std::string_view(all).substr(at, size));
    EXPECT_TRUE(PrintedFile::read(journal).empty()) << "nothing is written yet";
    marks.written();
    EXPECT_EQ(PrintedFile::read(journal), (Acknowledged{{16, ~0ul}, {3, 1}})) << size;
    EXPECT_EQ(shown + marks.rest(), "a\nhalf a line\n" + alike + "\n") << size;
  }
}

TEST(PrintedMarks, WhatOnlyBeginsLikeOneIsShownAtTheEnd) {
  const tests::TemporaryFolder journal;
  PrintedMarks marks(journal);
  EXPECT_EQ(marks.pass("text\n\036tess"), "text\n");
  EXPECT_EQ(marks.rest(), "\036tess");
}

// Half a line that is shown spoils the first one of whoever prints next.
TEST(PrintedMarks, LinesAreShownWholeOrUpToAMark) {
  const tests::TemporaryFolder journal;
  PrintedMarks marks(journal);
  EXPECT_EQ(marks.pass("one\ntw"), "one\n");
  EXPECT_EQ(marks.pass("o\nthr"), "two\n");
  EXPECT_EQ(marks.pass("ee? " + mark(1, 1)), "three? ");
  EXPECT_EQ(marks.pass("yes"), "");
  EXPECT_EQ(marks.rest(), "yes");
}

}  // namespace
}  // namespace tessera::cli
