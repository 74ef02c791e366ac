// Values that pile up: how long others hold on.
#include "runtime/work/pileup.hpp"

#include <gtest/gtest.h>

namespace tessera::runtime {
namespace {

constexpr std::int64_t kMb = 1 << 20;
constexpr std::uint64_t kPatience = Pileup::kPatience;
constexpr std::uint64_t kFrom = 1000;

TEST(Pileup, LastsUntilItIsAsBefore) {
  Pileup p;
  p.look(kMb, kFrom, 0, 0);
  EXPECT_FALSE(p.lasts());
  p.look(2 * kMb, kFrom, 0, 0);
  EXPECT_TRUE(p.lasts());
  // Others run, and more comes of it at first.
  p.look(5 * kMb, kFrom + 10 * kPatience, 0, 0);
  EXPECT_TRUE(p.lasts());
  p.look(kMb, kFrom + 20 * kPatience, 0, 0);
  EXPECT_TRUE(p.lasts());
  p.look(0, kFrom + 30 * kPatience, 0, 0);
  EXPECT_FALSE(p.lasts());
}

// In which order those run who are ready costs nobody time: that lasts until what had piled up is read.
TEST(Pileup, DrainsUntilItIsAsBefore) {
  Pileup p;
  EXPECT_FALSE(p.drains());
  p.look(2 * kMb, kFrom, 0, 0);
  EXPECT_TRUE(p.drains());
  std::uint64_t now = kFrom;
  for (int k = 0; k < 100000 && p.lasts(); ++k) p.look(3 * kMb, now += kPatience / 16, 0, kFrom);
  EXPECT_FALSE(p.lasts()) << "in vain";
  EXPECT_TRUE(p.drains());
  p.look(kMb, now, 0, 0);
  EXPECT_TRUE(p.drains());
  p.look(0, now, 0, 0);
  EXPECT_FALSE(p.drains());
}

// With 2 MB more than the least that was held since.
TEST(Pileup, BeginsAgainWithAsMuchMore) {
  for (const std::int64_t least : {17, 5}) {
    Pileup p;
    p.look(20 * kMb, kFrom, 0, 0);
    EXPECT_TRUE(p.lasts());
    p.look(17 * kMb, kFrom, 0, 0);
    p.look(least * kMb, kFrom, 0, 0);
    p.look((least + 1) * kMb, kFrom, 0, 0);
    EXPECT_FALSE(p.lasts());
    p.look((least + 3) * kMb, kFrom, 0, 0);
    EXPECT_TRUE(p.lasts());
  }
}

// Lets pass what it does in vain, from `idle` on; the time when it has ended.
std::uint64_t ends_in_vain(Pileup& p, std::int64_t bytes, std::uint64_t idle,
                           Pileup::Ends ends = Pileup::Ends::unknown) {
  std::uint64_t now = idle;
  while (p.lasts()) p.look(bytes, now += kPatience / 64, 0, idle, ends);
  return now;
}

// How long a worker that has nothing to run holds on while nothing goes; then one passes, and more soon after.
TEST(Pileup, InVainSomePass) {
  Pileup p;
  p.look(2 * kMb, kFrom, 0, 0);
  ASSERT_TRUE(p.lasts());
  p.look(2 * kMb, kFrom + kPatience - 1, 0, kFrom);
  EXPECT_FALSE(p.passes());
  p.look(2 * kMb, kFrom + kPatience, 0, kFrom);
  EXPECT_TRUE(p.lasts());
  EXPECT_TRUE(p.passes());
  EXPECT_FALSE(p.passes()) << "one";
  p.look(2 * kMb, kFrom + kPatience + kPatience / 4, 0, kFrom);
  EXPECT_TRUE(p.passes());
  EXPECT_TRUE(p.passes());
  EXPECT_FALSE(p.passes()) << "two";
  // It was the right one.
  p.look(0, kFrom + 2 * kPatience, 0, kFrom);
  EXPECT_FALSE(p.lasts());
}

TEST(Pileup, OnOneRankNonePass) {
  Pileup p(Pileup::kMore, 0);
  p.look(2 * kMb, kFrom, 0, 0);
  ASSERT_TRUE(p.lasts());
  p.look(2 * kMb, kFrom + kPatience, 0, kFrom);
  EXPECT_FALSE(p.lasts());
  EXPECT_FALSE(p.passes());
}

// As much comes as goes, for others go on: what was in vain before that is forgotten, and it lasts.
TEST(Pileup, WhileMuchGoesItIsNotInVain) {
  Pileup p;
  p.look(2 * kMb, kFrom, 0, 0);
  std::uint64_t now = kFrom;
  for (int step = 1; step < 200; ++step) {
    const std::uint64_t idle = now;
    p.look(2 * kMb, now += kPatience, 0, idle, Pileup::Ends::unknown, 2 * kMb * step);
    ASSERT_TRUE(p.lasts()) << step;
  }
  ends_in_vain(p, 2 * kMb, now);
  EXPECT_FALSE(p.lasts());
}

// As many as make much more again end it; so do many. From then on it is twice as patient.
TEST(Pileup, InVainItEnds) {
  Pileup p;
  std::uint64_t now = kFrom, took[2] = {};
  std::int64_t bytes = 0;
  for (std::uint64_t& of : took) {
    bytes += 2 * kMb;
    p.look(bytes, now, 0, 0);
    ASSERT_TRUE(p.lasts());
    const std::uint64_t end = ends_in_vain(p, bytes, now);
    of = end - now;
    now = end;
  }
  EXPECT_GE(took[0], kPatience);
  EXPECT_LE(took[0], 2 * kPatience);
  EXPECT_NEAR(static_cast<double>(took[1]), 2.0 * static_cast<double>(took[0]), static_cast<double>(kPatience) / 2);
  p.look(bytes + 2 * kMb, now += 100 * kPatience, 0, 0);
  ASSERT_TRUE(p.lasts());
  const std::uint64_t since = now;
  while (!p.passes()) p.look(bytes + 2 * kMb, now += kPatience / 64, 0, since);
  p.look(bytes + 4 * kMb, now, 0, 0);
  EXPECT_TRUE(p.lasts()) << "who looks has something to run";
  p.look(bytes + 4 * kMb, now += 8 * kPatience, 0, since);
  EXPECT_FALSE(p.lasts());
}

TEST(Pileup, WhoHasSomethingToRunIsNotHeldInVain) {
  Pileup p;
  p.look(2 * kMb, kFrom, 0, 0);
  for (std::uint64_t now = kFrom; now < kFrom + 100 * kPatience; now += kPatience) {
    p.look(3 * kMb, now, 0, 0);
    ASSERT_TRUE(p.lasts());
  }
}

TEST(Pileup, WhatGoesIsWaitedForAndTheNextTimeAgain) {
  Pileup p;
  std::uint64_t now = kFrom;
  p.look(2 * kMb, now, 0, 0);
  now = ends_in_vain(p, 2 * kMb, now);
  p.look(40 * kMb, now, 0, 0);
  const std::uint64_t idle = now;
  std::int64_t bytes = 40 * kMb;
  while (p.lasts()) {
    ASSERT_GT(bytes, 34 * kMb);
    p.look(bytes -= 64 << 10, now += kPatience, 0, idle);
  }
  EXPECT_EQ(bytes, 35 * kMb);
  p.look(40 * kMb, now, 0, 0);
  ASSERT_TRUE(p.lasts());
  p.look(40 * kMb, now + 2 * kPatience - 1, 0, now);
  ASSERT_FALSE(p.passes()) << "as patient as it had become: what goes may go slowly";
  p.look(40 * kMb, now + 2 * kPatience, 0, now);
  EXPECT_TRUE(p.passes());
}

// Values that are there for long: they grow for 100 s, and nobody has anything else to do while it lasts.
TEST(Pileup, WhatIsInVainTakesAShareOfTheTime) {
  Pileup p;
  std::uint64_t now = kFrom, lasted = 0;
  const std::uint64_t second = 500 * kPatience, end = now + 100 * second;
  for (std::int64_t bytes = 0; now < end; bytes += kMb) {
    p.look(bytes, now, 0, 0);
    const std::uint64_t idle = now;
    while (p.lasts()) p.look(bytes, now += kPatience / 16, 0, idle);
    lasted += now - idle;
    now += second / 100;
  }
  EXPECT_LT(lasted, (now - kFrom) / Pileup::kShare + 2 * Pileup::kLeast);
  EXPECT_GT(lasted, Pileup::kLeast);
}

// Two ranks, each of which has what the other one waits for, would wait for each other, however patient they were
// before, and though as much comes as goes. In a run of 0.2 s they did so for 1.5.
TEST(Pileup, WhereNobodyElseRunsAnythingItIsNotPatient) {
  Pileup p;
  std::uint64_t now = kFrom, waited = 0;
  std::int64_t bytes = 0;
  for (int k = 0; k < 3; ++k) {  // it becomes patient
    p.look(bytes += 4 * kMb, now, 0, 0, Pileup::Ends::likely);
    now = ends_in_vain(p, bytes, now);
  }
  const std::uint64_t from = now;
  int lasted = 0;
  for (int k = 1; k < 100; ++k) {
    p.look(bytes += 4 * kMb, now, 0, 0, Pileup::Ends::likely);
    const std::uint64_t idle = now;
    lasted += p.lasts() ? 1 : 0;
    while (p.lasts()) p.look(bytes, now += kPatience / 64, 0, idle, Pileup::Ends::idle, 4 * k * bytes);
    waited += now - idle;
    now += kPatience;
    bytes = 4 * kMb;
    p.look(bytes, now, 0, 0, Pileup::Ends::idle);
  }
  EXPECT_GT(lasted, 10);
  EXPECT_LE(waited, (now - from) / 4);
}

// Who runs fragments elsewhere may be about to read it.
TEST(Pileup, WhereItsEndIsLikelyItIsMorePatient) {
  Pileup p;
  std::uint64_t now = kFrom;
  p.look(2 * kMb, now, 0, 0, Pileup::Ends::likely);
  ASSERT_TRUE(p.lasts());
  p.look(2 * kMb, now + Pileup::kLikely * kPatience - 1, 0, now, Pileup::Ends::likely);
  EXPECT_FALSE(p.passes());
  p.look(2 * kMb, now + Pileup::kLikely * kPatience, 0, now, Pileup::Ends::likely);
  EXPECT_TRUE(p.passes());
  EXPECT_GE(ends_in_vain(p, 2 * kMb, now, Pileup::Ends::likely), now + Pileup::kLikely * kPatience);
  // That was more than may be in vain where nothing is known, and less than where it is likely.
  now += 2 * Pileup::kLikely * kPatience;
  p.look(4 * kMb, now, 0, 0);
  EXPECT_FALSE(p.lasts());
  p.look(6 * kMb, now, 0, 0, Pileup::Ends::likely);
  EXPECT_TRUE(p.lasts());
  p.look(6 * kMb, now + 2 * kPatience, 0, now);
  EXPECT_TRUE(p.passes()) << "nobody runs any";
}

// What waits for leaving leaves.
TEST(Pileup, WhereItsEndIsSureItLasts) {
  Pileup p;
  std::uint64_t now = kFrom;
  for (std::int64_t bytes = kMb; now < kFrom + 1000 * kPatience; now += kPatience) {
    p.look(bytes, now, 0, kFrom, Pileup::Ends::sure);
    ASSERT_TRUE(p.lasts()) << "however much is held, and whatever was in vain";
    if (now > kFrom + 500 * kPatience) bytes += kMb;
  }
}

TEST(Pileup, AtACallSomePass) {
  Pileup p;
  p.look(2 * kMb, kFrom, 3, 0);
  ASSERT_TRUE(p.lasts());
  std::uint32_t calls = 3;
  for (int n = 1; n <= Pileup::kMostLets; n *= 2) {
    p.look(2 * kMb, kFrom + 1, ++calls, kFrom);
    for (int k = 0; k < n; ++k) ASSERT_TRUE(p.passes()) << n;
    EXPECT_FALSE(p.passes());
  }
  p.look(2 * kMb, kFrom + 1, ++calls, kFrom);
  EXPECT_FALSE(p.lasts());
}

}  // namespace
}  // namespace tessera::runtime
