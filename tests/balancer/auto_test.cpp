// `auto`: plans of a coordinator, backed by stealing.
#include <algorithm>

#include "script.hpp"

namespace tessera::balancer {
namespace {

constexpr Time kPatience = 50'000;

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

// The coordinator hears of a theft as of what it has ordered.
TEST(Auto, WhatAThiefTakesTheCoordinatorHearsOf) {
  Script s("auto", setup(0, 2, 1));
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 40, 0}}, {done(0, 1, 20 * kMs)}});
  const auto stolen = all<Ship>(s.at(kMs, from(1, StealRequest{7, true})));
  ASSERT_EQ(stolen.size(), 1u);
  const auto told = sent<Confirm>(s.at(kMs, Shipped{stolen[0].ticket, Rank{1}, {{Group{0}, 20}}, 0}));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].second.ticket, stolen[0].ticket);
  EXPECT_EQ(taken_from(told[0].second.ticket), Rank{0});
  EXPECT_EQ(told[0].second.fragments, (std::vector<GroupCount>{{Group{0}, 20}}));
}

// Rank 0 gave the thief 20 when the coordinator could not know of it.
TEST(Auto, AnOrderThatCrossesATheftSendsAsManyLess) {
  for (const std::int64_t ordered : {12, 20, 25}) {
    Script s("auto", setup(0, 3, 1));
    s.at(0, WentBusy{});
    s.at(0, LoadChanged{{{Group{0}, 60, 0}}, {done(0, 1, 20 * kMs)}});
    const auto stolen = all<Ship>(s.at(kMs, from(1, StealRequest{7, true})));
    ASSERT_EQ(stolen.size(), 1u);
    s.at(kMs, Shipped{stolen[0].ticket, Rank{1}, {{Group{0}, 20}}, 0});
    const Actions then = s.at(kMs + 1000, from(2, Order{1, Rank{1}, {{Group{0}, ordered}}}));
    const auto went = all<Ship>(then);
    const auto told = sent<Confirm>(then);
    if (ordered > 20) {
      ASSERT_EQ(went.size(), 1u);
      EXPECT_EQ(went[0].fragments, (std::vector<GroupCount>{{Group{0}, ordered - 20}}));
    } else {
      EXPECT_TRUE(went.empty());
      ASSERT_EQ(told.size(), 1u);
      EXPECT_TRUE(told[0].second.fragments.empty());
    }
    s.note("others get what was ordered for them, and later orders are about what is left");
    EXPECT_EQ(all<Ship>(s.at(kMs + 2000, from(2, Order{2, Rank{2}, {{Group{0}, 5}}}))).size(), 1u);
    EXPECT_EQ(all<Ship>(s.at(kS, from(2, Order{3, Rank{1}, {{Group{0}, 5}}}))).size(), 1u);
  }
}

// It asked before it had what a plan has sent it.
TEST(Auto, AThiefThatAPlanHasJustSentSomethingIsRefused) {
  Script s("auto", setup(0, 2, 1));
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 40, 0}}, {done(0, 1, 20 * kMs)}});
  ASSERT_EQ(all<Ship>(s.at(kMs, from(1, Order{1, Rank{1}, {{Group{0}, 15}}}))).size(), 1u);
  s.at(kMs, Shipped{1, Rank{1}, {{Group{0}, 15}}, 0});
  const Actions crossed = s.at(kMs + 10'000, from(1, StealRequest{7, true}));
  EXPECT_TRUE(all<Ship>(crossed).empty());
  EXPECT_EQ(sent<StealRefuse>(crossed).size(), 1u);
  EXPECT_EQ(all<Ship>(s.at(20 * kMs, from(1, StealRequest{8, true}))).size(), 1u);
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
  EXPECT_EQ(patience->at, 10 * kMs + kPatience);
  EXPECT_EQ(sent<StealRequest>(s.at(patience->at, TimerFired{16})).size(), 1u);
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

// In the beginning four others are to know of a rank that has nothing; it does not ask a fifth before it has been
// patient.
TEST(Auto, ARankThatHasHadNothingAsksFourOthersAtOnce) {
  Script s("auto", setup(1, 8, 1));
  Actions then = s.at(0, WentIdle{});
  for (Time now = kPatience / 8; now <= kPatience / 2; now += kPatience / 8) {
    const auto asked = sent<StealRequest>(then);
    ASSERT_EQ(asked.size(), 1u) << now;
    then = s.at(now, from(index(asked[0].first), StealRefuse{asked[0].second.number}));
  }
  EXPECT_TRUE(sent<StealRequest>(then).empty());
  EXPECT_EQ(all<SetTimer>(then).size(), 1u);
}

// Four became ready for each that ended. Half goes to who may make others of it; who makes none of it gets no more than
// everybody would have, and the coordinator hears of what is left.
TEST(Auto, WhatBecomesReadyInOnePlaceOnlyIsNoSearch) {
  for (const Offspring made : {Offspring::unknown, Offspring::none}) {
    Script s("auto", setup(0, 4, 1));
    s.at(0, WentBusy{});
    s.at(0, LoadChanged{{{Group{0}, 40, 0}}, {}});
    s.at(0, from(3, ReportSeen{0}));
    s.at(10 * kMs, LoadChanged{{{Group{0}, 100, 0}}, {GroupDone{Group{0}, 20, 20 * kMs, 20e12}}});
    const Actions given = s.at(11 * kMs, from(2, StealRequest{1, true, 0, made}));
    const auto shipped = all<Ship>(given);
    ASSERT_EQ(shipped.size(), 1u);
    EXPECT_EQ(shipped[0].fragments, (std::vector<GroupCount>{{Group{0}, made == Offspring::none ? 25 : 50}}));
    EXPECT_EQ(sent<Report>(given).size(), made == Offspring::none ? 1u : 0u);
  }
}

TEST(Auto, WhoAsksSaysWhetherItsFragmentsMadeOthers) {
  Script s("auto", setup(0, 3, 1));
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 20, 0}}, {}});
  s.at(10 * kMs, LoadChanged{{{Group{0}, 0, 0}}, {GroupDone{Group{0}, 20, 20 * kMs, 20e12}}});
  s.at(10 * kMs, WentIdle{});
  const auto asked = sent<StealRequest>(s.at(15 * kMs, TimerFired{16}));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].second.made, Offspring::none);
}

// Until it was woken nobody had anything: the coordinator could not serve it, and now gets the time to.
TEST(Auto, WhoIsWokenIsPatientOnceMore) {
  Script s("auto", setup(0, 2, 1));
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 1, 0}}, {done(0, 1, 20 * kMs)}});
  s.at(10 * kMs, LoadChanged{{{Group{0}, 0, 0}}, {}});
  s.at(10 * kMs, WentIdle{});
  const auto asked = sent<StealRequest>(s.at(15 * kMs, TimerFired{16}));
  ASSERT_EQ(asked.size(), 1u);
  s.at(16 * kMs, from(1, StealRefuse{asked[0].second.number}));
  const Actions woken = s.at(50 * kMs, from(1, StealWake{}));
  EXPECT_TRUE(sent<StealRequest>(woken).empty());
  ASSERT_EQ(all<SetTimer>(woken).size(), 1u);
  EXPECT_EQ(all<SetTimer>(woken)[0].at, 50 * kMs + kPatience);
  EXPECT_EQ(sent<StealRequest>(s.at(50 * kMs + kPatience, TimerFired{16})).size(), 1u);
}

TEST(Auto, ACallIsAnsweredAtOnce) {
  Script s("auto", setup(1, 3, 1));
  const auto asked = sent<StealRequest>(s.at(kMs, from(0, StealWake{})));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].first, Rank{0});
}

std::vector<Rank> called(const Actions& actions) {
  std::vector<Rank> ranks;
  for (const auto& [to, wake] : sent<StealWake>(actions)) {
    if (wake.call) ranks.push_back(to);
  }
  return ranks;
}

// Rank 0 called 1, 2, 4 and 8: 5, 6 and 7 hear of it from 4, and nobody hears twice.
TEST(Auto, ACallIsPassedOnOnceToTheRanksBetween) {
  Script s("auto", setup(4, 16, 1));
  EXPECT_EQ(called(s.at(kMs, from(0, StealWake{true}))), (std::vector{Rank{5}, Rank{6}}));
  EXPECT_TRUE(called(s.at(2 * kMs, from(3, StealWake{true}))).empty());
}

TEST(Auto, AWakeIsNotPassedOn) {
  Script s("auto", setup(4, 16, 1));
  EXPECT_TRUE(sent<StealWake>(s.at(kMs, from(0, StealWake{}))).empty());
}

// Asks until refused by `refusals` ranks; how often it asked.
int asks(Script& s, Time now, Actions actions, int refusals) {
  int n = 0;
  for (; n < refusals; ++n) {
    const auto asked = sent<StealRequest>(actions);
    if (asked.empty()) break;
    actions = s.at(now, from(index(asked[0].first), StealRefuse{asked[0].second.number}));
  }
  return n;
}

TEST(Auto, WhoWasCalledIsNotPatient) {
  Script s("auto", setup(4, 16, 1));
  EXPECT_EQ(asks(s, kMs, s.at(kMs, from(0, StealWake{true})), 8), 8);
}

TEST(Auto, WhoWasCalledIsPatientAgainWhenItsOwnFragmentsMakeNone) {
  Script s("auto", setup(4, 16, 1));
  s.at(0, WentBusy{});
  s.at(0, LoadChanged{{{Group{0}, 20, 0}}, {}});
  s.at(kMs, from(0, StealWake{true}));
  const Actions dry = s.at(2 * kMs, LoadChanged{{{Group{0}, 0, 0}}, {GroupDone{Group{0}, 20, 20 * kMs, 20e12}}});
  EXPECT_EQ(asks(s, 2 * kMs, dry, 8), 1) << "who called, nobody else";
}

// Reports of a search tell the coordinator nothing, and keep it from answering thieves.
TEST(Auto, WhatWasStolenIsNoUrgentNewsAndLessSoWhereFragmentsMakeOthers) {
  for (const bool call : {false, true}) {
    Script s("auto", setup(0, 4, 1));
    s.at(0, WentIdle{});
    s.at(kMs, from(1, StealWake{call}));
    Actions all_actions = s.at(kMs, Arrived{Rank{1}, {{Group{0}, 9}}, theft_from(Rank{1}) | 1});
    for (const Action& a : s.at(kMs, LoadChanged{{{Group{0}, 9, 0}}, {}})) all_actions.push_back(a);
    EXPECT_TRUE(sent<Report>(all_actions).empty());
    Time at = 0;
    for (const SetTimer& t : all<SetTimer>(all_actions)) at = t.timer == 1 ? t.at : at;
    EXPECT_EQ(at, kMs + (call ? 50 : 5) * kMs);
  }
}

// Each that ended made another: 1 us is worth no message, 20 ms are.
TEST(Auto, OfASearchThatNoPlanMovesReportsComeOnceASecond) {
  for (const Time weight : {Time{1000}, 20 * kMs}) {
    Script s("auto", setup(0, 4, 1));
    ASSERT_EQ(sent<Report>(s.at(0, LoadChanged{{{Group{0}, 30, 0}}, {}})).size(), 1u);
    s.at(kMs, from(3, ReportSeen{0}));
    const auto sum = 20 * weight;
    const double squares = 20.0 * static_cast<double>(weight) * static_cast<double>(weight);
    Time at = 0;
    for (const SetTimer& t :
         all<SetTimer>(s.at(kMs, LoadChanged{{{Group{0}, 30, 0}}, {GroupDone{Group{0}, 20, sum, squares}}}))) {
      at = t.timer == 1 ? t.at : at;
    }
    EXPECT_EQ(at, weight == 1000 ? kS : 50 * kMs);
  }
}

// What rank 0 tells of so many that are ready after `ended` have.
Event step_of(std::int64_t ready, std::int64_t ended) {
  LoadChanged e{{{Group{0}, ready, 0}}, {}};
  if (ended > 0) e.finished = {done(0, ended, 20 * kMs)};
  return e;
}

// In a step 40 become ready on rank 0, and 10 and 18 of them go to ranks 1 and 2. In the next step these get as many at
// once, but none more than a quarter of all. What rank 0 does itself is not dealt out.
TEST(Auto, WhatBecomesReadyAgainGoesWhereItWentTheLastTime) {
  Script s("auto", setup(0, 4, 1));
  for (const std::int32_t r : {1, 2, 3}) s.at(0, LinkMeasured{Rank{r}, kMs / 10, 1e9});
  s.at(0, WentBusy{});
  EXPECT_TRUE(all<Ship>(s.at(0, step_of(40, 0))).empty());
  s.at(kMs, Shipped{1, Rank{1}, {{Group{0}, 10}}, 0});
  s.at(kMs, Shipped{2, Rank{2}, {{Group{0}, 18}}, 0});
  s.at(9 * kMs, step_of(0, 12));
  const auto dealt = all<Ship>(s.at(10 * kMs, step_of(40, 0)));
  ASSERT_EQ(dealt.size(), 2u);
  EXPECT_EQ(dealt[0].to, Rank{1});
  EXPECT_EQ(dealt[0].fragments, (std::vector<GroupCount>{{Group{0}, 10}}));
  EXPECT_EQ(dealt[1].to, Rank{2});
  EXPECT_EQ(dealt[1].fragments, (std::vector<GroupCount>{{Group{0}, 10}}));
  s.note("once");
  EXPECT_TRUE(all<Ship>(s.at(10 * kMs, step_of(40, 0))).empty());
  s.note("who plans hears of it as of a theft; nobody is refused if nothing went");
  const Actions went = s.at(10 * kMs, Shipped{dealt[0].ticket, Rank{1}, {{Group{0}, 10}}, 0});
  EXPECT_EQ(sent<Confirm>(went).size(), 1u);
  const Actions nothing = s.at(10 * kMs, Shipped{dealt[1].ticket, Rank{2}, {}, 0});
  EXPECT_TRUE(sent<StealRefuse>(nothing).empty());
}

// Of few that become ready one after the other this rank keeps some.
TEST(Auto, OneThatBecomesReadyIsNotDealtOut) {
  Script s("auto", setup(0, 2, 1));
  s.at(0, LinkMeasured{Rank{1}, kMs / 10, 1e9});
  s.at(0, WentBusy{});
  s.at(0, step_of(1, 1));
  s.at(kMs, Shipped{1, Rank{1}, {{Group{0}, 1}}, 0});
  s.at(kMs, step_of(0, 0));
  EXPECT_TRUE(all<Ship>(s.at(2 * kMs, step_of(1, 0))).empty());
}

}  // namespace
}  // namespace tessera::balancer
