#include "runtime/transport/doorbell.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tessera::runtime {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

TEST(Doorbell, ARingAfterTheCountWasReadIsNotSleptOver) {
  Doorbell bell;
  const std::uint32_t seen = bell.count();
  bell.ring();
  const auto begin = Steady::now();
  bell.sleep(seen, begin + 20s);
  EXPECT_LT(Steady::now() - begin, 5s);
}

TEST(Doorbell, SleepEndsAtTheTimeGiven) {
  Doorbell bell;
  const auto begin = Steady::now();
  while (Steady::now() < begin + 20ms) bell.sleep(bell.count(), begin + 20ms);
  bell.sleep(bell.count(), begin - 1s);  // the past
  EXPECT_LT(Steady::now() - begin, 5s);
}

// Work is a number; every increment must be noticed although sleeper and ringers race.
TEST(Doorbell, NoRingIsLost) {
  constexpr int kEach = 20000;
  Doorbell bell;
  std::atomic<int> work{0};
  std::vector<std::thread> ringers;
  for (int k = 0; k < 2; ++k) {
    ringers.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        ++work;
        bell.ring();
      }
    });
  }
  int done = 0;
  const auto begin = Steady::now();
  while (done < 2 * kEach) {
    const std::uint32_t seen = bell.count();
    const int now = work;
    if (now > done) {
      done = now;
    } else {
      bell.sleep(seen, begin + 60s);
      ASSERT_LT(Steady::now(), begin + 50s);
    }
  }
  for (std::thread& t : ringers) t.join();
}

TEST(Doorbell, AllSleepersWake) {
  Doorbell bell;
  const std::uint32_t seen = bell.count();
  const auto begin = Steady::now();
  std::vector<std::thread> sleepers;
  for (int k = 0; k < 4; ++k) {
    sleepers.emplace_back([&] { bell.sleep(seen, begin + 30s); });
  }
  std::this_thread::sleep_for(10ms);
  bell.ring();
  for (std::thread& t : sleepers) t.join();
  EXPECT_LT(Steady::now() - begin, 10s);
}

}  // namespace
}  // namespace tessera::runtime
