// BiasedMutex with real threads: what orders a worker's plain writes against another thread's is the processor, which
// no pure machine shows.
#include "runtime/memory/biased.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::runtime {
namespace {

// Under any of its locks both numbers are the same.
class Guarded {
 public:
  void step(std::size_t lock, bool nested) {
    const std::lock_guard hold(locks_[lock % locks_.size()]);
    if (a_ != b_) torn_ = true;
    ++a_;
    if (nested) {
      const std::lock_guard inner(locks_[(lock + 1) % locks_.size()]);
      if (a_ != b_ + 1) torn_ = true;
    }
    ++b_;
  }
  std::int64_t steps() const { return a_ == b_ ? a_ : -1; }
  bool torn() const { return torn_; }

 private:
  std::array<BiasedMutex, 3> locks_;
  std::int64_t a_ = 0, b_ = 0;
  bool torn_ = false;
};

class Biased : public ::testing::Test {
 protected:
  void SetUp() override {
    bias::prepare();
    if (!bias::begin()) GTEST_SKIP() << "no membarrier here, or ThreadSanitizer, which sees none";
  }
  void TearDown() override { bias::end(); }
};

constexpr int kOthers = 3, kOfOthers = 4000;

TEST_F(Biased, AllAreOneLock) {
  Guarded guarded;
  std::atomic<int> left{kOthers};
  std::int64_t of_worker = 0;
  std::thread worker([&] {
    bias::own();
    for (; left.load(std::memory_order_relaxed) > 0; ++of_worker)
      guarded.step(static_cast<std::size_t>(of_worker), of_worker % 3 == 0);
  });
  std::vector<std::thread> others;
  for (int t = 0; t < kOthers; ++t) {
    others.emplace_back([&guarded, &left] {
      for (int i = 0; i < kOfOthers; ++i) guarded.step(static_cast<std::size_t>(i), i % 2 == 0);
      --left;
    });
  }
  for (std::thread& t : others) t.join();
  worker.join();
  EXPECT_FALSE(guarded.torn());
  EXPECT_EQ(guarded.steps(), of_worker + kOthers * kOfOthers);
}

TEST_F(Biased, IsAlsoTheWorkersWhereNobodyElseComes) {
  Guarded guarded;
  std::thread([&] {
    bias::own();
    for (std::size_t i = 0; i < 1000; ++i) guarded.step(i, true);
  }).join();
  EXPECT_EQ(guarded.steps(), 1000);
}

TEST_F(Biased, IsOneWorkersAtATime) { EXPECT_FALSE(bias::begin()); }

// One lock for all whom all ask for, so that it is exclusive before and after.
TEST_F(Biased, EndsWhileOthersWaitForIt) {
  for (int round = 0; round < 10; ++round) {
    BiasedMutex mutex;
    std::int64_t steps = 0;
    std::atomic<bool> ended{false};
    std::vector<std::int64_t> by_thread(3);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < by_thread.size(); ++t) {
      threads.emplace_back([&, t] {
        if (t == 0) bias::own();
        for (int more = 50; more > 0; more -= ended.load() ? 1 : 0) {
          if (t > 0) std::this_thread::sleep_for(std::chrono::microseconds(20));  // they come seldom
          const std::lock_guard hold(mutex);
          ++steps, ++by_thread[t];
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    bias::end();
    ended = true;
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(steps, by_thread[0] + by_thread[1] + by_thread[2]);
    EXPECT_FALSE(bias::on());
    ASSERT_TRUE(bias::begin());
  }
}

}  // namespace
}  // namespace tessera::runtime
