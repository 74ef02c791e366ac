// What a host tells its policy, when, and in which order (balancer/host.hpp).
#include "balancer/host.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

namespace tessera::balancer {
namespace {

constexpr Rank kSelf{0}, kOther{1};

// Answers as the test says, and keeps what it was told: "busy", "load 3", "arrived", ...
struct Told {
  std::string events;
  std::function<void(const Event&, Actions&)> answer = [](const Event&, Actions&) {};
};
std::string text(const Event& e) {
  if (std::holds_alternative<WentBusy>(e)) return "busy";
  if (std::holds_alternative<WentIdle>(e)) return "idle";
  if (std::holds_alternative<Arrived>(e)) return "arrived";
  if (std::holds_alternative<Shipped>(e)) return "shipped";
  if (const auto* t = std::get_if<TimerFired>(&e)) return "timer " + std::to_string(t->timer);
  if (const auto* r = std::get_if<Received>(&e)) return "from " + std::to_string(index(r->from));
  const auto* load = std::get_if<LoadChanged>(&e);
  if (load == nullptr) return "?";
  std::string text = "load";
  for (const GroupLoad& g : load->ready) text += " " + std::to_string(index(g.group)) + ":" + std::to_string(g.ready);
  for (const GroupDone& g : load->finished) text += " +" + std::to_string(g.count);
  return text;
}
class Listener final : public Policy {
 public:
  explicit Listener(Told& told) : told_(told) {}
  void step(Time, const Event& e, Actions& out) override {
    told_.events += (told_.events.empty() ? "" : ", ") + text(e);
    told_.answer(e, out);
  }

 private:
  Told& told_;
};

// A rank with two groups, whose load the test sets.
struct TestRank final : HostedRank {
  Time clock = 0;
  std::int64_t ready[2] = {0, 0};
  std::int64_t done = 0, running = 0;
  int sent = 0, shipments = 0;

  Time now() const override { return clock; }
  bool idle() const override { return running + ready[0] + ready[1] == 0; }
  bool beginning() const override { return running == 0 && !idle(); }
  void look(std::vector<GroupLoad>& loads, std::vector<GroupDone>& finished) override {
    for (std::uint32_t g = 0; g < 2; ++g) loads.push_back({Group{g}, ready[g], 0});
    if (done > 0) finished.push_back({Group{0}, std::exchange(done, 0), 1000, 0});
  }
  void answered(Time, const Event&, const Actions&) override {}
  void send(Rank, const Message&) override { ++sent; }
  Shipped ship(const Ship& s) override {
    ++shipments;
    ready[0] -= s.fragments[0].count;
    return {s.ticket, s.to, s.fragments, 0};
  }
  void decide(const Decide&) override {}
};

struct HostTest : ::testing::Test {
  Told told;
  TestRank rank;
  Host host{std::make_unique<Listener>(told), kSelf, 2, 0, rank};

  std::string report_at(Time t) {
    rank.clock = t;
    told.events.clear();
    host.report(t);
    return told.events;
  }
};

TEST_F(HostTest, BusyComesBeforeTheLoadAndIdleAfterIt) {
  rank.running = 1;
  rank.ready[1] = 3;
  EXPECT_EQ(report_at(0), "busy, load 1:3");
  rank.running = rank.ready[1] = 0;
  rank.done = 4;
  EXPECT_EQ(report_at(kReportInterval), "load 1:0 +4, idle");
}

TEST_F(HostTest, OnlyWhatHasChangedIsTold) {
  rank.running = 1;
  rank.ready[0] = 2;
  rank.ready[1] = 3;
  report_at(0);
  EXPECT_EQ(report_at(1), "");
  rank.ready[1] = 5;
  EXPECT_EQ(report_at(2), "load 1:5");
}

// Policies wait for a LoadChanged after a WentBusy, an Arrived and a Shipped, be it empty.
TEST_F(HostTest, AnEmptyLoadFollowsWhatCameOrWent) {
  rank.running = 1;
  EXPECT_EQ(report_at(0), "busy, load");
  host.tell(Arrived{kOther, {{Group{0}, 1}}, 7});
  EXPECT_EQ(report_at(1), "load");
  EXPECT_EQ(report_at(2), "");
}

TEST_F(HostTest, WhatAnActionCausesIsToldAfterItsStep) {
  rank.running = 1;
  rank.ready[0] = 4;
  told.answer = [](const Event& e, Actions& out) {
    if (!std::holds_alternative<WentBusy>(e)) return;
    out.push_back(Ship{1, kOther, {{Group{0}, 4}}});
    out.push_back(Send{kSelf, Message{}});
    out.push_back(Send{kOther, Message{}});
  };
  EXPECT_EQ(report_at(0), "busy, shipped, from 0, load");
  EXPECT_EQ(rank.sent, 1);
  EXPECT_EQ(rank.shipments, 1);
}

// All was given away in answer to the report that told of it, and nothing runs.
TEST_F(HostTest, WhoGivesAllAwayIsIdleWithTheReportThatSaysSo) {
  rank.ready[0] = 4;
  told.answer = [](const Event& e, Actions& out) {
    const auto* load = std::get_if<LoadChanged>(&e);
    if (load != nullptr && !load->ready.empty() && load->ready[0].ready > 0)
      out.push_back(Ship{1, kOther, {{Group{0}, 4}}});
  };
  EXPECT_EQ(report_at(0), "busy, load 0:4, shipped");
  EXPECT_EQ(report_at(kUrgentInterval), "load 0:0, idle");
}

TEST_F(HostTest, ReportsKeepTheirDistance) {
  rank.running = 1;
  report_at(1000);
  EXPECT_EQ(host.report_due(false), 1000 + kReportInterval);
  EXPECT_EQ(host.report_due(true), 1000 + kUrgentInterval);
  EXPECT_FALSE(host.time_to_report(999 + kUrgentInterval, true));
  EXPECT_TRUE(host.time_to_report(1000 + kUrgentInterval, true));
  EXPECT_FALSE(host.time_to_report(1000 + kUrgentInterval, false));
  EXPECT_TRUE(host.time_to_report(1000 + kReportInterval, false));
}

TEST_F(HostTest, WhatIsAboutToBeginIsToldWhenItHas) {
  rank.ready[0] = 1;
  EXPECT_FALSE(host.time_to_report(0, false));
  EXPECT_EQ(host.report_due(false), kUrgentInterval);
  rank.ready[0] = 0;
  rank.running = 1;
  EXPECT_TRUE(host.time_to_report(1, false));
  EXPECT_EQ(report_at(1), "busy, load");
}
TEST_F(HostTest, WhatDoesNotBeginIsToldAllTheSame) {
  rank.ready[0] = 1;
  EXPECT_FALSE(host.time_to_report(0, false));
  EXPECT_FALSE(host.time_to_report(kUrgentInterval - 1, false));
  EXPECT_TRUE(host.time_to_report(kUrgentInterval, false));
  EXPECT_EQ(report_at(kUrgentInterval), "busy, load 0:1");
}
// Who is busy anyway tells at once of what comes.
TEST_F(HostTest, OnlyAnIdleRankWaitsForTheBeginning) {
  rank.running = 1;
  report_at(0);
  rank.running = 0;
  rank.ready[0] = 1;
  EXPECT_TRUE(host.time_to_report(kReportInterval, false));
}

TEST_F(HostTest, TimersFireInTheOrderOfTheirTimes) {
  told.answer = [](const Event& e, Actions& out) {
    if (!std::holds_alternative<RankJoined>(e)) return;
    out = {SetTimer{1, 30}, SetTimer{2, 10}, SetTimer{3, 10}, SetTimer{4, 5},
           SetTimer{5, 7},  SetTimer{4, 20}, CancelTimer{5}};
  };
  host.tell(RankJoined{kOther});
  EXPECT_EQ(host.timers().next()->at, 10);
  told.events.clear();
  host.fire_until(25);
  EXPECT_EQ(told.events, "timer 2, timer 3, timer 4");
  host.fire_until(29);
  EXPECT_EQ(told.events, "timer 2, timer 3, timer 4");
  host.fire_until(30);
  EXPECT_EQ(told.events, "timer 2, timer 3, timer 4, timer 1");
  EXPECT_FALSE(host.timers().next());
}
TEST_F(HostTest, ATimerThatWasSetAnewIsNotTaken) {
  Timers timers;
  const Timer first = timers.set(1, 10);
  const Timer second = timers.set(1, 10);
  EXPECT_FALSE(timers.take(first));
  EXPECT_TRUE(timers.take(second));
  EXPECT_FALSE(timers.take(second));
}

}  // namespace
}  // namespace tessera::balancer
