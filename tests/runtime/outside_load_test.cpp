// When balancers are told of others on their cores.
#include "runtime/balance/outside_load.hpp"

#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Competitors, OneEqualCompetitorMakesAThreadWaitAsLongAsItRuns) {
  Competitors c(1, 2);
  const std::optional<double> tasks = c.sample({kSecond / 2, kSecond / 2}, kSecond);
  ASSERT_TRUE(tasks);
  EXPECT_DOUBLE_EQ(*tasks, 1);
  EXPECT_FALSE(c.sample({kSecond, kSecond}, kSecond)) << "the same again";
}

TEST(Competitors, WhatHasNotChangedMuchIsNotTold) {
  Competitors c(1, 1);
  EXPECT_FALSE(c.sample({kSecond, kSecond / 5}, kSecond)) << "0.2 of a task";
  EXPECT_TRUE(c.sample({2 * kSecond, kSecond / 5 + 4 * kSecond}, kSecond)) << "4";
  EXPECT_FALSE(c.sample({3 * kSecond, kSecond / 5 + 8 * kSecond + kSecond / 2}, kSecond)) << "4.5";
  const auto gone = c.sample({4 * kSecond, kSecond / 5 + 8 * kSecond + kSecond / 2}, kSecond);
  ASSERT_TRUE(gone);
  EXPECT_EQ(*gone, 0);
}

TEST(Competitors, ARankWithMoreWorkersThanCoresWaitsForItself) {
  Competitors c(4, 2);
  EXPECT_FALSE(c.sample({2 * kSecond, 2 * kSecond}, kSecond));
  const auto others = c.sample({3 * kSecond, 6 * kSecond}, kSecond);
  ASSERT_TRUE(others);
  EXPECT_DOUBLE_EQ(*others, 3);
}

TEST(Competitors, AnIdleRankSaysNothing) {
  Competitors c(2, 2);
  EXPECT_FALSE(c.sample({kSecond / 100, kSecond}, kSecond));
}

}  // namespace
}  // namespace tessera::runtime
