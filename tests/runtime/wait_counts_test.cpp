#include "runtime/work/wait_counts.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

namespace tessera::runtime {
namespace {

// Cell: a number that counts who touches its line.
struct Cell {
  explicit Cell(std::int64_t n) : number(n) {}
  std::int64_t load(std::memory_order) const {
    ++reads;
    return number;
  }
  void fetch_add(std::int64_t n, std::memory_order) {
    ++writes;
    number += n;
  }
  std::int64_t number;
  static inline std::int64_t reads = 0, writes = 0;
};
using Counted = WaitCountsOf<Cell>;

struct Share {
  Counted::Counter began, ceased;
  void begin() { began.store(began.load() + 1); }
  void cease() { ceased.store(ceased.load() + 1); }
};

class Workers {
 public:
  explicit Workers(std::size_t n) : shares(n) {
    for (Share& s : shares) rank.join(s.began, s.ceased, Counted::step(n - 1));
    Cell::reads = Cell::writes = 0;
  }
  Counted rank{};
  std::vector<Share> shares;
};

// What 64 cores would feel: lines that others write, read or written for each fragment.
TEST(WaitCounts, FewTouchTheSharedLine) {
  for (const std::size_t n : {2u, 8u, 33u, 65u, 200u}) {
    Workers w(n);
    constexpr std::int64_t kRounds = 3000;
    for (std::int64_t k = 0; k < kRounds; ++k) {
      for (Share& s : w.shares) {
        s.begin();
        w.rank.look(s.began, s.ceased);
        s.cease();
      }
    }
    const auto fragments = static_cast<std::int64_t>(n) * kRounds;
    EXPECT_EQ(Cell::reads, 2 * fragments) << n;  // both numbers of one line, for any number of workers
    EXPECT_LE(Cell::writes, 2 * fragments / Counted::step(n - 1)) << n;
  }
  EXPECT_EQ(Counted::step(1), Counted::kMostStep);
  EXPECT_EQ(Counted::step(31), Counted::kMostStep);
  EXPECT_GE(Counted::step(63), 8);
  EXPECT_EQ(Counted::step(100'000), 1);
  EXPECT_EQ(sizeof(WaitCounts), kLine);
  EXPECT_EQ(alignof(WaitCounts), kLine);
}

TEST(WaitCounts, WhatIsSeenIsNearlyTrue) {
  std::mt19937 dice(1);
  for (const std::size_t n : {1u, 2u, 9u, 65u, 300u}) {
    Workers w(n);
    std::int64_t began = 0, ceased = 0;
    for (int k = 0; k < 60'000; ++k) {
      Share& s = w.shares[dice() % n];
      if (began == ceased || dice() % 9 < 5) {
        s.begin();
        ++began;
      } else {
        s.cease();
        ++ceased;
      }
      const auto seen = w.rank.look(s.began, s.ceased);
      ASSERT_LE(std::abs(seen.waiting - (began - ceased)), n == 1 ? 0 : Counted::kTolerance);
      ASSERT_LE(seen.ceased, ceased);
      ASSERT_GE(seen.ceased, ceased - (n == 1 ? 0 : Counted::kTolerance));
    }
    for (Share& s : w.shares) s.began.publish(), s.ceased.publish();
    EXPECT_EQ(w.rank.look({}, {}).waiting, began - ceased);
    EXPECT_EQ(w.rank.look({}, {}).ceased, ceased);
    const auto writes = Cell::writes;
    for (Share& s : w.shares) s.began.publish(), s.ceased.publish();
    EXPECT_EQ(Cell::writes, writes);  // nothing new
  }
}

TEST(WaitCounts, NeverLessThanNone) {
  Workers w(2);
  for (int k = 0; k < 5; ++k) w.shares[0].begin(), w.shares[1].cease();
  w.shares[1].ceased.publish();
  EXPECT_EQ(w.rank.look({}, {}).waiting, 0);
  w.shares[0].began.publish();
  EXPECT_EQ(w.rank.look({}, {}).waiting, 0);
  EXPECT_EQ(w.rank.look({}, {}).ceased, 5);
}

TEST(WaitCounts, OfThreads) {
  WaitCounts rank;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&rank] {
      WaitCounts::Counter began, ceased;
      rank.join(began, ceased, WaitCounts::step(4));
      for (int k = 0; k < 100'003; ++k) {
        began.store(began.load() + 1);
        if (k % 3 != 0) ceased.store(ceased.load() + 1);
        rank.look(began, ceased);
      }
      began.publish();
      ceased.publish();
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(rank.look({}, {}).ceased, 4 * 66'668);
  EXPECT_EQ(rank.look({}, {}).waiting, 4 * 33'335);
}

}  // namespace
}  // namespace tessera::runtime
