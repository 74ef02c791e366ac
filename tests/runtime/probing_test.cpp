// The machine that measures links, over simulated ones.
#include "runtime/balance/probing.hpp"

#include <gtest/gtest.h>

#include "simulated_link.hpp"

namespace tessera::runtime {
namespace {

constexpr int kSeeds = 30;
constexpr std::uint64_t kMatrix = 1 << 20;  // bytes of the largest value

struct Measured {
  double bandwidth = 0, latency = 0;
  double sent = 0;     // bytes
  double longest = 0;  // ns, of a round
  double told = 0;     // ns until the first figure
};

Measured measure(const LinkModel& model, std::uint64_t seed, std::uint64_t largest = kMatrix) {
  SimulatedLink link(model, seed);
  const auto probing = probing_over_network();
  Measured m;
  for (int round = 1; round <= Probing::kRounds; ++round) {
    const double begin = link.now();
    probing->begin_round(round);
    while (const auto probe = probing->next(largest)) {
      TrainSpeed speed;
      const std::int64_t took = link.probe(*probe, 2 * probing->latency(), speed);
      if (probing->answered(*probe, took, speed) && m.told == 0) m.told = link.now();
    }
    m.longest = std::max(m.longest, link.now() - begin);
    link.pause(20e6 * (1 << (2 * (round - 1))));
  }
  m.bandwidth = probing->bandwidth();
  m.latency = static_cast<double>(probing->latency());
  m.sent = link.sent();
  return m;
}

const double kLatencies[] = {0.05e6, 0.2e6, 1e6, 5e6, 20e6};
const double kBandwidths[] = {1.25e6, 1.25e7, 1.25e8, 1.25e9};

// `change` makes the model of each point; of all seeds so many may be further off than a fifth, and none than a half.
template <class Change>
void expect_right(Change change, int exceptions) {
  for (const double latency : kLatencies) {
    for (const double bandwidth : kBandwidths) {
      LinkModel model{.bandwidth = bandwidth, .latency = latency};
      if (!change(model)) continue;
      int off = 0;
      for (int seed = 1; seed <= kSeeds; ++seed) {
        const Measured m = measure(model, static_cast<std::uint64_t>(seed));
        const double ratio = m.bandwidth / bandwidth;
        if (ratio < 0.8 || ratio > 1.2) ++off;
        EXPECT_TRUE(ratio > 0.5 && ratio < 1.5)
            << ratio << " of " << bandwidth << " at " << latency << ", seed " << seed;
        // What a message takes: looks are 5 to 60 us late.
        EXPECT_GE(m.latency, latency);
        EXPECT_LE(m.latency, 1.2 * (latency + 75e3));
      }
      EXPECT_LE(off, exceptions) << "of " << bandwidth << " bytes/s at " << latency << " ns";
    }
  }
}

TEST(ProbingOverNetwork, BandwidthIsNotLatency) {
  expect_right([](LinkModel&) { return true; }, 0);
}

TEST(ProbingOverNetwork, SurvivesJitter) {
  expect_right([](LinkModel& m) { return m.jitter = std::min(0.2 * m.latency, 0.3e6), true; }, 0);
}

TEST(ProbingOverNetwork, SurvivesBusySendersAndReceivers) {
  expect_right([](LinkModel& m) { return m.stalls = 0.02, true; }, 2);
}

TEST(ProbingOverNetwork, SurvivesOthersOnTheLink) {
  expect_right([](LinkModel& m) { return m.others = 0.3, true; }, kSeeds / 5);
}

// Where a connection spreads what it sends, it needs more than probes may send to find out what a long fast way holds;
// so do values.
TEST(ProbingOverNetwork, SurvivesPacing) {
  expect_right([](LinkModel& m) { return m.paced = true, m.bandwidth * m.latency < 5e15; }, 0);
}

TEST(ProbingOverNetwork, KeepsASlowLinkFree) {
  for (const double latency : kLatencies) {
    for (const double bandwidth : {1.25e5, 1.25e6, 1.25e7}) {
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const Measured m = measure({.bandwidth = bandwidth, .latency = latency, .stalls = 0.02}, seed);
        // In all rounds: a few small trains, and such as take no longer than 20 ms or three round trips.
        EXPECT_LE(m.sent, 6 * 20e3 + 9 * bandwidth * std::max(0.02, 6 * latency / 1e9))
            << bandwidth << ' ' << latency << ' ' << seed;
        EXPECT_LE(m.told, 30e6 + 5 * latency + 20e3 / bandwidth * 1e9) << bandwidth << ' ' << latency << ' ' << seed;
      }
    }
  }
}

TEST(ProbingOverNetwork, SmallValuesNeedSmallProbes) {
  for (const double latency : kLatencies) {
    const Measured m = measure({.bandwidth = 1.25e8, .latency = latency}, 7, 1000);
    EXPECT_LE(m.sent, 200e3);
    EXPECT_GT(m.bandwidth, 0);
    EXPECT_LT(m.bandwidth, 1.25 * 1.25e8);
  }
}

TEST(ProbingOverNetwork, WantsMoreWhereLargerValuesAreMade) {
  SimulatedLink link({.bandwidth = 1.25e8, .latency = 1e6}, 3);
  const auto probing = probing_over_network();
  const auto round = [&](std::uint64_t largest) {
    probing->begin_round(1);
    while (const auto probe = probing->next(largest)) {
      TrainSpeed speed;
      const std::int64_t took = link.probe(*probe, 2 * probing->latency(), speed);
      probing->answered(*probe, took, speed);
    }
  };
  round(100);
  EXPECT_FALSE(probing->wants_more(100));
  EXPECT_TRUE(probing->wants_more(kMatrix));
  round(kMatrix);
  EXPECT_FALSE(probing->wants_more(kMatrix));
  EXPECT_NEAR(probing->bandwidth() / 1.25e8, 1, 0.2);
}

TEST(TrainArrivals, WhatWasReadAtOnceTellsNothing) {
  TrainArrivals a;
  for (int i = 0; i < 50; ++i) a.arrived(32'768, 0, 3'000'000 + i * 1000);  // the receiver was away for 3 ms
  const TrainSpeed s = a.speed(100'000);
  EXPECT_FALSE(s.sure);
  EXPECT_LT(s.bandwidth, 50 * 32'768 / 3e-3);
}

TEST(TrainArrivals, NothingIsNothing) {
  EXPECT_EQ(TrainArrivals().speed(1000).bandwidth, 0);
  TrainArrivals one;
  one.arrived(1000, 5, 10);
  EXPECT_EQ(one.speed(1000).bandwidth, 0);
}

TEST(ProbingThroughMemory, RoundTripsWithoutTheLatency) {
  const auto probing = probing_through_memory(0);
  probing->begin_round(1);
  int news = 0;
  while (const auto probe = probing->next(kMatrix)) {
    ASSERT_EQ(probe->parts, 1u);
    news += probing->answered(*probe, 10'000 + static_cast<std::int64_t>(probe->bytes / 2), {});
  }
  EXPECT_EQ(probing->latency(), 5'000);
  EXPECT_NEAR(probing->bandwidth(), 2e9, 1e7);
  EXPECT_EQ(news, 2);
}

}  // namespace
}  // namespace tessera::runtime
