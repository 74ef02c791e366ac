#include "cli/simulate/interval.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace tessera::cli {
namespace {

TEST(MedianInterval, OfFewIsAllOfThem) {
  const MedianInterval one = median_interval({3});
  EXPECT_EQ(one.median, 3);
  EXPECT_EQ(one.low, 3);
  EXPECT_EQ(one.sureness, 0);
  const MedianInterval five = median_interval({5, 1, 2, 4, 3});
  EXPECT_EQ(five.median, 3);
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 5);
  EXPECT_NEAR(five.sureness, 0.9375, 1e-12);
  EXPECT_EQ(median_interval({1, 2}).median, 1.5);
}

// From tables of the sign test: n = 6: 1st and 6th, 96.9 %; n = 15: 4th and 12th, 96.5 %; n = 50: 18th and 33rd, 96.7
// %.
TEST(MedianInterval, IsAsInTables) {
  const auto of = [](std::size_t n) {
    std::vector<double> all(n);
    std::iota(all.begin(), all.end(), 1);
    return median_interval(all);
  };
  EXPECT_EQ(of(6).low, 1);
  EXPECT_NEAR(of(6).sureness, 0.96875, 1e-9);
  EXPECT_EQ(of(15).low, 4);
  EXPECT_EQ(of(15).high, 12);
  EXPECT_NEAR(of(15).sureness, 0.9648, 1e-4);
  EXPECT_EQ(of(50).low, 18);
  EXPECT_EQ(of(50).high, 33);
  EXPECT_NEAR(of(50).sureness, 0.9672, 1e-4);
  EXPECT_GE(of(5000).sureness, 0.95);
}

TEST(MedianInterval, HoldsTheMedianAsOftenAsItSays) {
  std::mt19937 random(7);
  std::exponential_distribution<double> draw(1);
  int held = 0;
  constexpr int kRounds = 4000;
  for (int i = 0; i < kRounds; ++i) {
    std::vector<double> all(20);
    for (double& x : all) x = draw(random);
    const MedianInterval m = median_interval(all);
    held += static_cast<int>(m.low <= std::log(2.0) && std::log(2.0) <= m.high);
  }
  EXPECT_NEAR(static_cast<double>(held) / kRounds, 0.9586, 0.012);
}

}  // namespace
}  // namespace tessera::cli
