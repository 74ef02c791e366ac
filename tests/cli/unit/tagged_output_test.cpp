// Lines of several ranks, cut by mpirun wherever it likes.
#include "cli/tagged_output.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "balancer/random.hpp"

namespace tessera::cli {
namespace {

TEST(TaggedOutput, WithoutTheTags) {
  TaggedOutput t;
  EXPECT_EQ(t.pass("[1,0]<stdout>:one\n[1,0]<stdout>:two\n"), "one\ntwo\n");
  EXPECT_EQ(t.pass("[1,12]<stderr>:three [1, 2] [3]\n"), "three [1, 2] [3]\n");
  EXPECT_EQ(t.pass("mpirun says [x,1]<std\n"), "mpirun says [x,1]<std\n");
  EXPECT_EQ(t.rest(), "");
}

TEST(TaggedOutput, ALineThatIsNotCompleteIsShownAtOnce) {
  TaggedOutput t;
  EXPECT_EQ(t.pass("[1,0]<stdout>:a num"), "a num");
  EXPECT_EQ(t.pass("[1,0]<stdout>:ber? "), "ber? ");
  EXPECT_EQ(t.pass("[1,1]<stdout>:other\n[1,1]<stdout>:more"), "") << "not into the open line";
  EXPECT_EQ(t.pass("[1,0]<stdout>:5\n"), "5\nother\nmore");
  EXPECT_EQ(t.pass("[1,0]<stdout>:last"), "");
  EXPECT_EQ(t.rest(), "\nlast\n");
}

TEST(TaggedOutput, WhateverThePieces) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    balancer::Random random(seed);
    std::vector<std::string> lines, left(3);
    for (std::size_t rank = 0; rank < left.size(); ++rank) {
      for (int k = 0; k < 30; ++k) {
        lines.push_back(std::string("[") + char('a' + rank) + std::to_string(k) + ",7]<stdo" + std::string(random.below(60), '.'));
        left[rank] += lines.back() + "\n";
      }
    }
    std::string sent;
    while (!left[0].empty() || !left[1].empty() || !left[2].empty()) {
      const std::size_t rank = random.below(3);
      std::string piece = left[rank].substr(0, 1 + random.below(100));
      left[rank].erase(0, piece.size());
      if (piece.empty()) continue;
      const std::string tag = "[1," + std::to_string(rank) + "]<stdout>:";
      sent += tag;
      for (std::size_t at = 0; at < piece.size(); ++at) {
        sent += piece[at];
        if (piece[at] == '\n' && at + 1 < piece.size()) sent += tag;
      }
    }
    TaggedOutput t;
    std::string out;
    while (!sent.empty()) {
      const std::string piece = sent.substr(0, 1 + random.below(40));
      sent.erase(0, piece.size());
      out += t.pass(piece);
    }
    out += t.rest();
    std::vector<std::string> got;
    std::istringstream in(out);
    for (std::string line; std::getline(in, line);) got.push_back(line);
    std::sort(got.begin(), got.end());
    std::sort(lines.begin(), lines.end());
    ASSERT_EQ(got, lines) << seed;
  }
}

}  // namespace
}  // namespace tessera::cli
