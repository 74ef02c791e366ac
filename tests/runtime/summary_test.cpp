// The figures of a summary, from the totals of the ranks.
#include "runtime/report/summary.hpp"

#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

Summary run(std::vector<double> busy, double seconds, std::int64_t threads = 1) {
  Summary s;
  s.seconds = seconds;
  s.worker_ranks = static_cast<std::int32_t>(busy.size());
  for (const double b : busy) {
    Totals t;
    t.busy = b;
    t.here = seconds;  // from the start to the end
    t.threads = threads;
    s.ranks.push_back(t);
  }
  return s;
}

TEST(Summary, Imbalance) {
  EXPECT_DOUBLE_EQ(run({3, 2, 1}, 3).imbalance(), 1);
  EXPECT_DOUBLE_EQ(run({2, 2}, 3).imbalance(), 0);
  EXPECT_DOUBLE_EQ(run({0, 0}, 3).imbalance(), 0);
}

TEST(Summary, SpeedUpAndOptimum) {
  EXPECT_DOUBLE_EQ(run({2, 2, 1}, 2).speed_up(), 2.5);
  EXPECT_DOUBLE_EQ(run({2, 2, 1}, 2).optimum(), 3);
  EXPECT_DOUBLE_EQ(run({4, 4}, 2, 2).speed_up(), 2) << "against a rank with its two threads";
  EXPECT_DOUBLE_EQ(run({4, 4}, 2, 2).optimum(), 2);
}

// Two seconds on a rank of half the power are one on the fastest.
TEST(Summary, SpeedUpIsAgainstTheFastest) {
  Summary s = run({2, 2, 2}, 2);
  s.powers = {2, 1};  // the third: 1
  EXPECT_DOUBLE_EQ(s.optimum(), 2);
  EXPECT_DOUBLE_EQ(s.speed_up(), 2);
}

TEST(Summary, ARankThatOnlyCoordinatesAddsNoPower) {
  Summary s = run({2, 2, 0}, 2);
  s.worker_ranks = 2;
  s.ranks[2].threads = 0;
  EXPECT_DOUBLE_EQ(s.optimum(), 2);
  EXPECT_DOUBLE_EQ(s.speed_up(), 2);
}

// On a busy machine a rank may begin long after rank 0; it took part all the same.
TEST(Summary, ARankThatStartsLateIsNotOneThatLeft) {
  Summary s = run({2, 1}, 2);
  s.ranks[1].here = 1.5;
  EXPECT_DOUBLE_EQ(s.took_part(s.ranks[1]), 2);
  EXPECT_DOUBLE_EQ(s.efficiency(), 0.75);
  EXPECT_DOUBLE_EQ(s.imbalance(), 2.0 / 3);
}

TEST(Summary, OfARankThatLeftOnlyTheTimeThatItWasThereCounts) {
  Summary s = run({2, 1}, 2);
  s.ranks[1].here = 1;
  s.ranks[1].partly = true;
  EXPECT_DOUBLE_EQ(s.took_part(s.ranks[1]), 1);
  EXPECT_DOUBLE_EQ(s.efficiency(), 1);
  EXPECT_DOUBLE_EQ(s.imbalance(), 0);
}

TEST(Summary, ADealIsAMoveAndNoRefusal) {
  Summary s = run({2, 2}, 2);
  s.ranks[0].decisions = {"dealt|3"};
  EXPECT_EQ(s.decision(), "decisions: dealt 3");
  s.ranks[0].decisions = {"too little left|3"};
  EXPECT_EQ(s.decision(), "nothing worth moving: too little left");
}

// In a program of steps few fragments are moved, and those that follow them run elsewhere in each step.
TEST(Summary, TheVerdictIsByTheTimeThatMovingCanHaveSaved) {
  Summary s = run({10, 10}, 10);
  s.ranks[0].decisions = {"moved|3", "transfer costs more than it saves|30"};
  s.groups = {{.group = 0, .count = 2000, .weight = 1e7, .moved_away = 20, .followed = 0}};
  EXPECT_EQ(s.decision(),
            "hardly anything worth moving: transfer costs more than it saves (what moved took 2.0 % of the time)");
  s.ranks[1].busy = 5;
  EXPECT_EQ(s.decision(), "decisions: moved 3, transfer costs more than it saves 30")
      << "one was idle for half the time";
  s.ranks[0].busy = 7;
  EXPECT_NE(s.decision().find("hardly"), std::string::npos) << "kernels too light to keep one busy";
  s.ranks.push_back({});  // one that only coordinates
  EXPECT_NE(s.decision().find("hardly"), std::string::npos);
  s.ranks.pop_back();
  s.ranks[0].busy = s.ranks[1].busy = 10;
  s.groups[0].followed = 400;
  EXPECT_EQ(s.decision(), "decisions: moved 3, transfer costs more than it saves 30");
}

TEST(Summary, ManyIterationsAreNoLittleThing) {
  Summary s = run({10, 10}, 10);
  s.ranks[0].decisions = {"stolen|3", "transfer costs more than it saves|30"};
  s.groups = {{.group = 0, .count = 2000, .weight = 1e6}};
  s.ranks[0].finished = 2000;
  s.ranks[0].moved_out = 100;
  EXPECT_NE(s.decision().find("hardly"), std::string::npos);
  s.ranks[0].moved_out = 1000;
  EXPECT_EQ(s.decision(), "decisions: stolen 3, transfer costs more than it saves 30");
}

// One rank of sixteen had twice as much as the others: a sixteenth of its excess went to each of them.
TEST(Summary, LittleOfTheWorkMayBeMuchOfTheTime) {
  Summary s = run(std::vector<double>(16, 1.06), 1.06);
  s.ranks[0].decisions = {"moved|3", "transfer costs more than it saves|30"};
  s.groups = {{.group = 0, .count = 1700, .weight = 1e7, .moved_away = 94}};
  EXPECT_EQ(s.decision().find("hardly"), std::string::npos);
}

class SummaryText : public testing::Test {
 protected:
  SummaryText() : s(run({2, 1}, 2)) {
    slots[0].base = "x";
    block.slots = slots;
    block.output_count = 1;
    block.kind = abi::Kind::atomic;
    block.label = "work";
    program.name = "prog.fa";
    program.blocks = blocks;
    program.block_count = 1;
    s.program = &program;
    s.ranks[0].peak_memory_kb = 100'000;
    s.ranks[1].peak_memory_kb = 200'000;
    s.ranks[1].held = {{"x", 50'000'000}};
  }
  abi::SlotInfo slots[1]{};
  abi::Block block{};
  const abi::Block* blocks[1] = {&block};
  abi::Program program{};
  Summary s;
};

TEST_F(SummaryText, SaysWhereMostMemoryWasAndWhatHeldIt) {
  EXPECT_NE(text_of(s).find("  memory up to 204.8 MB (rank 1); most in x 50.0 MB\n"), std::string::npos) << text_of(s);
}

// Samples of small values may stand for more than there is.
TEST_F(SummaryText, NamesHoldNoMoreThanTheirRank) {
  s.ranks[1].held = {{"x", 900'000'000}, {"y", 300'000'000}};
  EXPECT_NE(text_of(s).find("; most in x 153.6 MB, y 51.2 MB\n"), std::string::npos) << text_of(s);
}

TEST_F(SummaryText, WhatOtherRanksHoldIsNoPartOfIt) {
  s.ranks[0].held = {{"z", 90'000'000}};
  EXPECT_EQ(text_of(s).find("z 90"), std::string::npos) << text_of(s);
}

// One kernel is on one rank; and who of two that did nothing did more is no question.
TEST_F(SummaryText, ImbalanceIsToldWhereItSaysSomething) {
  const auto kernels = [&](std::int64_t n) { s.groups = {{.group = 0, .count = n, .weight = 1e7}}; };
  kernels(2);
  EXPECT_NE(text_of(s).find("   imbalance 67 %   "), std::string::npos) << text_of(s);
  kernels(1);
  EXPECT_NE(text_of(s).find("   imbalance -   "), std::string::npos) << text_of(s);
  kernels(200);
  s.ranks[0].busy = 0.001, s.ranks[1].busy = 0;
  EXPECT_NE(text_of(s).find("   imbalance -   "), std::string::npos) << text_of(s);
  // One that left counts no more.
  s.ranks[0].busy = 2;
  kernels(1);
  s.ranks[1].partly = true, s.ranks[1].here = 1;
  EXPECT_NE(text_of(s).find("   imbalance 0 %   "), std::string::npos) << text_of(s);
}

TEST_F(SummaryText, SaysWhenTheMachineHadOtherThingsToDo) {
  s.ranks[0].no_core = 0.3;
  EXPECT_EQ(text_of(s).find("no core"), std::string::npos) << text_of(s);
  s.ranks[1].no_core = 0.7;
  EXPECT_NE(text_of(s).find("\n  workers had no core for 25 % of their time: other threads had them"),
            std::string::npos)
      << text_of(s);
}

TEST_F(SummaryText, NamesHostsWhereThereAreSeveral) {
  EXPECT_EQ(text_of(s).find(" on left"), std::string::npos) << text_of(s);
  s.hosts = {"left", "right"};
  EXPECT_NE(text_of(s).find(" (rank 1 on right);"), std::string::npos) << text_of(s);
  EXPECT_NE(text_of(s).find("\n     0 left   ####"), std::string::npos) << text_of(s);
  EXPECT_NE(text_of(s).find("\n     1 right  ####"), std::string::npos) << text_of(s);
  s.worker_ranks = 1;
  EXPECT_NE(text_of(s).find(", rank 1 on right coordinates)"), std::string::npos) << text_of(s);
}

}  // namespace
}  // namespace tessera::runtime
