// What names hold, by samples of their values.
#include "runtime/memory/held.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "runtime/memory/value.hpp"

namespace tessera::runtime {
namespace {

using abi::Value;

class HeldTest : public testing::Test {
 protected:
  // Values of a name, of so many bytes each.
  std::vector<Value*> make(std::uint32_t output, int count, std::uint64_t size) {
    std::vector<Value*> values;
    for (int i = 0; i < count; ++i) {
      values.push_back(size == 4 ? abi::value_int(i) : abi::value_bytes(size));
      if (!countdown.next(values.back())) continue;
      countdown.again();
      held->sample(name_of(output), output, values.back());
    }
    return values;
  }
  void free(const std::vector<Value*>& values) {
    for (Value* v : values) abi::release(v);
  }
  double peak_mb(std::uint32_t output) const {
    for (const HeldBytes& h : held->most()) {
      if (h.name == name_of(output)) return static_cast<double>(h.bytes) / 1e6;
    }
    return 0;
  }
  static std::string name_of(std::uint32_t output) { return std::string(1, static_cast<char>('a' + output)); }
  std::shared_ptr<Held> held = std::make_shared<Held>(8);
  HeldCountdown countdown;
};

TEST_F(HeldTest, LargeValuesWholly) {
  const auto values = make(0, 10, 1'000'000);
  EXPECT_NEAR(peak_mb(0), 10, 0.5);
  free(values);
}

// Else a run with a journal would take what waits to be written for a pile, and hold back who makes more.
TEST_F(HeldTest, NotWhatOnlyAJournalKeeps) {
  const auto values = make(0, 10, 1'000'000);
  const auto before = std::exchange(lets_go, [](Value* v) {
    __atomic_store_n(&v->refs, 1, __ATOMIC_RELAXED);  // it takes the last reference
    return false;
  });
  for (Value* v : values) mark_noted(v);
  free(values);
  EXPECT_EQ(held->now(), 0);
  lets_go = [](Value*) { return true; };
  free(values);
  lets_go = before;
  EXPECT_EQ(held->now(), 0);
}

TEST_F(HeldTest, SmallOnesByOneInMany) {
  std::vector<Value*> all;
  // They take turns: 10 MB of the one and 19 of the other.
  for (int i = 0; i < 100'000; ++i) {
    for (Value* v : make(0, 1, 4)) all.push_back(v);
    for (Value* v : make(1, 1, 96)) all.push_back(v);
  }
  EXPECT_NEAR(peak_mb(0), 10, 4);
  EXPECT_NEAR(peak_mb(1), 19, 5);
  free(all);
}

#ifndef __SANITIZE_ADDRESS__  // which would find what is damaged here
TEST_F(HeldTest, ASampleIsWhatItWasBefore) {
  const std::vector<Value*> values = {abi::value_int(7), abi::value_real(1e300), abi::value_bytes(0),
                                      abi::value_bytes(8)};
  for (Value* v : values) {
    held->sample("a", 0, v);
    EXPECT_EQ(overrun(v), Overrun::none);
  }
  static_cast<char*>(values.back()->data)[8] ^= 1;
  EXPECT_EQ(overrun(values.back()), Overrun::behind);
  free(values);
}
#endif

TEST_F(HeldTest, OfAllThatWasMadeThePeakCounts) {
  for (int i = 0; i < 20; ++i) free(make(0, 1, 1'000'000));
  EXPECT_NEAR(peak_mb(0), 1, 0.1);
}

// One name after the other: parts that were never there together are no parts of one whole.
TEST_F(HeldTest, NamesAreTakenAtOneMoment) {
  free(make(0, 10, 1'000'000));
  const auto a = make(0, 4, 1'000'000), b = make(1, 8, 1'000'000);
  EXPECT_NEAR(peak_mb(0), 4, 0.5);
  EXPECT_NEAR(peak_mb(1), 8, 0.5);
  free(a);
  free(b);
}

TEST_F(HeldTest, AValueThatIsAssignedTwiceIsHeldOnce) {
  const auto values = make(0, 1, 1'000'000);
  held->sample(name_of(1), 1, values[0]);
  EXPECT_EQ(peak_mb(1), 0);
  free(values);
}

// Values that pile up and go again are told of each time; such as stay, ever more rarely.
TEST_F(HeldTest, WhatHasGrownIsToldOfOnce) {
  std::vector<Value*> all;
  const auto makes_until_told = [&](int most) {
    for (int mb = 1; mb <= most; ++mb) {
      for (Value* v : make(0, 1, 1'050'000)) all.push_back(v);
      if (held->grows()) return mb;
    }
    return 0;
  };
  EXPECT_EQ(held->pile(), Pile::no);
  EXPECT_EQ(makes_until_told(3), 2);
  EXPECT_FALSE(held->grows());
  EXPECT_EQ(held->pile(), Pile::turns);
  EXPECT_TRUE(held->in_vain());
  EXPECT_EQ(held->pile(), Pile::no);
  EXPECT_EQ(makes_until_told(9), 4) << "they are still there";
  EXPECT_EQ(makes_until_told(9), 8);
  free(all);
  all.clear();
  EXPECT_EQ(makes_until_told(3), 2) << "all of them have gone";
  free(all);
}

TEST_F(HeldTest, ValuesMayOutliveTheRank) {
  const auto values = make(0, 3, 1'000'000);
  held.reset();
  free(values);
}

}  // namespace
}  // namespace tessera::runtime
