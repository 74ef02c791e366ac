// Clocks of ranks: what the quickest answers tell, and how exact that is.
#include "runtime/trace/clock_sync.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tessera::runtime {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Rank 0's clock is that far ahead; answers take from 20 us to 2 ms, most of it one way.
std::vector<ClockReading> readings(std::int64_t from, std::int64_t to, std::int64_t offset, double drift,
                                   std::uint64_t seed = 7) {
  std::mt19937_64 random(seed);
  std::vector<ClockReading> all;
  for (std::int64_t t = from; t <= to; t += kSecond / 10) {
    const auto there = static_cast<std::int64_t>(10'000 + random() % 1'000'000);
    const auto back = static_cast<std::int64_t>(10'000 + random() % 1'000'000);
    const std::int64_t at = t + there;  // when the other one looked, here
    const std::int64_t read = at + offset + static_cast<std::int64_t>(drift * static_cast<double>(at));
    const std::int64_t half = (there + back + 1) / 2;
    all.push_back({t + half, read - (t + half), half});
  }
  return all;
}

TEST(ClockSync, IsNoMoreWrongThanItSays) {
  for (const double drift : {0.0, 3e-5, -8e-5}) {
    for (const std::int64_t span : {kSecond / 5, 3 * kSecond, 60 * kSecond}) {
      for (const std::int64_t offset : {0l, 123'456'789l, -5 * 3600 * kSecond}) {
        const ClockFit fit = fit_clock(readings(0, span, offset, drift), 0, span);
        for (const std::int64_t t : {0l, span / 2, span}) {
          const std::int64_t right = t + offset + static_cast<std::int64_t>(drift * static_cast<double>(t));
          EXPECT_LE(std::abs(fit.there(t) - right), fit.error + 1) << drift << " " << span << " " << t;
        }
        EXPECT_LT(fit.error, 2'100'000);
        if (span > 10 * kSecond) {
          EXPECT_NEAR(fit.drift, drift, 1e-5);
        }
      }
    }
  }
}

// Readings of a part of the run only, few and many, quick and slow: what is said of the rest holds, too. No two clocks
// are said to run apart by more than clocks do.
TEST(ClockSync, IsNoMoreWrongThanItSaysWhereNobodyAsked) {
  int exact = 0, noisy = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937_64 dice(seed);
    const auto up_to = [&](std::int64_t n) {
      return static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(n + 1));
    };
    const std::int64_t span = 1 + up_to(seed % 3 == 0 ? kSecond : 100 * kSecond), from = up_to(span);
    const std::int64_t to = from + up_to(seed % 2 == 0 ? span - from : std::min(span - from, 4 * kSecond));
    const double drift = static_cast<double>(up_to(200) - 100) * 1e-6;
    const std::int64_t offset = up_to(kSecond) - kSecond / 2;
    const ClockFit fit = fit_clock(readings(from, to, offset, drift, seed), 0, span);
    EXPECT_LE(std::abs(fit.drift), kMostDrift);
    exact += fit.drift != 0 ? 1 : 0, noisy += fit.drift == 0 && to - from > 2 * kSecond ? 1 : 0;
    for (const std::int64_t t : {std::int64_t{0}, from, (from + to) / 2, to, span}) {
      const std::int64_t right = t + offset + static_cast<std::int64_t>(drift * static_cast<double>(t));
      EXPECT_LE(std::abs(fit.there(t) - right), fit.error + 2) << seed << ", at " << t << " of " << span;
    }
  }
  EXPECT_GT(exact, 200);
  EXPECT_GT(noisy, 20) << "where answers are slow, nothing is said of the drift";
}

TEST(ClockSync, AReadingIsOfTheMiddleBetweenQuestionAndAnswer) {
  ClockSync sync([](std::int64_t) {});
  sync.answered(5'000'000'000, 9'000'000'000, Clock::time_point(std::chrono::microseconds(5'000'600)));
  ASSERT_EQ(sync.readings().size(), 1u);
  EXPECT_EQ(sync.readings()[0].at, 5'000'300'000);
  EXPECT_EQ(sync.readings()[0].offset, 3'999'700'000);
  EXPECT_EQ(sync.readings()[0].half, 300'000);
}

TEST(ClockSync, AsksSomeTimesInARowAndThenNowAndThen) {
  std::vector<std::int64_t> asked;
  ClockSync sync([&](std::int64_t here) { asked.push_back(here); });
  auto now = Clock::time_point(std::chrono::seconds(5));
  sync.turn(now);
  sync.turn(now);
  ASSERT_EQ(asked.size(), 1u) << "not again while it waits for the answer";
  for (int i = 0; i < 8; ++i) sync.answered(asked.back(), 0, now);
  EXPECT_EQ(asked.size(), 8u);
  EXPECT_NE(asked[1], asked[0]) << "with the time it has then";
  EXPECT_EQ(sync.readings().size(), 8u);
  sync.turn(now + std::chrono::milliseconds(1));
  EXPECT_EQ(asked.size(), 8u);
  EXPECT_GT(sync.next(), now);
  sync.turn(sync.next());
  EXPECT_EQ(asked.size(), 9u);
  for (int i = 0; i < 8; ++i) sync.answered(asked.back(), 0, now);
  EXPECT_EQ(asked.size(), 16u) << "as many again";
}

// Asked in the first moments only: what two quick answers tell of the drift is worth nothing a minute later.
TEST(ClockSync, NoDriftIsTakenFromMoments) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto all = readings(0, 2 * kSecond / 5, 1000, 5e-5, seed);
    std::int64_t quickest = kSecond;
    for (const ClockReading& r : all) quickest = std::min(quickest, r.half);
    EXPECT_LE(fit_clock(all, 0, 60 * kSecond).error, quickest + 60 * kSecond / 10'000) << seed;
  }
}

}  // namespace
}  // namespace tessera::runtime
