// Whom a thief asks for work.
#include "balancer/steal/victims.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tessera::balancer {
namespace {

using Known = Victims::Known;

Victims of_six(std::int64_t attempts = 2, std::vector<Rank> mates = {}) {
  return {Rank{0}, 6, std::move(mates), attempts, Random(7)};
}

TEST(Victims, WhoWokeItComesFirstAndThenWhoHasGivenMost) {
  Victims v = of_six();
  v.gave(Rank{2}, 5);
  v.gave(Rank{4}, 3);
  v.wakes(Rank{3});
  EXPECT_EQ(v.choose(true), Rank{3});
  EXPECT_EQ(v.choose(true), Rank{2}) << "a wake-up counts once";
  v.leaves(Rank{2});
  EXPECT_NE(v.choose(true), Rank{2});
  v.joins(Rank{2});
  EXPECT_EQ(v.choose(true), Rank{2});
}

TEST(Victims, WhoRemembersItIsNotAskedAgain) {
  Victims v = of_six();
  v.gave(Rank{2}, 5);
  v.remembered_at(Rank{2}, Known::as_busy);
  EXPECT_NE(v.choose(false), Rank{2});
  EXPECT_EQ(v.choose(true), Rank{2}) << "it refused while something ran here";
  v.remembered_at(Rank{2}, Known::as_idle);
  EXPECT_NE(v.choose(true), Rank{2});
}

TEST(Victims, NoMoreThanSoManyRememberIt) {
  Victims v = of_six(2);
  v.remembered_at(Rank{1}, Known::as_idle);
  ASSERT_TRUE(v.choose(true));
  v.remembered_at(Rank{5}, Known::as_idle);
  EXPECT_FALSE(v.choose(true));
  v.leaves(Rank{5});
  EXPECT_EQ(v.remembered(), 1);
  EXPECT_TRUE(v.choose(true));
}

TEST(Victims, ThoseOfItsHostFirstAndAllInTurn) {
  Victims near = of_six(2, {Rank{0}, Rank{4}});
  for (int k = 0; k < 20; ++k) EXPECT_EQ(near.choose(true), Rank{4});
  EXPECT_EQ(near.on_this_host(), 2);
  Victims all = of_six();
  std::set<Rank> asked;
  for (int k = 0; k < 200; ++k) asked.insert(*all.choose(true));
  EXPECT_EQ(asked, (std::set<Rank>{Rank{1}, Rank{2}, Rank{3}, Rank{4}, Rank{5}}));
}

}  // namespace
}  // namespace tessera::balancer
