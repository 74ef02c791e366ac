// The time of fragments that are too short to be timed one by one.
#include "runtime/work/group_stats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tessera::runtime {
namespace {

constexpr double kTicksOfUs = 2500;
constexpr std::uint64_t kReading = 25, kTiming = 70;

// A worker whose clock is ours.
class Clockwork {
 public:
  explicit Clockwork(std::uint32_t groups)
      : stats(groups, {kReading, kTiming}, [] { return no_core; }), sums(groups), squares(groups), counts(groups) {}
  // A fragment of so many microseconds; the runtime takes 0.05 to 0.15 before it.
  void run(std::uint32_t group, double us) {
    now += 125 + random() % 250;
    const auto took = static_cast<std::uint64_t>(us * kTicksOfUs);
    const bool timed = stats.begin(group);
    if (timed) now += kReading;
    const std::uint64_t from = now - (timed ? kReading : 0);
    if (looks) stats.look();
    now += took;
    if (timed) stats.timed(group, from, now), ++readings;
    sums[group] += static_cast<double>(took);
    squares[group] += static_cast<double>(took) * static_cast<double>(took);
    ++counts[group];
  }
  double sum_error(std::uint32_t g) const { return stats.read(g).sum / sums[g] - 1; }
  double variance_error(std::uint32_t g) const {
    const GroupStats::Snapshot s = stats.read(g);
    const auto n = static_cast<double>(s.known);
    const double mean = sums[g] / counts[g];
    return (s.squares / n - s.sum / n * s.sum / n) / (squares[g] / counts[g] - mean * mean) - 1;
  }
  double all() const {
    double sum = 0;
    for (const double s : sums) sum += s;
    return sum;
  }
  double all_known() const {
    double sum = 0;
    for (std::uint32_t g = 0; g < stats.size(); ++g) sum += stats.read(g).sum;
    return sum;
  }

  static inline std::int64_t no_core = 0;  // ns that its thread has had none so far
  GroupStats stats;
  std::mt19937_64 random{7};
  std::uint64_t now = 1'000'000;
  std::vector<double> sums, squares, counts;
  std::int64_t readings = 0;
  bool looks = false;  // somebody does while the next one runs
};

// One in `period` of n, from `phase` on, takes `heavy` us, the others 0.1; with another group between them, if `mixed`.
void bimodal(int n, int period, int phase, double heavy, bool mixed) {
  SCOPED_TRACE(testing::Message() << n << " of which one in " << period << " takes " << heavy << " us, from " << phase
                                  << (mixed ? ", mixed" : ""));
  Clockwork c(2);
  for (int i = 0; i < n; ++i) {
    c.run(0, i % period == phase ? heavy : 0.1);
    if (mixed) c.run(1, 0.05);
  }
  EXPECT_EQ(c.stats.read(0).known, static_cast<std::uint64_t>(n));
  EXPECT_NEAR(c.sum_error(0), 0, 0.02);
  EXPECT_NEAR(c.variance_error(0), 0, 0.05);
  EXPECT_NEAR(c.all_known() / c.all(), 1, 0.02);
}

TEST(GroupStats, ShortAndLongOnesInOneGroup) {
  for (const bool mixed : {false, true}) {
    for (const int phase : {0, 5, 15}) {
      bimodal(2000, 16, phase, 20'000, mixed);
      bimodal(2000, 10, phase % 10, 2'000, mixed);
    }
    bimodal(20'000, 1000, 999, 2'000, mixed);
    bimodal(20'000, 16, 5, 200, mixed);
    bimodal(20'000, 5000, 4000, 400'000, mixed);
  }
}

// Longer than a brisk one, shorter than what is sure to be seen in a gap: the estimate is noisy, but not biased.
TEST(GroupStats, WhatIsNeitherShortNorLong) {
  for (const double heavy : {1.0, 5.0, 12.0, 20.0, 35.0, 60.0}) {
    for (const int period : {3, 16, 100}) {
      Clockwork c(2);
      for (int i = 0; i < 1'000'000; ++i)
        c.run(i % 7 == 0 ? 1 : 0, c.random() % static_cast<std::uint64_t>(period) == 0 ? heavy : 0.1);
      EXPECT_NEAR(c.sum_error(0), 0, 0.06) << heavy << " us, one in " << period;
      EXPECT_NEAR(c.sum_error(1), 0, 0.1) << heavy << " us, one in " << period;
    }
  }
}

TEST(GroupStats, HeavyTail) {
  Clockwork c(1);
  std::uniform_real_distribution<double> u(1e-7, 1);
  for (int i = 0; i < 200'000; ++i) c.run(0, 0.1 * std::pow(u(c.random), -1 / 1.5));
  EXPECT_NEAR(c.sum_error(0), 0, 0.03);
  EXPECT_NEAR(c.variance_error(0), 0, 0.3);
}

TEST(GroupStats, OfSeveralGroupsEachHasItsOwn) {
  Clockwork c(3);
  std::exponential_distribution<double> e(1);
  for (int i = 0; i < 300'000; ++i) {
    c.run(0, 0.2 * e(c.random));
    c.run(1, 0.3);
    if (i % 3 == 0) c.run(2, 12);
  }
  for (const std::uint32_t g : {0u, 1u, 2u}) EXPECT_NEAR(c.sum_error(g), 0, 0.02) << g;
}

// Pauses are in step with the program: the first one each time is a short one.
TEST(GroupStats, PausesInStep) {
  for (const int period : {2, 4, 10, 40}) {
    Clockwork c(3);
    for (int i = 0; i < 400'000; ++i) {
      if (i % period == 0) {
        c.stats.pause(c.now);
        c.now += 5'000'000;
      }
      c.run(0, i % period == 0 ? 0.02 : 0.2);
      if (i % period == 1) c.run(1, 0.3);
    }
    EXPECT_NEAR(c.sum_error(0), 0, 0.02) << period;
    EXPECT_NEAR(c.sum_error(1), 0, 0.02) << period;
  }
}

// Fragments that make others run between, so long.
TEST(GroupStats, WhatMakesFragmentsIsNobodys) {
  for (const double making : {0.1, 1.0, 20.0, 300.0}) {
    for (const double heavy : {0.1, 100.0, 3000.0}) {
      for (const int period : {1, 2, 10, 70}) {
        SCOPED_TRACE(testing::Message() << making << " us for each " << period << ", one in 300 is " << heavy << " us");
        Clockwork c(3);
        for (int i = 0; i < 400'000; ++i) {
          if (i % period == 0) {
            c.stats.begin_making(2);
            c.now += static_cast<std::uint64_t>(making * kTicksOfUs);
          }
          c.run(0, c.random() % 300 == 0 ? heavy : 0.1);
          c.run(1, 0.3);
        }
        // The first may be taken for somebody's long one.
        for (const std::uint32_t g : {0u, 1u})
          EXPECT_NEAR(c.sum_error(g), 0, 0.05 + making * kTicksOfUs / c.sums[g]) << g;
      }
    }
  }
}

// The one whose long fragments are rare is long for the first time between equals.
TEST(GroupStats, TheFirstLongOneIsFoundOutLater) {
  Clockwork c(4);
  for (int i = 0; i < 4000; ++i) {
    for (const std::uint32_t g : {0u, 1u, 2u, 3u}) c.run(g, g == 2 && i >= 1000 && i % 100 == 0 ? 1000 : 0.1);
  }
  for (const std::uint32_t g : {0u, 1u, 2u, 3u}) EXPECT_NEAR(c.sum_error(g), 0, 0.05) << g;
}

// Once only, between equals: nothing but a look tells whose it was.
TEST(GroupStats, WhoLooksSeesWhichOneIsLong) {
  Clockwork c(4);
  for (int i = 0; i < 4000; ++i) {
    for (const std::uint32_t g : {0u, 1u, 2u, 3u}) {
      c.looks = g == 2 && i == 2500;
      c.run(g, c.looks ? 200'000 : 0.03);
    }
  }
  for (const std::uint32_t g : {0u, 1u, 2u, 3u}) EXPECT_NEAR(c.sum_error(g), 0, 0.05) << g;
}

// ... in a `while`, whose turns are fragments that make others, and the first ones slow.
TEST(GroupStats, ALongOneIsNotTakenForMaking) {
  for (const int slow : {0, 1, 3}) {
    Clockwork c(2);
    for (int i = 0; i < 5000; ++i) {
      c.stats.begin_making(1);
      c.now += i < slow ? 200'000 : 500;
      c.run(0, i == 2500 ? 200'000 : 0.03);
    }
    EXPECT_NEAR(c.sum_error(0), 0, 0.02) << slow;
  }
}

// It becomes longer or shorter for good.
TEST(GroupStats, TheProgramChanges) {
  Clockwork c(2);
  for (const double us : {0.1, 0.3, 3.0, 0.05, 30.0, 0.1, 3000.0, 0.2}) {
    for (int i = 0; i < 5000; ++i) c.run(0, us), c.run(1, 0.1);
  }
  EXPECT_NEAR(c.sum_error(0), 0, 0.02);
  EXPECT_NEAR(c.sum_error(1), 0, 0.05);
}

TEST(GroupStats, FewAreTimed) {
  Clockwork c(2);
  for (int i = 0; i < 100'000; ++i) c.run(static_cast<std::uint32_t>(i % 2), 0.1);
  EXPECT_LT(c.readings, 100'000 / 18);
  EXPECT_TRUE(c.stats.tiny(0));
}

// A long one lets others be timed, but for no more than a part of what it took.
TEST(GroupStats, ALongOnePaysForReadings) {
  Clockwork c(1);
  for (int i = 0; i < 1'000'000; ++i) c.run(0, i % 1000 == 0 ? 40 : 0.1);
  EXPECT_LT(static_cast<double>(c.readings) - 1'000'000 / 18., 0.03 * 1000 * 40 * kTicksOfUs / kTiming);
}

TEST(GroupStats, PausesAreNobodys) {
  Clockwork c(1);
  for (int i = 0; i < 100'000; ++i) {
    c.run(0, 0.3);
    if (i % 5 != 0) continue;
    c.stats.pause(c.now);
    c.now += 1'000'000;
  }
  EXPECT_NEAR(c.sum_error(0), 0, 0.02);
}

TEST(GroupStats, ACoreLostOnceMakesNoGroupLong) {
  Clockwork c(1);
  for (int i = 0; i < 20'000; ++i) {
    c.run(0, i % 5000 == 4999 ? 4000 : 0.1);
    EXPECT_TRUE(i < 10 || c.stats.tiny(0));
  }
}

// The votes see few long ones among many, but one that runs in place hides all that could run meanwhile.
TEST(GroupStats, WhatIsLongOnAverageIsNotTiny) {
  for (const int every : {4, 10, 60, 200}) {
    Clockwork c(1);
    int tiny = 0, brief = 0;
    for (int i = 0; i < 10'000; ++i) {
      c.run(0, i % every == 1 ? 50'000 : 0.1);
      tiny += c.stats.tiny(0) ? 1 : 0;
      brief += c.stats.brief(0) ? 1 : 0;
    }
    EXPECT_LT(tiny, every) << "every " << every;
    EXPECT_LT(brief, every) << "every " << every;
  }
}

// As in valgrind, where a queue costs more as well.
TEST(GroupStats, WhatIsTinyIsSoWhereAllIsSlow) {
  constexpr std::uint64_t kTook = 100'000;
  const auto tiny = [](GroupStats::Cost cost) {
    GroupStats stats(1, cost);
    for (std::uint64_t i = 0; i < 20; ++i) {
      if (stats.begin(0)) stats.timed(0, i * kTook, (i + 1) * kTook);
    }
    return stats.tiny(0);
  };
  EXPECT_FALSE(tiny({kReading, kTiming}));
  EXPECT_TRUE(tiny({20 * kReading, 20 * kTiming}));
}

TEST(GroupStats, WhereManyAreLongNoneIsTiny) {
  Clockwork c(1);
  for (int i = 0; i < 200; ++i) c.run(0, i % 2 == 0 ? 2000 : 0.1);
  EXPECT_FALSE(c.stats.tiny(0));
  EXPECT_FALSE(c.stats.brief(0));
  for (int i = 0; i < 60'000; ++i) c.run(0, 0.1);
  EXPECT_TRUE(c.stats.tiny(0));
}

// Of two programs on one core each would take the other's time for its own: light kernels weighed as much as those that
// are worth shipping, and were shipped.
TEST(GroupStats, WhatWaitedForACoreTookNoLonger) {
  for (const bool tells : {true, false}) {
    Clockwork c(2);
    c.stats.resumed();
    const auto run = [&](std::uint32_t group, double us) {
      c.run(group, us);
      c.run(1, 0.2);
    };
    for (int i = 0; i < 20'000; ++i) {
      const bool waits = i % 500 == 499;
      if (waits && tells) Clockwork::no_core += static_cast<std::int64_t>(4'000 * kTicksOfUs * ns_per_tick());
      run(0, waits ? 4'000.2 : 0.2);
    }
    const GroupStats::Snapshot s = c.stats.read(0);
    const double us = s.sum / static_cast<double>(s.known) / kTicksOfUs;
    if (tells) {
      EXPECT_LT(us, 1);
      EXPECT_TRUE(c.stats.tiny(0));
    } else {
      EXPECT_NEAR(us, 8.2, 0.5) << "then they took so long";
    }
  }
}

// Of heavy ones it counts: they take so long where others use the cores.
TEST(GroupStats, WhatIsHeavyTakesAsLongAsItTakes) {
  Clockwork c(1);
  c.stats.resumed();
  for (int i = 0; i < 100; ++i) {
    Clockwork::no_core += 500'000;
    c.run(0, 1'000);
  }
  EXPECT_NEAR(c.stats.mean(0) / kTicksOfUs, 1'000, 1);
}

// The reader of one value is let run in no time, and 300 of them in as many times that: kernels whose values many
// wait for seemed heavy, alone or among others that are not timed.
TEST(GroupStats, WhatTheRuntimeDoesMeanwhileIsNoKernels) {
  Clockwork c(2);
  constexpr std::uint64_t kAside = 10 * static_cast<std::uint64_t>(kTicksOfUs);
  for (int i = 0; i < 20'000; ++i) {
    c.run(0, 0.2);
    const bool timed = c.stats.begin(1);
    const std::uint64_t from = c.now;
    c.now += kAside + 500;
    c.stats.aside(kAside);
    if (timed) c.stats.timed(1, from, c.now);
  }
  for (const std::uint32_t group : {0U, 1U}) EXPECT_NEAR(c.stats.mean(group) / kTicksOfUs, 0.2, 0.05) << group;
  EXPECT_TRUE(c.stats.tiny(1));
}

TEST(GroupStats, OneThatRunsIsNotKnownYet) {
  GroupStats stats(1, {kReading, kTiming});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(stats.begin(0));
    stats.timed(0, 1000, 1000 + kReading + 1'000'000);
  }
  ASSERT_TRUE(stats.begin(0));
  const GroupStats::Snapshot s = stats.read(0);
  EXPECT_EQ(s.count, 4u);
  EXPECT_EQ(s.known, 3u);
  EXPECT_EQ(s.sum, 3'000'000);
}

}  // namespace
}  // namespace tessera::runtime
