// Silent ranks, as a pure machine: all orders of what happens in a round, and random ones.
#include "runtime/comm/silence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>

namespace tessera::runtime {
namespace {

using Rank = balancer::Rank;
using What = Silence::Action::What;
constexpr std::int64_t kWorldSecond = 1'000'000'000;

// Ranks with links that keep their order. A round is a second: everybody that runs ticks, and takes what has come, in
// any order.
class World {
 public:
  World(std::int32_t ranks, Silence::Settings settings) : ranks_(ranks), stopped_(static_cast<std::size_t>(ranks)) {
    for (std::int32_t r = 0; r < ranks; ++r) all_.push_back(std::make_unique<Silence>(Rank{r}, ranks, settings, 0));
  }

  void stop(std::int32_t r, bool stopped = true) { stopped_[static_cast<std::size_t>(r)] = stopped; }
  // The world without this process, as if the machine had slept.
  void sleep(std::int64_t seconds) { now_ += seconds * kWorldSecond; }

  // What can happen in a round: rank r ticks (r), or takes what it has been sent (ranks + r).
  std::int32_t events() const { return 2 * ranks_; }
  void round(const std::vector<std::int32_t>& order) {
    now_ += kWorldSecond;
    for (const std::int32_t e : order) {
      const std::int32_t r = e % ranks_;
      if (stopped_[static_cast<std::size_t>(r)]) continue;
      if (e < ranks_) {
        if (now_ >= all_[static_cast<std::size_t>(r)]->next())
          carry_out(r, all_[static_cast<std::size_t>(r)]->tick(now_));
        continue;
      }
      for (std::int32_t from = 0; from < ranks_; ++from) {
        auto& link = links_[{from, r}];
        for (std::size_t n = link.size(); n > 0; --n) {
          const BeatKind kind = link.front();
          link.pop_front();
          carry_out(r, all_[static_cast<std::size_t>(r)]->heard(Rank{from}, kind));
        }
      }
    }
  }
  void rounds(int n, const std::vector<std::int32_t>& order) {
    for (int i = 0; i < n; ++i) round(order);
  }

  struct Told {
    std::int32_t by;
    What what;
    std::vector<Rank> ranks;
    std::int64_t after;  // s of the world
    std::int64_t silent;
  };
  std::vector<Told> told;
  std::size_t count(What what) const {
    return static_cast<std::size_t>(
        std::count_if(told.begin(), told.end(), [&](const Told& t) { return t.what == what; }));
  }
  std::string shown() const {
    std::string text;
    for (const Told& t : told) {
      text += std::to_string(t.after) + " s: rank " + std::to_string(t.by) +
              (t.what == What::say     ? " says"
               : t.what == What::again ? " again"
                                       : " ends");
      for (const Rank r : t.ranks) text += " " + std::to_string(balancer::index(r));
      text += " (" + std::to_string(t.silent / kWorldSecond) + " s)\n";
    }
    return text;
  }

 private:
  void carry_out(std::int32_t by, const Silence::Actions& actions) {
    for (const Silence::Action& a : actions) {
      if (a.what != What::send) {
        told.push_back({by, a.what, a.ranks, now_ / kWorldSecond, a.silent});
        continue;
      }
      for (const Rank to : a.ranks) links_[{by, balancer::index(to)}].push_back(a.kind);
    }
  }

  std::int32_t ranks_;
  std::vector<bool> stopped_;
  std::int64_t now_ = 0;
  std::vector<std::unique_ptr<Silence>> all_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::deque<BeatKind>> links_;
};

// Calls check(order) for all orders of a round.
template <class Check>
void in_all_orders(std::int32_t events, Check check) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(events));
  std::iota(order.begin(), order.end(), 0);
  do {
    check(order);
    if (testing::Test::HasFailure()) return;
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Silence, WhoAnswersIsNotSilent) {
  in_all_orders(6, [](const auto& order) {
    World w(3, {.end_after = 5 * kWorldSecond});
    w.rounds(40, order);
    EXPECT_TRUE(w.told.empty()) << w.shown();
  });
}

TEST(Silence, WhoIsStoppedIsNoticedOnceAndThenAgain) {
  in_all_orders(6, [](const auto& order) {
    World w(3, {});
    w.rounds(3, order);
    w.stop(2);
    w.rounds(30, order);
    ASSERT_EQ(w.told.size(), 1u) << w.shown();
    EXPECT_EQ(w.told[0].what, What::say);
    EXPECT_EQ(w.told[0].by, 0);
    EXPECT_EQ(w.told[0].ranks, std::vector{Rank{2}});
    EXPECT_LE(w.told[0].after, 3 + 12);
    w.stop(2, false);
    w.rounds(3, order);
    ASSERT_EQ(w.told.size(), 2u) << w.shown();
    EXPECT_EQ(w.told[1].what, What::again);
    w.stop(2);
    w.rounds(12, order);
    EXPECT_EQ(w.count(What::say), 2u) << w.shown();
  });
}

// The others say it once, though none of them leads.
TEST(Silence, RankZeroIsMissedByOne) {
  in_all_orders(6, [](const auto& order) {
    World w(3, {});
    w.rounds(3, order);
    w.stop(0);
    w.rounds(30, order);
    ASSERT_EQ(w.told.size(), 1u) << w.shown();
    EXPECT_EQ(w.told[0].by, 1);
    w.told.clear();
    w.stop(0, false);
    w.rounds(3, order);
    EXPECT_EQ(w.count(What::again), 1u) << w.shown();
    EXPECT_EQ(w.count(What::say), 0u) << w.shown();
  });
}

TEST(Silence, IfTheNextOneIsStoppedTooAnotherSaysIt) {
  in_all_orders(6, [](const auto& order) {
    World w(3, {});
    w.rounds(3, order);
    w.stop(0);
    w.stop(1);
    w.rounds(30, order);
    ASSERT_EQ(w.told.size(), 1u) << w.shown();
    EXPECT_EQ(w.told[0].by, 2);
  });
}

TEST(Silence, TheLimitEndsTheRunAndOnlyThen) {
  in_all_orders(6, [](const auto& order) {
    for (const std::int32_t silent : {0, 2}) {
      World w(3, {.end_after = 20 * kWorldSecond});
      w.rounds(3, order);
      w.stop(silent);
      w.rounds(15, order);
      EXPECT_EQ(w.count(What::end), 0u) << w.shown();
      w.rounds(10, order);
      EXPECT_GE(w.count(What::end), 1u) << w.shown();
    }
    World never(3, {});
    never.stop(1);
    never.rounds(200, order);
    EXPECT_EQ(never.count(What::end), 0u);
  });
}

// A laptop that slept, a virtual machine that was moved: all clocks jump.
TEST(Silence, TimeInWhichNobodyRanCountsForNobody) {
  in_all_orders(6, [](const auto& order) {
    World w(3, {.end_after = 5 * kWorldSecond});
    for (int i = 0; i < 5; ++i) {
      w.rounds(4, order);
      w.sleep(100'000);
    }
    w.rounds(4, order);
    EXPECT_TRUE(w.told.empty()) << w.shown();
  });
}

// Rank 0 in a debugger: when it goes on it blames nobody.
TEST(Silence, WhoWasStoppedItselfBlamesNobody) {
  in_all_orders(6, [](const auto& order) {
    World w(3, {});
    w.rounds(3, order);
    w.stop(0);
    w.rounds(50, order);
    w.stop(0, false);
    w.rounds(20, order);
    for (const World::Told& t : w.told) EXPECT_NE(t.by, 0) << w.shown();
  });
}

TEST(Silence, SeveralOfAHostAreSaidTogether) {
  World w(6, {});
  std::vector<std::int32_t> order(12);
  std::iota(order.begin(), order.end(), 0);
  w.rounds(3, order);
  for (const std::int32_t r : {2, 3, 5}) w.stop(r);
  w.rounds(20, order);
  ASSERT_EQ(w.told.size(), 1u) << w.shown();
  EXPECT_EQ(w.told[0].ranks, (std::vector{Rank{2}, Rank{3}, Rank{5}}));
}

// Whatever the order in each round, and whoever stops when: nobody that runs is blamed by one that runs, but rank 0's
// silence hides all; who stays stopped is told of; nobody ends a run without a limit.
TEST(Silence, RandomOrdersAndStops) {
  std::mt19937 random(7);
  for (int n = 0; n < 2000; ++n) {
    const auto ranks = static_cast<std::int32_t>(2 + random() % 5);
    World w(ranks, {});
    std::vector<std::int32_t> order(static_cast<std::size_t>(w.events()));
    std::iota(order.begin(), order.end(), 0);
    const auto victim = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(ranks));
    const int begins = static_cast<int>(random() % 10);
    for (int i = 0; i < 60; ++i) {
      if (i == begins) w.stop(victim);
      std::shuffle(order.begin(), order.end(), random);
      w.round(order);
    }
    ASSERT_GE(w.count(What::say), 1u) << n;
    ASSERT_EQ(w.count(What::end), 0u) << n;
    for (const World::Told& t : w.told) {
      ASSERT_EQ(t.ranks, std::vector{Rank{victim}}) << n << "\n" << w.shown();
      ASSERT_GE(t.silent, 9 * kWorldSecond) << n << "\n" << w.shown();
    }
  }
}

}  // namespace
}  // namespace tessera::runtime
