// How many fragments one that is ready stands for.
#include "balancer/growth.hpp"

#include <gtest/gtest.h>

#include "balancer/ready_view.hpp"

namespace tessera::balancer {
namespace {

const Group kGroup{0};
LoadChanged offered(std::int64_t n) { return {{{kGroup, n, 0}}, {}}; }

TEST(Growth, ATreeGrowsALoopDoesNot) {
  Growth loop(1), tree(1);
  for (int i = 0; i < 10; ++i) {
    loop.told(100 - 5 * i, 95 - 5 * i, 5);
    tree.told(100, 99, 5);  // four of five made one
  }
  EXPECT_EQ(loop.factor(), 1);
  EXPECT_FALSE(loop.grows());
  EXPECT_DOUBLE_EQ(tree.factor(), 5);
  EXPECT_TRUE(tree.grows());
}

TEST(Growth, OneThatMakesManyIsNoSearch) {
  Growth growth(1);
  growth.told(1, 500, 1);
  for (int i = 0; i < 30; ++i) growth.told(500 - i, 499 - i, 1);
  EXPECT_LT(growth.factor(), 4);
  EXPECT_FALSE(growth.grows());
}

TEST(Growth, WhatIsHeardCountsUntilEnoughHaveFinishedHere) {
  Growth growth(1);
  EXPECT_FALSE(growth.may_grow());
  growth.heard();
  EXPECT_TRUE(growth.may_grow());
  EXPECT_FALSE(growth.grows());
  growth.told(100, 80, 20);
  EXPECT_FALSE(growth.may_grow());
}

// One after the other comes, begins and ends: what ended was no longer ready before, and has made nothing.
TEST(Growth, WhatRanIsNotTakenForNew) {
  Growth growth(1);
  for (int i = 0; i < 20; ++i) {
    growth.told(1, 0, 0);
    growth.told(0, 0, 1);
  }
  EXPECT_EQ(growth.factor(), 1);
  EXPECT_EQ(growth.made(), Offspring::none);
}

// A step of a program: 16 become ready for one that ends, but what ran elsewhere made nothing there.
TEST(Growth, WhereNoneAreMadeElsewhereNothingGrows) {
  Growth growth(1);
  EXPECT_EQ(growth.made(), Offspring::unknown);
  for (int i = 0; i < 20; ++i) growth.told(16 * i, 16 * i + 15, 1);
  EXPECT_EQ(growth.made(), Offspring::some);
  EXPECT_TRUE(growth.grows());
  growth.elsewhere(Offspring::none);
  growth.elsewhere(Offspring::unknown);
  EXPECT_FALSE(growth.grows());
  EXPECT_EQ(growth.factor(), 1);
  growth.elsewhere(Offspring::some);
  EXPECT_TRUE(growth.grows());
}

// 100 iterations were asked for, 4 were left: the others had become 96 fragments of another group, which nobody made.
TEST(Growth, AShipmentThatFoundTooFewIsNone) {
  ReadyView view(2);
  view.told({{{Group{0}, 100, 0}, {Group{1}, 3, 0}}, {}});
  view.shipped({{Group{0}, 100}}, {{Group{0}, 4}});
  EXPECT_EQ(view.total(), 3) << "it may be that none are left";
  EXPECT_EQ(view.accounted(), 99);
  view.arrived({{Group{1}, 2}});
  EXPECT_EQ(view.accounted(), 101);
  view.told(offered(0));
  EXPECT_EQ(view.accounted(), 3);
}

}  // namespace
}  // namespace tessera::balancer
