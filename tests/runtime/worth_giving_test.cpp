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
  static constexpr std::uint32_t kGroups[] = {kWaits, ~0u, kFree, ~0u, ~0u};
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

// Every tenth iteration prints a line.
TEST_F(WorthGiving, NotForWhatFewIterationsMake) {
  static constexpr std::uint32_t kAlsoOnce[] = {kWaits, ~0u, kFree, ~0u, kWaits, ~0u};
  ran(kFree, kMs / 50, 10);
  ran(kWaits, kMs / 10'000, 100);
  EXPECT_TRUE(worth_giving(loop_, 100, stats_)) << "20 us, for all that is known";
  loop_.carried = kAlsoOnce;
  EXPECT_FALSE(worth_giving(loop_, 100, stats_)) << "2 us";
  ran(kFree, kMs / 50, 200);
  EXPECT_TRUE(worth_giving(loop_, 100, stats_)) << "an inner loop: 20 us";
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

// Of 1 us each, which read what others make: to ship one of their inputs takes longer.
TEST_F(WorthGiving, LightIterationsThatReadOthersStay) {
  static constexpr std::uint32_t kBody[] = {kFree, ~0u};
  static constexpr std::uint32_t kInside[] = {kWaits, kLoop, ~0u};
  loop_.carried = nullptr;
  loop_.body_groups = kBody;
  EXPECT_FALSE(is_light(loop_, stats_)) << "nobody knows";
  ran(kFree, kMs / 1000);
  EXPECT_TRUE(is_light(loop_, stats_));
  loop_.flags = abi::kBulk;
  EXPECT_FALSE(is_light(loop_, stats_)) << "nothing travels";
  stats_.add_bytes_out(kFree, 8);
  EXPECT_TRUE(is_light(loop_, stats_)) << "what it makes travels";
  ran(kFree, kMs / 100);
  EXPECT_FALSE(is_light(loop_, stats_)) << "they read nothing of others, and travel as one";
  loop_.flags = abi::kNested;
  loop_.within = kInside;
  EXPECT_TRUE(is_light(loop_, stats_)) << "what loops inside it call";
  ran(kWaits, kMs / 50);
  EXPECT_FALSE(is_light(loop_, stats_)) << "one of them takes 20 us";
}

// A chain, and a `while`, each run of which reads what others make meanwhile: of 300 us of those 50 are asking.
TEST_F(WorthGiving, WhatFollowsOthersStaysUntilItIsKnownToBeHeavy) {
  abi::Block chain{};
  chain.group = kFree;
  chain.flags = abi::kRepeats;
  abi::Block turns{};
  turns.group = kLoop;
  turns.kind = abi::Kind::loop;
  static constexpr std::uint32_t kCalls[] = {kWaits, kFree, ~0u};
  turns.carried = kCalls;
  ReadyQueue q(3, &stats_, 64);
  q.push(allocate_cf(chain, nullptr, {1, 1}));
  q.push(allocate_cf(turns, nullptr, {1, 2}));
  q.push(allocate_cf(turns, nullptr, {1, 3}), true);
  const auto offered = [&](Making making) {
    std::vector<std::int64_t> ready(3), bytes(3);
    q.count(ready, bytes, making);
    return ready;
  };
  const auto take = [&] {
    std::vector<Cf*> out, exhausted;
    for (std::uint32_t g = 0; g < 3; ++g) q.take(g, 10, balancer::Rank{1}, out, exhausted, Making::movable);
    for (Cf* c : out) free_cf(c);
    return out.size();
  };
  EXPECT_EQ(offered(Making::movable), (std::vector<std::int64_t>{0, 0, 0})) << "nobody knows";
  EXPECT_EQ(offered(Making::all), (std::vector<std::int64_t>{0, 1, 2})) << "this rank leaves";
  ran(kFree, kMs / 100);
  EXPECT_EQ(take(), 0u) << "light";
  ran(kWaits, kMs);
  EXPECT_EQ(offered(Making::movable), (std::vector<std::int64_t>{0, 0, 2}));
  ran(kFree, 3 * kMs);
  EXPECT_EQ(offered(Making::movable), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(take(), 3u);
}

}  // namespace
}  // namespace tessera::runtime
