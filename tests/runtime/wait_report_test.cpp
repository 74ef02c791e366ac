// What `status --waiting` tells, of what ranks say: what is waited for in the end, by how many, and who makes it.
#include <gtest/gtest.h>

#include "runtime/report/wait_graph.hpp"
#include "runtime/report/waits_now.hpp"

namespace tessera::runtime {
namespace {

// Ranks of which each has fragments that wait, and one that runs.
class Told : public testing::Test {
 protected:
  Told() : ranks(2) {}
  void waits(std::size_t rank, std::vector<std::uint64_t> needs, std::vector<std::uint64_t> gives,
             std::vector<std::uint64_t> may_give = {}) {
    WaitingFragment f;
    for (const std::uint64_t n : needs) f.needs.push_back({n, n});
    f.gives = std::move(gives);
    f.may_give = std::move(may_give);
    f.write(ranks[rank].now.waits.words);
    ++ranks[rank].now.waits.count;
  }
  void runs(std::size_t rank, const std::string& text, std::vector<std::uint64_t> gives) {
    RunningFragment f;
    f.text = text, f.seconds = 2.5, f.gives = std::move(gives);
    ranks[rank].now.running.push_back(std::move(f));
  }
  void says(std::uint64_t name, const std::string& waiter, const std::string& slot,
            const std::string& producers = "p") {
    ranks[1].now.waits.lines.push_back({name, waiter, slot, producers});
  }
  std::vector<Totals> ranks;
};

TEST_F(Told, AChainBehindOneThatRuns) {
  runs(1, "slow", {10});
  for (std::uint64_t k = 10; k < 20; ++k) waits(0, {k}, {k + 1});
  const WaitReport r(ranks);
  EXPECT_EQ(r.waiting(), 10);
  ASSERT_EQ(r.names(), std::vector<std::uint64_t>{10});
  says(10, "next (i=1)", "x[0]");
  const auto lines = r.lines(ranks);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].behind, 10);
  EXPECT_EQ(lines[0].rank, 1);
  EXPECT_EQ(lines[0].maker.text, "slow");
  EXPECT_EQ(r.more(lines), 0);
}

// Another one that waits might make it, too; but somebody is at it.
TEST_F(Told, WhatIsBeingMadeIsACause) {
  runs(1, "slow", {10});
  waits(0, {10}, {});
  waits(0, {50}, {}, {10});
  EXPECT_EQ(WaitReport(ranks).names().size(), 2u);
}

TEST_F(Told, WhatMostWaitForComesFirst) {
  waits(0, {30}, {});
  waits(1, {40}, {41});
  waits(1, {41}, {42});
  waits(0, {42}, {});
  const WaitReport r(ranks);
  EXPECT_EQ(r.names(), (std::vector<std::uint64_t>{40, 30}));
}

// Twelve that are told alike, one that somebody makes, and many others: eight lines.
TEST_F(Told, OnceWhatIsAlike) {
  for (std::uint64_t k = 0; k < 12; ++k) waits(0, {100 + k}, {}), says(100 + k, "join", k % 2 == 0 ? "a" : "b");
  waits(0, {200}, {}), says(200, "join", "a");
  runs(0, "leaf", {200});
  for (std::uint64_t k = 0; k < 11; ++k) waits(1, {300 + k}, {}), says(300 + k, "other " + std::to_string(k), "c");
  const WaitReport r(ranks);
  EXPECT_EQ(r.names().size(), 24u);
  const auto lines = r.lines(ranks);
  ASSERT_EQ(lines.size(), 8u);
  std::int64_t told = 0;
  int made = 0;
  for (const auto& l : lines) {
    told += 1 + l.alike;
    made += l.rank == 0 ? 1 : 0;
    if (l.waits.waiter != "join" || l.rank >= 0) continue;
    EXPECT_EQ(l.alike, 11);
    EXPECT_TRUE(l.waits.slot == "a`, `b" || l.waits.slot == "b`, `a") << l.waits.slot;
  }
  EXPECT_EQ(made, 1) << "who is made is told by itself";
  EXPECT_EQ(r.more(lines), 24 - told);
}

// What comes from elsewhere is told by itself, also where the same waits for it. Of some nobody has answered, of
// one two ranks have: the first one's word counts. And there are more values than are asked for.
TEST_F(Told, ByItselfWhatIsMadeElsewhere) {
  for (std::uint64_t k = 0; k < 30; ++k) {
    for (std::uint64_t n = k; n < 30; ++n) waits(0, {100 + k}, {});
    if (k != 0) says(100 + k, "join", "a", k % 2 == 0 ? "even" : "odd");
  }
  ranks[0].now.waits.lines.push_back({101, "join", "of rank 0", "odd"});
  const WaitReport r(ranks);
  EXPECT_EQ(r.names().size(), 24u);
  const auto lines = r.lines(ranks);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].waits.producers, "odd");
  EXPECT_EQ(lines[0].waits.slot, "of rank 0`, `a");
  EXPECT_EQ(lines[0].alike, 11);
  EXPECT_EQ(lines[1].alike, 10);
  EXPECT_EQ(r.more(lines), 30 - 23);
}

TEST_F(Told, NothingOfWhatNobodyHasAnswered) {
  waits(0, {30}, {});
  const WaitReport r(ranks);
  EXPECT_TRUE(r.lines(ranks).empty());
  EXPECT_EQ(r.more({}), 1);
}

}  // namespace
}  // namespace tessera::runtime
