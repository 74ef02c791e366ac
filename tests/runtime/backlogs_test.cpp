// What values of others hold here, and how they hear of it.
#include "runtime/node/backlogs.hpp"

#include <gtest/gtest.h>

#include <variant>
#include <vector>

namespace tessera::runtime {
namespace {

constexpr std::int64_t kMb = 1 << 20;
constexpr std::size_t kBytes = 1 << 20;

class OfOthers : public ::testing::Test {
 protected:
  OfOthers()
      : transports_(make_inproc_transports({.ranks = 3})), comm(*transports_[0]), backlogs(comm, held, Rank{0}, 3) {}
  ~OfOthers() override {
    for (abi::Value* v : values) abi::release(v);
  }
  void come(std::int32_t from, std::size_t bytes = kBytes) {
    values.push_back(abi::value_bytes(bytes));
    Parcel p;
    p.values.emplace_back(abi::retain(values.back()));
    backlogs.came(Rank{from}, p);
  }
  void go(std::size_t count) {
    for (; count > 0; --count) {
      abi::release(values.back());
      values.pop_back();
    }
  }
  // What rank `to` hears of the next look, so much later.
  std::vector<Backlog> heard_by(std::int32_t to, bool busy = false, Clock::duration later = Backlogs::kTells) {
    backlogs.turn(now += later, busy);
    std::vector<Backlog> all;
    for (bool any = true; any;) {
      any = transports_[static_cast<std::size_t>(to)]->progress([&](Rank, Parcel&& p) {
        if (const Message m = decode(std::move(p)); const auto* b = std::get_if<Backlog>(&m)) all.push_back(*b);
      });
    }
    return all;
  }

 private:
  std::vector<std::unique_ptr<Transport>> transports_;

 protected:
  std::shared_ptr<Held> held = std::make_shared<Held>(1);
  Communicator comm;
  Backlogs backlogs;
  Clock::time_point now = Clock::time_point{} + std::chrono::hours(1);
  std::vector<abi::Value*> values;
};

TEST_F(OfOthers, WhatHasComeIsToldToWhoseItIs) {
  come(1), come(1);
  const auto heard = heard_by(1);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].came, 2 * kMb);
  EXPECT_EQ(heard[0].gone, 0);
  EXPECT_FALSE(heard[0].asks);
  EXPECT_TRUE(heard_by(2).empty());
  EXPECT_TRUE(heard_by(1).empty()) << "nothing has changed";
}

TEST_F(OfOthers, WhatGoesIsTold) {
  for (int k = 0; k < 12; ++k) come(1);
  ASSERT_EQ(heard_by(1).size(), 1u);
  go(2);
  const auto heard = heard_by(1);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].came, 0);
  EXPECT_EQ(heard[0].gone, 2 * kMb);
  go(10);
  EXPECT_EQ(heard_by(1).at(0).gone, 10 * kMb);
  EXPECT_TRUE(heard_by(1).empty());
  EXPECT_EQ(backlogs.next(Clock::time_point::max()), Clock::time_point::max()) << "nobody looks any more";
}

TEST_F(OfOthers, CopiesAreAmongWhatHeldMost) {
  for (int k = 0; k < 12; ++k) come(1);
  go(12);
  EXPECT_EQ(held->copies(), 0);
  ASSERT_EQ(held->most().size(), 1u);
  EXPECT_EQ(held->most()[0].name, Held::kCopies);
  EXPECT_EQ(held->most()[0].bytes, 12 * kMb);
  EXPECT_EQ(held->now(), 0) << "they are no pile of this rank's";
}

TEST_F(OfOthers, LittleIsToldLater) {
  come(1, Outstanding::kLarge);
  EXPECT_EQ(heard_by(1).at(0).came, static_cast<std::int64_t>(Outstanding::kLarge)) << "nothing was told lately";
  go(1);
  EXPECT_TRUE(heard_by(1).empty());
  EXPECT_EQ(heard_by(1, false, Backlogs::kTellsLittle).at(0).gone, static_cast<std::int64_t>(Outstanding::kLarge));
}

TEST_F(OfOthers, OnceInAMillisecond) {
  for (int k = 0; k < 12; ++k) come(1);
  ASSERT_EQ(heard_by(1).size(), 1u);
  EXPECT_LE(backlogs.next(Clock::time_point::max()), now + Backlogs::kTells);
  go(2);
  backlogs.turn(now + Backlogs::kTells / 2, false);
  EXPECT_EQ(heard_by(1).size(), 1u) << "of both looks";
}

TEST_F(OfOthers, WhetherFragmentsRunThatMayReadMuch) {
  come(1), come(1);
  EXPECT_FALSE(heard_by(1, true).at(0).busy) << "little is soon read";
  for (int k = 0; k < 10; ++k) come(1);
  EXPECT_TRUE(heard_by(1, true).at(0).busy);
  EXPECT_TRUE(heard_by(1, true).empty());
  EXPECT_FALSE(heard_by(1).at(0).busy);
  EXPECT_TRUE(heard_by(1).empty());
}

TEST_F(OfOthers, WhoWaitsAsksAndIsAnswered) {
  EXPECT_TRUE(heard_by(1).empty());
  backlogs.want();
  EXPECT_LE(backlogs.next(Clock::time_point::max()), now);
  const auto asked = heard_by(1);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0].asks);
  EXPECT_EQ(heard_by(2).size(), 1u);
  backlogs.want();
  EXPECT_TRUE(heard_by(1).empty()) << "not at once again";
  EXPECT_EQ(heard_by(1, false, Backlogs::kAsks).size(), 1u);
  // Asked itself it answers, and says when that is no longer true.
  backlogs.on(Rank{2}, {.asks = true}, true);
  const auto answer = heard_by(2, true);
  ASSERT_FALSE(answer.empty());
  EXPECT_TRUE(answer.back().busy);
  EXPECT_TRUE(answer.back().answers);
  EXPECT_FALSE(answer.back().asks);
  EXPECT_FALSE(heard_by(2, false, Backlogs::kTellsLittle).at(0).busy);
}

// Who runs fragments may have no core for messages: what it has not said is no reason to think that it runs none.
TEST_F(OfOthers, WhoHasMuchOfThisRankAndDoesNotAnswerIsSilent) {
  backlogs.want();
  heard_by(1);
  EXPECT_FALSE(backlogs.silent()) << "nobody has anything";
  comm.outstanding.sent(Rank{2}, Outstanding::kLeast);
  backlogs.want();
  heard_by(1, false, Backlogs::kAsks);
  EXPECT_TRUE(backlogs.silent());
  backlogs.on(Rank{2}, {.came = kMb}, false);
  EXPECT_TRUE(backlogs.silent()) << "that was no answer";
  backlogs.on(Rank{1}, {.answers = true}, false);
  EXPECT_TRUE(backlogs.silent()) << "it was another one";
  backlogs.on(Rank{2}, {.answers = true}, false);
  EXPECT_FALSE(backlogs.silent());
  EXPECT_FALSE(backlogs.busy());
}

TEST_F(OfOthers, SmallValuesAreNotLookedAt) {
  for (int k = 0; k < 4000; ++k) come(1, Outstanding::kLarge - 1);
  EXPECT_TRUE(heard_by(1, false, Backlogs::kTellsLittle).empty());
}

TEST_F(OfOthers, SomebodyElseRunsFragments) {
  backlogs.on(Rank{1}, {.busy = true}, false);
  backlogs.on(Rank{2}, {.busy = true}, false);
  backlogs.on(Rank{1}, {.busy = false}, false);
  EXPECT_TRUE(backlogs.busy());
  backlogs.on(Rank{2}, {.busy = false}, false);
  EXPECT_FALSE(backlogs.busy());
}

// What leaves counts at once, and no longer than until it is said to have gone, whenever that is heard.
TEST(Outstanding, WhatHasBeenSentLessWhatHasGone) {
  Outstanding out(3);
  out.sent(Rank{1}, 6 * kMb);
  EXPECT_EQ(out.bytes(), 0) << "little with one rank";
  EXPECT_EQ(out.on_its_way(), 6 * kMb);
  out.sent(Rank{1}, 4 * kMb);
  out.sent(Rank{2}, 7 * kMb);
  out.sent(Rank{2}, Outstanding::kLarge - 1);
  EXPECT_EQ(out.bytes(), 10 * kMb);
  EXPECT_EQ(out.on_its_way(), 17 * kMb);
  out.told(Rank{1}, 10 * kMb, kMb);
  EXPECT_EQ(out.bytes(), 9 * kMb);
  EXPECT_EQ(out.on_its_way(), 7 * kMb);
  out.told(Rank{1}, 0, 2 * kMb);
  EXPECT_EQ(out.bytes(), 0);
  out.sent(Rank{2}, kMb);
  out.told(Rank{1}, 0, 7 * kMb);
  EXPECT_EQ(out.bytes(), 8 * kMb);
  out.told(Rank{2}, 8 * kMb, 8 * kMb);
  EXPECT_EQ(out.bytes(), 0);
  EXPECT_EQ(out.on_its_way(), 0);
}

}  // namespace
}  // namespace tessera::runtime
