// `auto`: plans of a coordinator, backed by stealing.
#include <algorithm>

#include "script.hpp"

namespace tessera::balancer {
namespace {

Received from(std::int32_t rank, Message m) { return {Rank{rank}, std::move(m)}; }

// Rank 0 of two; the coordinator is on rank 1.
TEST(Auto, ShipmentsOfPlansAndThoseOfThievesKeepApart) {
  Script s("auto", setup(0, 2, 1));
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 40, 0}}, {done(0, 1, 20 * kMs)}});
  const auto stolen = all<Ship>(s.at(kMs, from(1, StealRequest{7, true})));
  ASSERT_EQ(stolen.size(), 1u);
  EXPECT_EQ(stolen[0].fragments, (std::vector<GroupCount>{{Group{0}, 20}}));
  const auto ordered = all<Ship>(s.at(kMs, from(1, Order{1, Rank{1}, {{Group{0}, 3}}})));
  ASSERT_EQ(ordered.size(), 1u);
  EXPECT_NE(ordered[0].ticket, stolen[0].ticket);
  s.note("nothing went to the thief: only the thief hears of it");
  const Actions refused = s.at(2 * kMs, Shipped{stolen[0].ticket, Rank{1}, {}, 0});
  EXPECT_EQ(sent<StealRefuse>(refused).size(), 1u);
  EXPECT_TRUE(sent<Confirm>(refused).empty());
  const Actions confirmed = s.at(2 * kMs, Shipped{1, Rank{1}, {{Group{0}, 3}}, 0});
  EXPECT_EQ(sent<Confirm>(confirmed).size(), 1u);
  EXPECT_TRUE(sent<StealRefuse>(confirmed).empty());
  s.expect_golden("auto_tickets");
}

TEST(Auto, ARankThatTheCoordinatorLeavesEmptyAsksAfterAWhile) {
  Script s("auto", setup(0, 3, 1));
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 1, 0}}, {done(0, 1, 20 * kMs)}});
  s.at(10 * kMs, LoadChanged{{{Group{0}, 0, 0}}, {}});
  const Actions idle = s.at(10 * kMs, WentIdle{});
  EXPECT_TRUE(sent<StealRequest>(idle).empty());
  const auto timers = all<SetTimer>(idle);
  const auto patience = std::find_if(timers.begin(), timers.end(), [](const SetTimer& t) { return t.timer == 16; });
  ASSERT_NE(patience, timers.end());
  EXPECT_EQ(patience->at, 15 * kMs);
  EXPECT_EQ(sent<StealRequest>(s.at(15 * kMs, TimerFired{16})).size(), 1u);
}

// What it gets is to last until the coordinator serves it: of halves of halves the first would have most of a loop.
TEST(Auto, WhoAsksGetsAsMuchAsEverybodyWouldHave) {
  Script s("auto", setup(0, 4, 1));
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 100, 0}}, {done(0, 1, 20 * kMs)}});
  const auto shipped = all<Ship>(s.at(kMs, from(2, StealRequest{1, true, 0})));
  ASSERT_EQ(shipped.size(), 1u);
  EXPECT_EQ(shipped[0].fragments, (std::vector<GroupCount>{{Group{0}, 25}}));
}

// In the beginning two others are to know of a rank that has nothing; it does not ask a third before it has been patient.
TEST(Auto, ARankThatHasHadNothingAsksTwoOthersAtOnce) {
  Script s("auto", setup(1, 8, 1));
  const auto first = sent<StealRequest>(s.at(0, WentIdle{}));
  ASSERT_EQ(first.size(), 1u);
  const auto second = sent<StealRequest>(s.at(kMs, from(index(first[0].first), StealRefuse{first[0].second.number})));
  ASSERT_EQ(second.size(), 1u);
  const Actions then = s.at(2 * kMs, from(index(second[0].first), StealRefuse{second[0].second.number}));
  EXPECT_TRUE(sent<StealRequest>(then).empty());
  EXPECT_EQ(all<SetTimer>(then).size(), 1u);
}

TEST(Auto, ACallIsAnsweredAtOnce) {
  Script s("auto", setup(1, 3, 1));
  const auto asked = sent<StealRequest>(s.at(kMs, from(0, StealWake{})));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].first, Rank{0});
}

}  // namespace
}  // namespace tessera::balancer
