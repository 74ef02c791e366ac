// What looking for dead values costs (runtime/fragment/horizon.hpp).
#include "runtime/fragment/horizon.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/fragment/horizons.hpp"

namespace tessera::runtime {
namespace {

constexpr std::int64_t kWidth = 8;

class HorizonCosts : public testing::Test {
 protected:
  void SetUp() override { runtime::looked_at = &looks_, runtime::found_dead = &dead_; }
  void TearDown() override { runtime::looked_at = nullptr, runtime::found_dead = nullptr; }

  // The steps of a program whose loops exist already `ahead` rows further on, a hull for each element of a row. Returns
  // how many values were there at most.
  std::size_t run(std::int64_t ahead, std::int64_t steps, std::uint64_t bytes) {
    Horizon horizon(nullptr);
    horizon.open();
    std::deque<HeldHull*> held;
    const auto hold_row = [&](std::int64_t row) {
      for (std::int64_t i = 0; i < kWidth; ++i) {
        abi::Hulls hull;
        hull.add(horizon.handle(), row, row, i / 2 * 2, i / 2 * 2 + 1);
        held.push_back(Horizon::hold(hull, nullptr));
      }
    };
    for (std::int64_t row = 0; row < ahead; ++row) hold_row(row);
    std::size_t most = 0, gone = 0;
    std::vector<abi::Id> dead;
    horizon.close();
    for (std::int64_t row = 0; row < steps; ++row) {
      for (std::int64_t i = 0; i < kWidth; ++i) {
        const auto number = static_cast<std::uint64_t>(row * kWidth + i);
        horizon.note(0, {number, number}, {row, i}, bytes, dead);
        Horizon::release(held.front());
        held.pop_front();
        gone += dead.size();
        most = std::max(most, static_cast<std::size_t>(number) + 1 - gone);
        dead.clear();
      }
      hold_row(row + ahead);
    }
    for (HeldHull* h : held) Horizon::release(h);
    Horizon::take_left(dead);
    return most;
  }

  std::atomic<std::size_t> looks_{0}, dead_{0};
};

// A sweep looks at all hulls. There may be far more of these than values since the last one.
TEST_F(HorizonCosts, LookingIsPaidByWhatIsMade) {
  constexpr std::int64_t kAhead = 4000, kSteps = 2000;
  for (const std::uint64_t bytes : {400, 4096, 16384}) {
    looks_ = 0;
    const std::size_t most = run(kAhead, kSteps, bytes);
    const std::uint64_t values = kSteps * kWidth;
    EXPECT_GT(looks_.load(), std::uint64_t{kAhead * kWidth}) << "it has looked";
    EXPECT_LE(looks_.load(), (values + 512) * (64 + bytes / 64) + kAhead * kWidth) << bytes << " B";
    EXPECT_LE(most, 1024 + kAhead * kWidth / (64 + bytes / 64)) << bytes << " B: what is dead goes";
  }
}

// Many that are small and alive, and a few large ones that come and go: these do not pay for all of those each time.
TEST_F(HorizonCosts, ValuesThatStayAreNotLookedAtForEachFewThatGo) {
  Horizon horizon(nullptr);
  horizon.open();
  abi::Hulls all;
  all.add(horizon.handle(), 0, 0);
  HeldHull* held = Horizon::hold(all, nullptr);
  horizon.close();
  std::vector<abi::Id> dead;
  constexpr std::uint64_t kSmall = 20000, kLarge = 2000, kBytes = 64 << 10;
  for (std::uint64_t k = 0; k < kSmall; ++k) horizon.note(0, {k, k}, {0, 0}, 1, dead);
  looks_ = 0;
  for (std::uint64_t k = 0; k < kLarge; ++k) horizon.note(0, {k, ~k}, {1, 0}, kBytes, dead);
  EXPECT_GT(dead.size(), kLarge / 2) << "they go";
  EXPECT_LE(looks_.load(), 2 * (kSmall + kLarge * (64 + kBytes / 64)));
  Horizon::release(held);
  Horizon::take_left(dead);
}

// Of several ranks: rows 0 .. kMade - 1 are there, one of them is read, and steps far ahead of all rows have been made.
class SweepOfRanks : public testing::Test {
 protected:
  static constexpr std::int64_t kMade = 10, kRead = 4, kAhead = 5000;

  void SetUp() override {
    horizon_->close();  // what the body held
    horizon_->share();
    for (std::int64_t t = 0; t < kMade; ++t) note(t);
    hold(kRead);
    for (std::int64_t t = 0; t < kAhead; ++t) hold(100 + t);
  }
  void TearDown() override {
    for (HeldHull* h : held_) Horizon::release(h);
  }
  void hold(std::int64_t row) {
    abi::Hulls hulls;
    hulls.add(horizon_->handle(), row, row);
    held_.push_back(Horizon::hold(hulls, &all_));
  }
  void note(std::int64_t row) { all_.note(horizon_->handle(), 0, {{static_cast<std::uint64_t>(row), 1}, {row, 0}, 8}); }
  std::vector<std::int64_t> dead(const Horizons::Boxes& told) {
    std::vector<std::int64_t> rows;
    for (const Horizons::Dead& d : all_.find_dead(told)) rows.push_back(static_cast<std::int64_t>(d.id.lo));
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  Horizons all_{0, [](Horizons::Whose) {}};
  Horizon* const horizon_ = all_.open(nullptr);
  std::vector<HeldHull*> held_;
};

TEST_F(SweepOfRanks, TellsWhatIsHeldOfTheValuesThereAre) {
  const Horizons::Boxes told = all_.write_down({0});
  EXPECT_EQ(told.at(horizon_->handle()).size(), 1u) << "not what is held ahead";
  EXPECT_EQ(dead(told), (std::vector<std::int64_t>{0, 1, 2, 3, 5, 6, 7, 8, 9}));
}

// What is a rank's own is in no wave; once a fragment that may read any name of its scope leaves, all of these are.
TEST_F(SweepOfRanks, OwnNamesAreInNoWaveUntilOneLeaves) {
  Horizon* const own = all_.open(nullptr);
  Horizon* const beside = all_.open(own);
  const auto are_in = [](const Horizons::Boxes& told, const Horizon* h) { return told.count(h->handle()) != 0; };
  EXPECT_FALSE(are_in(all_.write_down({0}), own));
  Horizons::Boxes held = all_.write_down_own();
  EXPECT_TRUE(are_in(held, own) && are_in(held, beside));
  EXPECT_FALSE(are_in(held, horizon_));
  abi::Hulls hulls;
  hulls.add(beside->handle(), 3, 4);
  all_.share(hulls);
  all_.leave_own(held);
  EXPECT_FALSE(are_in(held, own) || are_in(held, beside)) << "one has left since it was written down";
  EXPECT_TRUE(are_in(all_.write_down({0}), own));
  for (Horizon* h : {beside, own}) {  // as their scope does: the first one last
    h->close();
    delete h;
  }
}

// A scope that ends while the others are asked finds what was found dead as well.
TEST_F(SweepOfRanks, WhatIsFoundDeadStaysNotedUntilItIsGone) {
  std::vector<Horizons::Dead> found = all_.find_dead(all_.write_down({0}));
  const auto noted = [&] {
    std::size_t n = 0;
    horizon_->for_each_value([&](const abi::Id&) { ++n; });
    return n;
  };
  EXPECT_EQ(noted(), static_cast<std::size_t>(kMade));
  found.pop_back();  // somebody waits for it
  all_.remove(found, Horizons::Whose::shared);
  EXPECT_EQ(noted(), 2u);
}

// Steps that are made far ahead hold a box each: these are told as one.
TEST_F(SweepOfRanks, ManyHoldersAreOneBox) {
  for (std::int64_t t = 0; t < kAhead; ++t) {
    for (std::int64_t i = 0; i < 3; ++i) {
      abi::Hulls hulls;
      hulls.add(horizon_->handle(), kRead + 2 + (t * 7) % kAhead, kRead + 2 + (t * 7) % kAhead, 2 * i, 2 * i + 1);
      held_.push_back(Horizon::hold(hulls, &all_));
    }
  }
  for (std::int64_t t = kMade; t < 2 * kAhead; ++t) note(t);
  const Horizons::Boxes told = all_.write_down({0});
  EXPECT_LE(told.at(horizon_->handle()).size(), 4u);
  EXPECT_EQ(dead(told).front(), 0);
  EXPECT_EQ(dead(told)[4], kRead + 1) << "behind " << kRead << ", which is read";
  EXPECT_EQ(dead(told)[5], kAhead + 100) << "and behind all that was made ahead";
}

// Who held it at the cut may have passed it on since, to a rank that had told before: it is behind this sweep's box.
TEST_F(SweepOfRanks, LeavesWhatHasComeSinceTheCut) {
  const Horizons::Boxes told = all_.write_down({0});
  note(100);
  Horizon::release(held_[1]);
  held_.erase(held_.begin() + 1);
  EXPECT_EQ(dead(told), (std::vector<std::int64_t>{0, 1, 2, 3, 5, 6, 7, 8, 9}));
}

// What has no index that tells goes only when nobody holds anything, also far ahead.
TEST_F(SweepOfRanks, KnowsThatSomethingIsHeldThoughNotOfWhatThereIs) {
  constexpr std::int64_t kNoRow = abi::kNoIndex;
  note(kNoRow);
  Horizon::release(held_.front());
  held_.erase(held_.begin());
  const Horizons::Boxes told = all_.write_down({0});
  EXPECT_EQ(dead(told).size(), static_cast<std::size_t>(kMade));
}

}  // namespace
}  // namespace tessera::runtime
