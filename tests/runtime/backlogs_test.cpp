// What values of others hold here, and how they hear of it.
#include "runtime/node/backlogs.hpp"

#include <gtest/gtest.h>

#include <variant>
#include <vector>

namespace tessera::runtime {
namespace {

constexpr std::int64_t kMb = 1 << 20;
constexpr std::size_t kBytes = 1 << 20;

class OfOthers : public ::testing::Test {
 protected:
  OfOthers() : transports_(make_inproc_transports({.ranks = 3})), comm_(*transports_[0]), backlogs(comm_, 3) {}
  ~OfOthers() override {
    for (abi::Value* v : values) abi::release(v);
  }
  void come(std::int32_t from, std::size_t bytes = kBytes) {
    values.push_back(abi::value_bytes(bytes));
    Parcel p;
    p.values.emplace_back(abi::retain(values.back()));
    backlogs.came(Rank{from}, p);
  }
  void go(std::size_t count) {
    for (; count > 0; --count) {
      abi::release(values.back());
      values.pop_back();
    }
  }
  // What rank `to` hears of the next look, a millisecond later.
  std::vector<Backlog> heard_by(std::int32_t to, bool busy = false) {
    backlogs.turn(now += Backlogs::kTells, busy);
    std::vector<Backlog> all;
    for (bool any = true; any;) {
      any = transports_[static_cast<std::size_t>(to)]->progress([&](Rank, Parcel&& p) {
        if (const Message m = decode(std::move(p)); const auto* b = std::get_if<Backlog>(&m)) all.push_back(*b);
      });
    }
    return all;
  }

 private:
  std::vector<std::unique_ptr<Transport>> transports_;
  Communicator comm_;

 protected:
  Backlogs backlogs;
  Clock::time_point now{};
  std::vector<abi::Value*> values;
};

TEST_F(OfOthers, MuchIsToldToWhoseItIs) {
  for (int k = 0; k < 7; ++k) come(1);
  EXPECT_TRUE(heard_by(1).empty()) << "little";
  come(1), come(1);
  const auto heard = heard_by(1);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_NEAR(heard[0].bytes, 9 * kMb, kMb / 2);
  EXPECT_TRUE(heard_by(2).empty());
  EXPECT_TRUE(heard_by(1).empty()) << "nothing has changed";
}

TEST_F(OfOthers, WhatGoesIsTold) {
  for (int k = 0; k < 12; ++k) come(1);
  ASSERT_EQ(heard_by(1).size(), 1u);
  go(2);
  EXPECT_NEAR(heard_by(1).at(0).bytes, 10 * kMb, kMb / 2);
  go(4);
  EXPECT_EQ(heard_by(1).at(0).bytes, 0) << "little is nothing";
  go(6);
  EXPECT_TRUE(heard_by(1).empty());
  EXPECT_EQ(backlogs.next(Clock::time_point::max()), Clock::time_point::max()) << "nobody looks any more";
}

TEST_F(OfOthers, OnceInAMillisecond) {
  for (int k = 0; k < 12; ++k) come(1);
  ASSERT_EQ(heard_by(1).size(), 1u);
  EXPECT_LT(backlogs.next(Clock::time_point::max()), Clock::time_point::max());
  go(2);
  backlogs.turn(now + Backlogs::kTells / 2, false);
  EXPECT_EQ(heard_by(1).size(), 1u) << "of both looks";
}

TEST_F(OfOthers, WhetherFragmentsRun) {
  for (int k = 0; k < 12; ++k) come(1);
  EXPECT_FALSE(heard_by(1).at(0).busy);
  EXPECT_TRUE(heard_by(1, true).at(0).busy);
  EXPECT_TRUE(heard_by(1, true).empty());
  EXPECT_FALSE(heard_by(1).at(0).busy);
}

TEST_F(OfOthers, SmallValuesAreNotLookedAt) {
  for (int k = 0; k < 4000; ++k) come(1, Backlogs::kLarge - 1);
  EXPECT_TRUE(heard_by(1).empty());
}

TEST_F(OfOthers, WhatOthersTellIsAddedUp) {
  backlogs.on(Rank{1}, {20 * kMb, true});
  backlogs.on(Rank{2}, {10 * kMb, false});
  EXPECT_EQ(backlogs.elsewhere(), 30 * kMb);
  EXPECT_TRUE(backlogs.busy());
  backlogs.on(Rank{1}, {15 * kMb, false});
  EXPECT_EQ(backlogs.elsewhere(), 25 * kMb);
  EXPECT_FALSE(backlogs.busy());
  backlogs.on(Rank{1}, {0, false});
  backlogs.on(Rank{2}, {0, false});
  EXPECT_EQ(backlogs.elsewhere(), 0);
}

}  // namespace
}  // namespace tessera::runtime
