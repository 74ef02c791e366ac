#include "balancer/weights.hpp"

#include <gtest/gtest.h>

namespace tessera::balancer {
namespace {

GroupDone done(std::uint32_t group, std::initializer_list<double> seconds) {
  GroupDone d{Group{group}, 0, 0, 0};
  for (const double s : seconds) {
    ++d.count;
    d.weight += static_cast<Time>(s * 1e9);
    d.weight_squared += s * 1e9 * s * 1e9;
  }
  return d;
}

// The source's figure: completed weights averaging 2.5 give 2.5 to the group's pending fragments; a
// group with none completed takes the mean of all completed on the rank, 1.9.
TEST(Weights, GoldenExampleOfTheSource) {
  Weights w(std::vector<GroupInfo>(3), 0);
  w.completed(done(0, {2, 3, 2.5, 2.5}));
  w.completed(done(1, {1.3, 1.7, 0.9, 1, 1.1, 2.9}));
  EXPECT_EQ(w.weight(Group{0}), 2'500'000'000);
  EXPECT_NEAR(static_cast<double>(w.weight(Group{2})), 1.89e9, 0.01e9);
  EXPECT_FALSE(w.known(Group{2}));
}

TEST(Weights, NothingCompletedIsNeutral) {
  const Weights w(std::vector<GroupInfo>(1), 0);
  EXPECT_EQ(w.weight(Group{0}), Weights::kNeutral);
  EXPECT_EQ(w.weight(Group{99}), Weights::kNeutral);  // a group nobody announced
}

TEST(Weights, MeanAndVarianceInBatchesAreThoseOfTheWhole) {
  Weights batches(std::vector<GroupInfo>(1), 0), whole(std::vector<GroupInfo>(1), 0);
  batches.completed(done(0, {1, 2}));
  batches.completed(done(0, {3}));
  batches.completed(done(0, {4, 10}));
  whole.completed(done(0, {1, 2, 3, 4, 10}));
  EXPECT_NEAR(batches.moments(Group{0}).mean, 4e9, 1);
  EXPECT_NEAR(batches.moments(Group{0}).variance(), 10e18, 1e9);
  EXPECT_NEAR(whole.moments(Group{0}).variance(), 10e18, 1e9);
}

TEST(Weights, MemoryLetsTheMeanFollow) {
  Weights w(std::vector<GroupInfo>(1), 10);
  for (int i = 0; i < 1000; ++i) w.completed(done(0, {1}));
  for (int i = 0; i < 50; ++i) w.completed(done(0, {3}));
  EXPECT_GT(w.weight(Group{0}), 2'900'000'000);
}

TEST(Weights, ARangeWeighsItsBody) {
  std::vector<GroupInfo> groups(3);
  groups[0].range = true;
  groups[0].body = {Group{1}, Group{2}, Group{1}};
  Weights w(groups, 0);
  w.completed(done(1, {2}));
  EXPECT_FALSE(w.known(Group{0}));
  w.completed(done(2, {1}));
  EXPECT_TRUE(w.known(Group{0}));
  EXPECT_EQ(w.weight(Group{0}), 5'000'000'000);
}

// What an iteration makes under conditions, in loops or in subs: these were never known, and one after the other was
// stolen to find out what it weighs (V-cycles by recursive subs took 2.3 times as long with thieves as without).
TEST(Weights, ARangeWeighsWhatIsBelowIt) {
  std::vector<GroupInfo> groups(4);
  groups[0].range = groups[3].range = true;
  groups[0].below = {Group{1}, Group{2}};
  groups[3].body = {Group{1}};
  groups[3].below = {Group{2}};
  Weights w(groups, 0, 2'500'000'000);
  EXPECT_FALSE(w.known(Group{0}));
  w.completed(done(2, {1}));
  EXPECT_TRUE(w.known(Group{0}));
  EXPECT_EQ(w.weight(Group{0}), 1'000'000'000) << "of the other nothing has come yet";
  EXPECT_FALSE(w.known(Group{3})) << "its own call has not ended";
  w.completed(done(1, {2}));
  EXPECT_TRUE(w.known(Group{3}));
  EXPECT_FALSE(w.known(Group{0})) << "it is heavy: who knows how often that comes?";
  EXPECT_EQ(w.weight(Group{0}), 3'000'000'000);
  EXPECT_EQ(w.weight(Group{3}), 3'000'000'000);
  EXPECT_GE(w.cautious(Group{0}), 1'500'000'000 / 2);
  EXPECT_LE(w.cautious(Group{0}), 1'500'000'000);
}

TEST(Weights, AProfileIsAPriorThatMeasurementsOverrule) {
  std::vector<GroupInfo> groups(1);
  groups[0].profile_count = 1'000'000;
  groups[0].profile_weight = 5'000'000'000;
  Weights w(groups, 1000);
  EXPECT_TRUE(w.known(Group{0}));
  EXPECT_EQ(w.weight(Group{0}), 5'000'000'000);
  for (int i = 0; i < 200; ++i) w.completed(done(0, {1}));
  EXPECT_LT(w.weight(Group{0}), 1'200'000'000);
}

}  // namespace
}  // namespace tessera::balancer
