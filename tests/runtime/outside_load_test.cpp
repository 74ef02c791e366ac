// When balancers are told of others on their cores.
#include "runtime/balance/outside_load.hpp"

#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

constexpr std::int64_t kOneSecond = 1'000'000'000;

TEST(Competitors, OneEqualCompetitorMakesAThreadWaitAsLongAsItRuns) {
  Competitors c(1, 2);
  const std::optional<double> tasks = c.sample({kOneSecond / 2, kOneSecond / 2}, kOneSecond);
  ASSERT_TRUE(tasks);
  EXPECT_DOUBLE_EQ(*tasks, 1);
  EXPECT_FALSE(c.sample({kOneSecond, kOneSecond}, kOneSecond)) << "the same again";
}

TEST(Competitors, WhatHasNotChangedMuchIsNotTold) {
  Competitors c(1, 1);
  EXPECT_FALSE(c.sample({kOneSecond, kOneSecond / 5}, kOneSecond)) << "0.2 of a task";
  EXPECT_TRUE(c.sample({2 * kOneSecond, kOneSecond / 5 + 4 * kOneSecond}, kOneSecond)) << "4";
  EXPECT_FALSE(c.sample({3 * kOneSecond, kOneSecond / 5 + 8 * kOneSecond + kOneSecond / 2}, kOneSecond)) << "4.5";
  const auto gone = c.sample({4 * kOneSecond, kOneSecond / 5 + 8 * kOneSecond + kOneSecond / 2}, kOneSecond);
  ASSERT_TRUE(gone);
  EXPECT_EQ(*gone, 0);
}

TEST(Competitors, ARankWithMoreWorkersThanCoresWaitsForItself) {
  Competitors c(4, 2);
  EXPECT_FALSE(c.sample({2 * kOneSecond, 2 * kOneSecond}, kOneSecond));
  const auto others = c.sample({3 * kOneSecond, 6 * kOneSecond}, kOneSecond);
  ASSERT_TRUE(others);
  EXPECT_DOUBLE_EQ(*others, 3);
}

TEST(Competitors, AnIdleRankSaysNothing) {
  Competitors c(2, 2);
  EXPECT_FALSE(c.sample({kOneSecond / 100, kOneSecond}, kOneSecond));
}

}  // namespace
}  // namespace tessera::runtime
