#include "runtime/work/lead.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

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
  const std::int64_t usual = std::exchange(most_ahead, 1 << 30);
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
  most_ahead = usual;
}

// From here on hardly any more; where each worker has a core it is held long before.
class LeadOfMany : public testing::Test {
 protected:
  LeadOfMany() { EXPECT_TRUE(lead_.enough(most_ahead, woken_, now_)); }
  // Held in vain until it makes more; how many it makes then.
  std::int64_t in_vain(std::uint32_t calls = 0) {
    calls_ = calls;
    while (lead_.enough(waiting_, woken_, now_, calls)) now_ += 1'000'000;
    EXPECT_GT(lead_.gropes(), 0U);
    const std::int64_t from = waiting_;
    while (!lead_.enough(waiting_, woken_, now_, calls)) ++waiting_;
    return waiting_ - from;
  }
  void go_on() { lead_.enough(waiting_, woken_, now_ += 1'000, calls_) ? (--waiting_, ++woken_) : ++waiting_; }

  Lead lead_{most_ahead};
  std::uint64_t now_ = 1;
  std::int64_t woken_ = 0, waiting_ = most_ahead;
  std::uint32_t calls_ = 0;
};

TEST_F(LeadOfMany, SoManyMayWait) {
  Lead lead(most_ahead);
  EXPECT_FALSE(lead.enough(most_ahead - 1, 0, 1));
  EXPECT_TRUE(lead.enough(most_ahead, 0, 1));
}

TEST_F(LeadOfMany, InVainFewMoreAndLongerEachTime) {
  std::uint64_t patience = Lead::kLongPatience;
  for (int k = 0; k < 9; ++k) {
    const std::uint64_t from = now_;
    EXPECT_EQ(in_vain(), Lead::kFewMore);
    EXPECT_NEAR(static_cast<double>(now_ - from), static_cast<double>(patience), 2e6) << k;
    patience = std::min(2 * patience, Lead::kLongestPatience);
  }
}

// So a million readers that stand before what they read take a dozen calls.
TEST_F(LeadOfMany, AtACallFewMoreAreMadeAndThenTwiceAsMany) {
  std::uint32_t calls = 0;
  for (std::int64_t more = Lead::kStep; waiting_ < 1'000'000; more *= 2) ASSERT_EQ(in_vain(++calls), more);
  EXPECT_LT(calls, 13U);
  EXPECT_EQ(now_, 1U);
  ++woken_;
  EXPECT_EQ(in_vain(++calls), Lead::kStep) << "something has ceased to wait";
}

TEST_F(LeadOfMany, ACallWhileItMakesMoreIsForNothing) {
  Lead lead(most_ahead);
  EXPECT_FALSE(lead.enough(most_ahead - 1, 0, 1, 1));
  EXPECT_TRUE(lead.enough(most_ahead, 0, 1, 1));
  EXPECT_TRUE(lead.enough(most_ahead, 0, 2, 1));
}

// However long the run takes: it is the stalls that let more be made, and what ceases to wait makes up for them.
TEST_F(LeadOfMany, WhoseFragmentsCeaseToWaitMakesFewer) {
  std::int64_t groped_from = 0;
  for (std::uint32_t k = 1; k < 6; ++k) groped_from = waiting_, in_vain(k);
  const std::int64_t most = waiting_;
  EXPECT_GT(most, most_ahead * 3 / 2);
  for (int steps = 0; waiting_ >= most_ahead; ++steps) {
    ASSERT_LT(steps, 5 * most);
    ASSERT_LE(waiting_, most);
    const bool fewer = waiting_ < groped_from;
    go_on();
    ASSERT_TRUE(fewer ? lead_.gropes() == 0 : lead_.gropes() == 5) << waiting_;
    if (fewer) groped_from = most;
  }
  for (int steps = 0; steps < 100'000; ++steps, go_on()) ASSERT_LE(waiting_, most_ahead);
}

// Somebody is slow, but not for ever: below most_ahead more would be made.
TEST_F(LeadOfMany, SlowProgressIsWaitedFor) {
  for (; woken_ < 1'000; ++woken_) ASSERT_TRUE(lead_.enough(most_ahead + 1, woken_, now_ += Lead::kLongPatience / 2));
}

// A `while` goes on, and each of its turns makes something that waits for a loop that is listed behind it.
TEST(Vain, MoreAndMoreWaitWhateverElseGoesOn) {
  Vain vain;
  int times = 0;
  const auto turns = [&](std::int64_t from, std::int64_t until) {
    for (std::int64_t k = from; k <= until; ++k) times += vain.enough(2 * k, k) ? 1 : 0;
  };
  turns(1, Lead::kAhead - 1);
  EXPECT_EQ(times, 0);
  turns(Lead::kAhead, 2 * Lead::kAhead);
  EXPECT_EQ(times, 2);
  // They cease to at last, and so many may wait again.
  EXPECT_FALSE(vain.enough(5 * Lead::kAhead, 5 * Lead::kAhead));
  EXPECT_FALSE(vain.enough(6 * Lead::kAhead - 1, 5 * Lead::kAhead + 1));
  EXPECT_TRUE(vain.enough(6 * Lead::kAhead + 1, 5 * Lead::kAhead + 1));
}

TEST(Vain, ManyThatWaitAndNoneThatCeasesTo) {
  Vain vain;
  EXPECT_FALSE(vain.enough(Lead::kAhead - 1, 0));
  EXPECT_TRUE(vain.enough(Lead::kAhead, 0));
  EXPECT_FALSE(vain.enough(2 * Lead::kAhead - 1, 0));
  EXPECT_FALSE(vain.enough(2 * Lead::kAhead, Lead::kAhead));
  EXPECT_FALSE(vain.enough(3 * Lead::kAhead - 1, Lead::kAhead));
  EXPECT_TRUE(vain.enough(3 * Lead::kAhead, Lead::kAhead));
}

}  // namespace
}  // namespace tessera::runtime
