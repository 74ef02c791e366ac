// The gate: while it is closed nobody is inside.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "runtime/journal/gate.hpp"

namespace tessera::runtime::journal {
namespace {

// Each has two counters that differ only inside. What a processor has still to write elsewhere keeps back that its
// worker has entered: so each writes to memory that is far away before.
TEST(Gate, NobodyIsInsideWhileItIsClosed) {
  constexpr std::size_t kWorkers = 3;
  struct alignas(64) Worker {
    Inside inside{0};
    std::atomic<std::uint64_t> begun{0}, ended{0};
    std::vector<std::uint64_t> far = std::vector<std::uint64_t>(std::size_t{1} << 21);
  };
  std::array<Worker, kWorkers> workers;
  for (Worker& w : workers) Gate::add(&w.inside);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (Worker& w : workers) {
    threads.emplace_back([&] {
      for (std::size_t at = 0; !stop.load(std::memory_order_relaxed);) {
        for (int k = 0; k < 24; ++k) {
          at = (at * 5 + 8191) % w.far.size();
          w.far[at] = at;
        }
        const Passing here(w.inside);
        w.begun.store(w.begun.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        for (int k = 0; k < 20; ++k) std::atomic_signal_fence(std::memory_order_seq_cst);
        w.ended.store(w.ended.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      }
    });
  }
  std::uint64_t inside = 0, closed = 0, passed = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < until) {
    {
      const Gate::Closed here;
      ++closed;
      for (const Worker& w : workers) {
        for (int k = 0; k < 20; ++k) inside += w.ended.load() != w.begun.load() ? 1 : 0;
      }
    }
    for (int k = 0; k < 200; ++k) std::atomic_signal_fence(std::memory_order_seq_cst);
    // Who waits for a core would find it closed each time.
    if (closed % 16 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  stop.store(true);
  for (std::thread& t : threads) t.join();
  for (Worker& w : workers) {
    passed += w.ended.load();
    Gate::remove(&w.inside);
  }
  EXPECT_EQ(inside, 0u) << "of " << closed << " times";
  EXPECT_GT(closed, 10u);
  EXPECT_GT(passed, 1000u);
}

// A worker and others, who pass one by one, do not wait for each other; nor does anybody for who is not inside.
TEST(Gate, OthersPassOneByOne) {
  Inside inside{0};
  Gate::add(&inside);
  {
    const Passing here(inside);
    const Gate::Alone other;
  }
  { const Gate::Closed closed; }
  Gate::remove(&inside);
}

}  // namespace
}  // namespace tessera::runtime::journal
