#include "runtime/work/lead.hpp"

#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

constexpr std::int64_t kAhead = Lead::kAhead;

TEST(Lead, FewMayWait) {
  Lead lead;
  EXPECT_FALSE(lead.enough(0, 0, 1));
  EXPECT_FALSE(lead.enough(kAhead - 1, 0, 1'000'000'000));
  EXPECT_FALSE(lead.held());
}

TEST(Lead, ManyWaitUntilHalfOfThemRun) {
  Lead lead;
  std::uint64_t now = 1;
  EXPECT_TRUE(lead.enough(kAhead, 0, now));
  std::int64_t woken = 1;
  for (; woken < Lead::kStep; ++woken) EXPECT_TRUE(lead.enough(kAhead - woken, woken, now += 5'000)) << woken;
  EXPECT_FALSE(lead.enough(kAhead - Lead::kStep, woken, now += 5'000));
  EXPECT_FALSE(lead.enough(kAhead - 1, woken, now += 5'000));
  EXPECT_TRUE(lead.enough(kAhead, woken, now += 5'000));
}

TEST(Lead, MoreAreMadeWhenNoneCeasesToWait) {
  Lead lead;
  EXPECT_TRUE(lead.enough(kAhead, 7, 1));
  EXPECT_TRUE(lead.enough(kAhead, 7, Lead::kPatience + 1));
  EXPECT_FALSE(lead.enough(kAhead, 7, Lead::kPatience + 2));
  EXPECT_FALSE(lead.enough(kAhead + Lead::kStep - 1, 7, Lead::kPatience + 3));
  EXPECT_TRUE(lead.enough(kAhead + Lead::kStep, 7, Lead::kPatience + 4));
}

TEST(Lead, OneThatCeasesToWaitIsWaitedForAgain) {
  Lead lead;
  EXPECT_TRUE(lead.enough(kAhead, 0, 0));
  EXPECT_TRUE(lead.enough(kAhead - 1, 1, Lead::kPatience));
  EXPECT_TRUE(lead.enough(kAhead - 1, 1, 2 * Lead::kPatience));
  EXPECT_FALSE(lead.enough(kAhead - 1, 1, 2 * Lead::kPatience + 1));
}

// A chain that somebody else follows must not keep what stands behind it in the program from being made.
TEST(Lead, SlowProgressIsNoReasonToWaitForEver) {
  Lead lead;
  std::uint64_t now = 1;
  std::int64_t woken = 0;
  while (lead.enough(kAhead, woken, now)) now += Lead::kPatience / 2, ++woken;
  EXPECT_GT(now, Lead::kLong);
  EXPECT_LT(now, Lead::kLong + Lead::kPatience);
}

TEST(Lead, WhoHasSomethingToRunMakesNoMore) {
  Lead lead;
  std::uint64_t now = 1;
  for (std::int64_t woken = 0; now < 10 * Lead::kLong; ++woken) {
    ASSERT_TRUE(lead.enough(kAhead, woken, now)) << now;
    lead.found();
    now += 10 * Lead::kPatience;
  }
}

// How long it looks on in vain, and how many it makes then: both double, up to a bound, until few wait.
TEST(Lead, InVainAgainAndAgain) {
  Lead lead;
  std::uint64_t now = 1;
  std::int64_t waiting = kAhead;
  const auto vain = [&] {
    const std::uint64_t from = now;
    while (lead.enough(waiting, 0, now)) now += 1'000;
    return now - from;
  };
  const auto made = [&] {
    const std::int64_t from = waiting;
    while (!lead.enough(waiting, 0, now += 1'000)) ++waiting;
    return waiting - from;
  };
  std::uint64_t patience = Lead::kPatience;
  std::int64_t step = Lead::kStep;
  for (int i = 0; i < 14; ++i) {
    EXPECT_NEAR(static_cast<double>(vain()), static_cast<double>(patience), 2'000) << i;
    EXPECT_EQ(made(), step) << i;
    patience = std::min(2 * patience, Lead::kMostPatience);
    step = std::min(2 * step, Lead::kMostStep);
  }
  EXPECT_FALSE(lead.enough(waiting -= Lead::kStep, 0, now));
  EXPECT_EQ(made(), Lead::kStep);
  EXPECT_NEAR(static_cast<double>(vain()), static_cast<double>(patience), 2'000) << "many are left";
  EXPECT_EQ(made(), step);
  while (lead.enough(waiting = kAhead - 1, 0, now)) now += 1'000;
  EXPECT_EQ(made(), Lead::kStep);
  EXPECT_NEAR(static_cast<double>(vain()), static_cast<double>(Lead::kPatience), 2'000);
  EXPECT_EQ(made(), Lead::kStep);
}

}  // namespace
}  // namespace tessera::runtime
