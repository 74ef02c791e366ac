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

}  // namespace
}  // namespace tessera::runtime
