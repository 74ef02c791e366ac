// The barrier protocol alone, its links being plain queues served in random order.
#include "runtime/transport/barrier_protocol.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

namespace tessera::runtime {
namespace {

using balancer::Rank;

// All ranks of a made-up network. A control waits in the queue of its pair.
struct Net {
  explicit Net(std::int32_t n) : links(static_cast<std::size_t>(n * n)) {
    for (std::int32_t r = 0; r < n; ++r) {
      ranks.emplace_back(Rank{r}, n, [this, r, n](Rank to, Control what) {
        links[static_cast<std::size_t>(r * n + index(to))].push_back(what);
      });
    }
  }
  // Hands over the first control of a random pair; false when all queues are empty.
  bool step(std::mt19937& random) {
    std::vector<std::size_t> busy;
    for (std::size_t l = 0; l < links.size(); ++l) {
      if (!links[l].empty()) busy.push_back(l);
    }
    if (busy.empty()) return false;
    const std::size_t l = busy[random() % busy.size()];
    const Control what = links[l].front();
    links[l].pop_front();
    const auto n = ranks.size();
    ranks[l % n].received(Rank{static_cast<std::int32_t>(l / n)}, what);
    return true;
  }
  std::deque<BarrierProtocol> ranks;
  std::vector<std::deque<Control>> links;
};

TEST(BarrierProtocol, OneRankPassesAtOnce) {
  Net net(1);
  net.ranks[0].enter();
  EXPECT_TRUE(net.ranks[0].passed());
}

TEST(BarrierProtocol, NobodyPassesBeforeTheLastOneEnters) {
  std::mt19937 random(1);
  Net net(4);
  for (std::size_t r = 0; r < 3; ++r) net.ranks[r].enter();
  while (net.step(random)) continue;
  for (std::size_t r = 0; r < 3; ++r) EXPECT_FALSE(net.ranks[r].passed());
  net.ranks[3].enter();
  while (net.step(random)) continue;
  for (BarrierProtocol& rank : net.ranks) EXPECT_TRUE(rank.passed());
}

// What a parcel sent before the barrier does is what a marker does: it goes ahead of it in its link.
// So nobody may pass while any link still has a marker of this round in it.
TEST(BarrierProtocol, WhoPassesKnowsThatNoMarkerIsUnderWay) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const std::int32_t n = 1 + static_cast<std::int32_t>(random() % 6);
    Net net(n);
    std::vector<int> rounds(static_cast<std::size_t>(n));
    constexpr int kRounds = 5;
    while (true) {
      // Anybody who passed enters the next round, at a random moment.
      const std::size_t r = random() % static_cast<std::size_t>(n);
      if (net.ranks[r].passed() && rounds[r] < kRounds && random() % 3 == 0) {
        const int slowest = *std::min_element(rounds.begin(), rounds.end());
        ASSERT_EQ(slowest >= rounds[r], true) << "passed before all had entered, seed " << seed;
        for (std::size_t l = 0; l < net.links.size(); ++l) {
          for (const Control c : net.links[l]) {
            ASSERT_TRUE(c != Control::marker || rounds[l / net.ranks.size()] > rounds[r]) << "seed " << seed;
          }
        }
        ++rounds[r];
        net.ranks[r].enter();
      } else if (!net.step(random)) {
        bool all = true;
        for (std::size_t k = 0; k < rounds.size(); ++k) {
          all = all && rounds[k] == kRounds && net.ranks[k].passed();
        }
        if (all) break;
      }
    }
  }
}

}  // namespace
}  // namespace tessera::runtime
