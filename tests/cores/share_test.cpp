#include "runtime/cores/share.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tessera::cores {
namespace {

Allowance cores(std::size_t first, std::size_t count, std::vector<Limit> limits = {}) {
  Found found;
  for (std::size_t c = first; c < first + count; ++c) found.mask.set(c);
  found.quotas = std::move(limits);
  return allowance(found);
}

std::vector<std::int32_t> threads(const std::vector<HostRank>& host, std::int32_t asked = 0) {
  std::vector<std::int32_t> all;
  for (std::size_t r = 0; r < host.size(); ++r) all.push_back(share_host(host, r, asked).threads);
  return all;
}
using Threads = std::vector<std::int32_t>;

TEST(Share, OneRankHasAllThatIsAllowed) {
  EXPECT_EQ(threads({{cores(0, 64)}}), Threads{64});
  EXPECT_EQ(threads({{cores(7, 1)}}), Threads{1});
  EXPECT_EQ(threads({{cores(0, 64, {{1, 4}})}}), Threads{4});
  EXPECT_EQ(threads({{cores(0, 64, {{1, 2.5}})}}), Threads{2});
  EXPECT_EQ(threads({{cores(0, 64, {{1, 0.5}})}}), Threads{1});
}

TEST(Share, TheSameCoresAreDivided) {
  EXPECT_EQ(threads(std::vector<HostRank>(4, {cores(0, 8)})), (Threads{2, 2, 2, 2}));
  EXPECT_EQ(threads(std::vector<HostRank>(3, {cores(0, 8)})), (Threads{2, 2, 2}));
  EXPECT_EQ(threads(std::vector<HostRank>(3, {cores(0, 3)})), (Threads{1, 1, 1})) << "thirds add up";
  EXPECT_EQ(threads(std::vector<HostRank>(4, {cores(0, 2)})), (Threads{1, 1, 1, 1}));
}

TEST(Share, CoresOfTheirOwnAreNot) {
  EXPECT_EQ(threads({{cores(0, 4)}, {cores(4, 2)}}), (Threads{4, 2}));
  // Two on the same four cores, the second of which has four more.
  EXPECT_EQ(threads({{cores(0, 4)}, {cores(0, 8)}}), (Threads{2, 6}));
}

TEST(Share, LimitsOfAGroupAreDividedAmongThoseInIt) {
  const Allowance together = cores(0, 64, {{1, 8}});
  EXPECT_EQ(threads({{together}, {together}}), (Threads{4, 4}));
  EXPECT_EQ(threads({{cores(0, 64, {{1, 8}})}, {cores(0, 64, {{2, 6}})}}), (Threads{8, 6}));
  // A group around both.
  EXPECT_EQ(threads({{cores(0, 64, {{1, 8}, {9, 10}})}, {cores(0, 64, {{2, 6}, {9, 10}})}}), (Threads{5, 5}));
  const Allowance task = cores(0, 64, {{0, 4}});
  EXPECT_EQ(threads({{task}, {task}}), (Threads{4, 4})) << "each task has so many";
}

// Spares take the place of ranks that leave, and a coordinator runs nothing.
TEST(Share, OnlyWhoWorksCounts) {
  const Allowance all = cores(0, 8);
  EXPECT_EQ(threads({{all, true}, {all, true}, {all, false}}), (Threads{4, 4, 4}));
  EXPECT_EQ(threads({{all, false}}), Threads{8});
}

TEST(Share, WhatIsAskedForIsGiven) {
  EXPECT_EQ(threads({{cores(0, 1)}, {cores(0, 1)}}, 5), (Threads{5, 5}));
  EXPECT_FALSE(share_host({{cores(0, 1)}}, 0, 5).core_for_each);
}

TEST(Share, CoresLeftAreKnown) {
  const std::vector<HostRank> two(2, {cores(0, 4)});
  EXPECT_TRUE(share_host(two, 0, 0).core_for_each);
  EXPECT_FALSE(share_host(two, 0, 0).spare_core);
  EXPECT_TRUE(share_host(two, 1, 1).spare_core);
  EXPECT_FALSE(share_host(two, 1, 3).core_for_each);
  EXPECT_FALSE(share_host(std::vector<HostRank>(4, {cores(0, 2)}), 0, 0).core_for_each);
  EXPECT_FALSE(share_host({{cores(0, 4, {{1, 2}})}}, 0, 3).core_for_each) << "of a quota no more than it says";
  EXPECT_TRUE(core_for_each_rank(std::vector<HostRank>(4, {cores(0, 4), false})));
  EXPECT_FALSE(core_for_each_rank(std::vector<HostRank>(4, {cores(0, 4, {{1, 2}})})));
}

}  // namespace
}  // namespace tessera::cores
