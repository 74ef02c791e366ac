// Marks in what a command prints: taken out, and told when all in front of them is written.
#include "cli/printed_marks.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "runtime/transport/printed.hpp"

namespace tessera::cli {
namespace {

namespace text = runtime::text;

std::string mark(int rank, int number) {
  return text::kMarkBegin + std::to_string(rank) + ":" + std::to_string(number) + text::kMarkEnd;
}

std::uint64_t told(std::int32_t rank) {
  const int file = open(std::getenv(text::kPrinted), O_RDONLY);
  std::uint64_t number = 0;
  (void)!pread(file, &number, sizeof number, text::place_of_mark(rank));
  close(file);
  return number;
}

TEST(PrintedMarks, AreTakenOutHoweverThePiecesAreCut) {
  const std::string alike = "\036tessera:x\037 \036tess \036tessera:12345678901234567890123456789012345678901234567890";
  const std::string all = "a\n" + mark(0, 7) + "half" + mark(3, 1) + " a line\n" + alike + mark(0, 8) + "\n";
  for (std::size_t size = 1; size <= all.size(); ++size) {
    PrintedMarks marks;
    std::string shown;
    for (std::size_t at = 0; at < all.size(); at += size) shown += marks.pass(std::string_view(all).substr(at, size));
    EXPECT_EQ(told(0), 0u) << "nothing is written yet";
    marks.written();
    EXPECT_EQ(told(0), 8u) << size;
    EXPECT_EQ(told(3), 1u) << size;
    EXPECT_EQ(shown + marks.rest(), "a\nhalf a line\n" + alike + "\n") << size;
  }
}

TEST(PrintedMarks, WhatOnlyBeginsLikeOneIsShownAtTheEnd) {
  PrintedMarks marks;
  EXPECT_EQ(marks.pass("text\036tess"), "text");
  EXPECT_EQ(marks.rest(), "\036tess");
}

}  // namespace
}  // namespace tessera::cli
