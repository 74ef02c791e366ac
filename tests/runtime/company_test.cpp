// How many workers work, beside a program of which it is known how fast so many of them run it.
#include "runtime/work/company.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace tessera::runtime {
namespace {

constexpr double kTicksOfMs = 2'500'000;

// So many fragments in a millisecond with so many workers, each of so many ticks.
struct Program {
  std::function<double(int)> rate;
  double kernel = 250;
};

// Time goes by in steps of 20 us, at each of which the first worker looks.
class Time {
 public:
  explicit Time(int workers) : company(workers) {}
  // What part of `ms` fewer than all, or exactly `of`, worked.
  double pass(double ms, const Program& p, int of = 0) {
    int fewer = 0, steps = 0;
    for (const auto until = now_ + static_cast<std::uint64_t>(ms * kTicksOfMs); now_ < until; ++steps) {
      now_ += 50'000;
      const double ran = p.rate(company.active()) * 0.02;
      fragments += ran;
      kernels_ += ran * p.kernel;
      company.goes_on(now_);
      if (company.looks(now_)) company.look(now_, fragments, kernels_);
      fewer += of == 0 ? !company.all_work() : company.active() == of;
    }
    return static_cast<double>(fewer) / steps;
  }
  std::uint64_t now() const { return now_; }
  Company company;

 private:
  double fragments = 0;
  std::uint64_t now_ = 1'000'000'000;
  double kernels_ = 0;
};

TEST(Company, WhoIsInTheWayStaysAway) {
  Time time(2);
  const Program p{[](int workers) { return workers == 1 ? 10'000 : 4'000; }};
  time.pass(30, p);
  EXPECT_GT(time.pass(4'000, p), 0.95) << "and is tried less and less often";
  EXPECT_FALSE(time.company.stays_away(0, time.now()));
  EXPECT_TRUE(time.company.stays_away(1, time.now()));
  EXPECT_FALSE(time.company.stays_away(1, time.now() + Company::kLong)) << "the first one runs something long";
}

TEST(Company, WhoHelpsStays) {
  for (const double gain : {1.0, 1.2, 1.9}) {
    Time time(2);
    EXPECT_LT(time.pass(4'000, {[&](int workers) { return workers == 1 ? 10'000 : 10'000 * gain; }}), 0.04) << gain;
  }
}

TEST(Company, OfManySomeStayAway) {
  const std::vector<double> rates = {0, 10, 18, 0, 24, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 8};
  Time time(16);
  const Program p{[&](int workers) { return rates[static_cast<std::size_t>(workers)] * 1'000; }};
  time.pass(300, p);
  EXPECT_GT(time.pass(4'000, p, 4), 0.9);
}

TEST(Company, LongKernelsAreForAll) {
  Time time(4);
  const Program light{[](int workers) { return 20'000 / workers; }};
  time.pass(500, light);
  ASSERT_EQ(time.company.active(), 1);
  const Program heavy{[](int workers) { return 2'000.0 * workers; }, 6'000};
  time.pass(15, heavy);
  EXPECT_TRUE(time.company.all_work());
  EXPECT_LT(time.pass(2'000, heavy), 0.01) << "nobody tries";
}

TEST(Company, WhatChangesIsTriedAgain) {
  Time time(2);
  const Program alone{[](int workers) { return workers == 1 ? 10'000 : 4'000; }};
  const Program together{[](int workers) { return workers == 1 ? 10'000 : 16'000; }};
  for (int k = 0; k < 3; ++k) {
    time.pass(4'000, alone);
    EXPECT_GT(time.pass(500, alone), 0.9);
    time.pass(4'000, together);
    EXPECT_LT(time.pass(500, together), 0.1);
  }
}

TEST(Company, FewFragmentsTellNothing) {
  Time time(2);
  EXPECT_EQ(time.pass(1'000, {[](int workers) { return workers == 1 ? 800.0 : 90.0; }}), 0);
}

}  // namespace
}  // namespace tessera::runtime
