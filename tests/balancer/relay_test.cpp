#include "balancer/relay.hpp"

#include <gtest/gtest.h>

#include <map>

namespace tessera::balancer {
namespace {

TEST(Relay, EachServesTwoAndTheFirstOne) {
  std::vector<Rank> given;
  std::map<int, int> served;
  std::map<int, int> depth;
  for (int to = 1; to <= 255; ++to) {
    const Rank by = giver(given, Rank{0}, Rank{to});
    ++served[index(by)];
    depth[to] = depth[index(by)] + 1;
    EXPECT_LE(depth[to], 8);
  }
  EXPECT_EQ(served[0], 1);
  for (const auto& [by, n] : served) EXPECT_LE(n, 2) << by;
}

TEST(Relay, WhoAsksAgainIsServedAtOnce) {
  std::vector<Rank> given;
  for (int to = 1; to <= 4; ++to) giver(given, Rank{0}, Rank{to});
  EXPECT_EQ(giver(given, Rank{0}, Rank{4}), Rank{0});
  EXPECT_EQ(given.size(), 4u);
}

}  // namespace
}  // namespace tessera::balancer
