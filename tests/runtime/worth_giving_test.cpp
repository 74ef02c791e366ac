#include "runtime/work/worth_giving.hpp"

#include <gtest/gtest.h>

#include "runtime/fragment/cf.hpp"
#include "runtime/work/ready_queue.hpp"

namespace tessera::runtime {
namespace {

// Group 0 waits for other iterations, group 1 doesn't, group 2 is the loop.
constexpr std::uint32_t kWaits = 0, kFree = 1, kLoop = 2;
constexpr std::uint64_t kMs = 2'500'000;  // ticks, about

class WorthGiving : public ::testing::Test {
 protected:
  WorthGiving() {
    loop_.group = kLoop;
    loop_.kind = abi::Kind::range;
    loop_.layout = "ii";
    loop_.frame_words = loop_.capacity = 2;
    loop_.carried = kGroups;
  }
  void ran(std::uint32_t group, std::uint64_t took, int times = 1) {
    for (int k = 0; k < times; ++k) {
      if (stats_.begin(group)) stats_.timed(group, now_, now_ + took);
      now_ += took;
    }
  }
  static constexpr std::uint32_t kGroups[] = {kWaits, ~0u, kFree, ~0u};
  abi::Block loop_{};
  GroupStats stats_{3};
  std::uint64_t now_ = 1;
};

TEST_F(WorthGiving, NothingWaits) {
  loop_.carried = nullptr;
  EXPECT_TRUE(worth_giving(loop_, 100, stats_));
}

TEST_F(WorthGiving, NotBeforeWhatWaitsIsKnown) {
  ran(kFree, kMs);
  EXPECT_FALSE(worth_giving(loop_, 100, stats_));
  ran(kWaits, kMs / 100);
  EXPECT_TRUE(worth_giving(loop_, 100, stats_)) << "a sum of what is heavy";
}

TEST_F(WorthGiving, NotWhereMostWaits) {
  ran(kWaits, kMs);
  ran(kFree, kMs / 100);
  EXPECT_FALSE(worth_giving(loop_, 100, stats_));
}

// A rank that has got iterations runs what is free of them, while all else waits.
TEST_F(WorthGiving, WhatHasRunOftenCountsAsOne) {
  ran(kWaits, kMs);
  ran(kFree, kMs / 100, 1000);
  EXPECT_FALSE(worth_giving(loop_, 100, stats_));
}

TEST_F(WorthGiving, NotWhereManyWaitForEachOther) {
  ran(kWaits, kMs / 10, 1000);
  ran(kFree, kMs);
  EXPECT_FALSE(worth_giving(loop_, 100, stats_));
}

TEST_F(WorthGiving, NotWhatIsLighterThanItsMessages) {
  ran(kFree, kMs / 1000);
  ran(kWaits, kMs / 10'000);
  EXPECT_FALSE(worth_giving(loop_, 100, stats_));
}

TEST_F(WorthGiving, NotWhereMuchWouldWait) {
  ran(kFree, kMs);
  ran(kWaits, kMs / 100);
  for (int k = 0; k < 100; ++k) stats_.grew(kFree, 100'000);
  EXPECT_TRUE(worth_giving(loop_, 100, stats_));
  EXPECT_FALSE(worth_giving(loop_, 1000, stats_));
}

// Only whoever asks for all, since this rank leaves, gets them.
TEST_F(WorthGiving, AQueueGivesAndCountsSoToo) {
  ReadyQueue q{3, &stats_};
  Cf* c = allocate_cf(loop_, nullptr, {});
  abi::frame_int(c, 0) = 0;
  abi::frame_int(c, 1) = 9;
  q.push(c);
  const auto counted = [&](Making making) {
    std::vector<std::int64_t> ready(3), bytes(3);
    q.count(ready, bytes, making);
    return ready[kLoop];
  };
  const auto taken = [&](Making making) {
    std::vector<Cf*> out, exhausted;
    const std::int64_t n = q.take(kLoop, 2, balancer::Rank{1}, out, exhausted, making);
    for (Cf* part : out) free_cf(part);
    return n;
  };
  EXPECT_EQ(counted(Making::movable), 0);
  EXPECT_EQ(taken(Making::movable), 0);
  EXPECT_EQ(counted(Making::all), 10);
  EXPECT_EQ(taken(Making::all), 2);
  ran(kFree, kMs);
  ran(kWaits, kMs / 100);
  EXPECT_EQ(counted(Making::movable), 8);
  EXPECT_EQ(taken(Making::movable), 2);
  for (Cf* rest : q.take_all()) free_cf(rest);
}

}  // namespace
}  // namespace tessera::runtime
