// What workers count of what they make is what was made: exactly at first, about so many later, long loops always.
#include "runtime/work/births.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tessera::runtime {
namespace {

// Groups 0: who makes; 1: a kernel; 2: a loop; 3: a call that repeats; 4: another maker.
class BirthsOf : public testing::Test {
 protected:
  BirthsOf() {
    for (std::uint32_t b = 0; b < 5; ++b) {
      blocks_[b].index = blocks_[b].group = b;
      blocks_[b].kind = b == 2 ? abi::Kind::range : abi::Kind::atomic;
      blocks_[b].layout = "ii";
      blocks_[b].frame_words = blocks_[b].capacity = 2;
      cf_[b] = allocate_cf(blocks_[b], &scope_, {b + std::uint64_t{1}, 5});
    }
    blocks_[3].flags = abi::kRepeats;
  }
  ~BirthsOf() override {
    for (abi::Cf* c : cf_) free_cf(c);
  }
  void make(Births& births, std::uint32_t group, std::int64_t first = 0, std::int64_t last = 0,
            std::uint32_t maker = 0) {
    abi::frame_int(cf_[group], 0) = first, abi::frame_int(cf_[group], 1) = last;
    if (births.noted(*cf_[group])) births.note(*cf_[group], *cf_[maker]);
  }
  static GroupBirths of(const Births& births, std::uint32_t group) {
    GroupBirths g;
    births.add_to(group, g);
    return g;
  }
  abi::Scope scope_{{}, 1};
  abi::Block blocks_[5]{};
  abi::Cf* cf_[5];
  Births births_{5};
};

TEST_F(BirthsOf, TheFirstOnesAreCountedOneByOne) {
  for (int k = 0; k < 500; ++k) {
    make(births_, 1);
    make(births_, 2, 3, 3 + k % 80);  // some are long
    make(births_, 2, 5, 4 - k % 3);   // some have no turns
    make(births_, 3, 1, 10);
  }
  std::int64_t turns = 0;
  for (int k = 0; k < 500; ++k) turns += k % 80 + 1;
  EXPECT_EQ(of(births_, 1).born, 500);
  EXPECT_EQ(of(births_, 1).steps, 0);
  EXPECT_EQ(of(births_, 1).maker, 0u);
  EXPECT_EQ(of(births_, 2).born, 1000);
  EXPECT_EQ(of(births_, 2).steps, turns);
  EXPECT_EQ(of(births_, 3).born, 500);
  EXPECT_EQ(of(births_, 3).steps, 5000);
  EXPECT_EQ(of(births_, 4).maker, kNoMaker);
}

// Of many short ones a sample stands for all, also where they come in a pattern (of fifty, here); long ones are counted
// each.
TEST_F(BirthsOf, LaterSomeStandForAll) {
  constexpr int kRounds = 200'000;
  std::int64_t noted = 0;
  for (int k = 0; k < kRounds; ++k) {
    make(births_, 1);
    make(births_, 2, 1, 7);
    for (int s = 0; s < 24; ++s)
      make(births_, 3, 1, 2), noted += births_.noted(*cf_[1]) ? (births_.note(*cf_[1], *cf_[0]), 1) : 0;
    if (k % 100 == 0) make(births_, 2, 1, 1'000'000);
  }
  EXPECT_NEAR(static_cast<double>(of(births_, 1).born), 25.0 * kRounds, 0.05 * 25 * kRounds);
  EXPECT_LT(noted, 24.0 * kRounds / 20) << "few are looked at";
  const GroupBirths loops = of(births_, 2);
  const double long_ones = kRounds / 100;
  EXPECT_NEAR(static_cast<double>(loops.born), kRounds + long_ones, 0.1 * kRounds);
  EXPECT_NEAR(static_cast<double>(loops.steps), 7.0 * kRounds + long_ones * 1e6, 0.1 * 7 * kRounds);
}

TEST_F(BirthsOf, LoopsThatAllRanksRunTurnOnEach) {
  make(births_, 2, 10, 109);
  births_.spread(*cf_[2], 4);
  births_.stepped(2, 30), births_.stepped(2, 12);
  EXPECT_EQ(of(births_, 2).steps, 400);
  EXPECT_EQ(of(births_, 2).stepped, 42);
}

TEST_F(BirthsOf, WhoMadeThemIsKnownWhereItIsOne) {
  Births other(5), none(5);
  make(births_, 1), make(births_, 1);
  make(other, 1);
  make(births_, 2, 1, 3), make(births_, 2, 1, 3, 4);
  make(births_, 3, 1, 2), make(other, 3, 1, 2, 4);
  other.stepped(2, 5);
  const auto sum = [&](std::uint32_t group) {
    GroupBirths g;
    for (const Births* b : {&none, &births_, &other, &none}) b->add_to(group, g);
    return g;
  };
  EXPECT_EQ(sum(1).maker, 0u);
  EXPECT_EQ(sum(1).born, 3);
  EXPECT_EQ(sum(2).maker, kManyMakers) << "on one worker";
  EXPECT_EQ(sum(2).steps, 6);
  EXPECT_EQ(sum(2).stepped, 5);
  EXPECT_EQ(sum(3).maker, kManyMakers) << "on two";
  EXPECT_EQ(sum(3).steps, 4);
}

}  // namespace
}  // namespace tessera::runtime
