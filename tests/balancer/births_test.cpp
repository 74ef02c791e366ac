// What was born here, told from what came and what was kept.
#include "balancer/loops/births.hpp"

#include <gtest/gtest.h>

#include "script.hpp"

namespace tessera::balancer {
namespace {

constexpr Group kG{0};

LoadChanged load(std::int64_t ready, std::int64_t finished = 0) {
  LoadChanged e;
  e.ready.push_back({kG, ready, 0});
  if (finished > 0) e.finished.push_back(done(0, finished, kMs));
  return e;
}

TEST(Births, WhatIsReadyWasBornHere) {
  Births b(std::vector<GroupInfo>(1));
  b.told(load(10));
  EXPECT_EQ(b.fresh(0), 10);
  EXPECT_EQ(b.born(0), 10);
}

TEST(Births, WhatArrivedIsNotFresh) {
  Births b(std::vector<GroupInfo>(1));
  b.arrived({{kG, 5}});
  b.told(load(5));
  EXPECT_EQ(b.fresh(0), 0);
  b.told(load(7, 1));  // one ran, so three were born
  EXPECT_EQ(b.fresh(0), 3);
}

TEST(Births, WhatWasKeptIsNotFreshAndRunsFirst) {
  Births b(std::vector<GroupInfo>(1));
  b.told(load(10));
  b.keep(kG, 4);
  EXPECT_EQ(b.fresh(0), 6);
  b.told(load(8));  // two started
  EXPECT_EQ(b.fresh(0), 6);
  b.told(load(8, 2));  // they finished: nothing was born
  EXPECT_EQ(b.fresh(0), 6);
  EXPECT_EQ(b.born(0), 0);
}

TEST(Births, WhatIsAskedForIsNotDealtTwice) {
  Births b(std::vector<GroupInfo>(1));
  b.told(load(10));
  b.leaving({{kG, 6}});
  EXPECT_EQ(b.fresh(0), 4);
  b.shipped({{kG, 6}}, {{kG, 6}});
  EXPECT_EQ(b.fresh(0), 4);
  b.told(load(4));
  EXPECT_EQ(b.fresh(0), 4);
}

TEST(Births, WhereFewerWentThereAreNoMore) {
  Births b(std::vector<GroupInfo>(1));
  b.told(load(10));
  b.leaving({{kG, 6}});
  b.shipped({{kG, 6}}, {{kG, 2}});
  EXPECT_EQ(b.fresh(0), 0);
  b.told(load(0, 8));
  EXPECT_EQ(b.born(0), 0) << "the eight had started";
}

TEST(Births, GroupsNotNamedAreAsTheHostLastSaid) {
  Births b(std::vector<GroupInfo>(1));
  b.told(load(10));
  b.leaving({{kG, 5}});
  b.shipped({{kG, 5}}, {{kG, 5}});
  b.told(LoadChanged{});  // ten again: five were born while five left
  EXPECT_EQ(b.fresh(0), 10);
  EXPECT_EQ(b.born(0), 5);
}

TEST(Births, OwnIterationsMakeOwnFragments) {
  std::vector<GroupInfo> groups(2);
  groups[0].range = true;
  groups[0].body = {Group{1}};
  Births b(groups);
  b.arrived({{Group{0}, 10}});
  LoadChanged e;
  e.ready = {{Group{0}, 7, 0}, {Group{1}, 3, 0}};  // three iterations made three fragments
  b.told(e);
  EXPECT_EQ(b.fresh(1), 0);
  e.ready = {{Group{0}, 7, 0}, {Group{1}, 5, 0}};  // two more, of another loop
  b.told(e);
  EXPECT_EQ(b.fresh(1), 2);
}

}  // namespace
}  // namespace tessera::balancer
