// Diagnostics as text, for programs that hold anything.
#include <gtest/gtest.h>

#include "support.hpp"

namespace tessera::compiler::testing {
namespace {

TEST(Render, WhatATerminalWouldObeyIsNotShown) {
  const std::string text = std::string("sub main() { \0 \x1b[2J \x01 }\n", 24) + "more \x7f\n";
  const Workspace w;
  const std::string shown = rendered(translate(w.write("p.fa", text), {}), w.folder());
  EXPECT_NE(shown.find("    1 | sub main() { ? ?[2J ? }\n"), std::string::npos) << shown;
  for (const char c : shown) EXPECT_TRUE(c == '\n' || (c >= ' ' && c != '\x7f')) << shown;
}

// A long line is cut, but not inside a character.
TEST(Render, LongLinesAreCutBetweenCharacters) {
  for (const char* pad : {"", "a", "ab"}) {
    std::string text = "sub main() { /* " + std::string(pad);
    for (int k = 0; k < 100; ++k) text += "\u20ac";
    text += " */ oops(); /* ";
    for (int k = 0; k < 100; ++k) text += "\u20ac";
    const Workspace w;
    const std::string shown = rendered(translate(w.write("p.fa", text + " */ }\n"), {}), w.folder());
    const std::size_t line = shown.find(" | ") + 3;
    EXPECT_EQ(shown.compare(line, 3, "\u20ac"), 0) << shown;
    const std::size_t end = shown.find('\n', line);
    EXPECT_EQ(shown.compare(end - 3, 3, "\u20ac"), 0) << shown;
    const std::size_t caret = shown.find('^') - shown.find(" | ", end) - 3;
    std::size_t column = 0;
    for (std::size_t k = line; k < shown.find("oops", line); ++k) {
      column += (static_cast<unsigned char>(shown[k]) & 0xC0u) != 0x80u;
    }
    EXPECT_EQ(caret, column) << shown;
  }
}

}  // namespace
}  // namespace tessera::compiler::testing
