// Threads of a rank, and how they wait for each other.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

#include "runtime/threads/clock.hpp"

namespace tessera::runtime {

class Thread {
 public:
  Thread() = default;
  // `rank`: as Simulation has it.
  template <class Body>
  explicit Thread(Body body, std::int32_t rank = Simulation::kSame) {
    if (simulation != nullptr) {
      number_ = simulation->start(rank, std::move(body));
    } else {
      thread_ = std::thread(std::move(body));
    }
  }
  bool joinable() const { return number_ >= 0 || thread_.joinable(); }
  void join() {
    if (number_ >= 0) {
      simulation->join(std::exchange(number_, -1));
    } else {
      thread_.join();
    }
  }

 private:
  std::thread thread_;
  int number_ = -1;
};

// The processor time of this thread; of a simulation none: it would not be the same twice.
inline std::int64_t thread_cpu_ns() {
  timespec t{};
  if (simulation == nullptr) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// How long this thread could have run and had no core to run on, as far as the kernel tells (schedstat); of a
// simulation none. About a microsecond.
std::int64_t thread_no_core_ns();

// As those of std::atomic.
template <class T>
void wait_while(const std::atomic<T>& word, T old) {
  if (simulation == nullptr) return word.wait(old);
  while (word.load() == old) simulation->wait(&word, Simulation::Time::max());
}
template <class T>
void notify_one(std::atomic<T>& word) {
  simulation == nullptr ? word.notify_one() : simulation->notify(&word, false);
}
template <class T>
void notify_all(std::atomic<T>& word) {
  simulation == nullptr ? word.notify_all() : simulation->notify(&word, true);
}

inline void sleep_for(Clock::duration time) {
  if (simulation == nullptr) return std::this_thread::sleep_for(time);
  for (const auto until = Clock::now() + time; Clock::now() < until;) simulation->wait(nullptr, until);
}

}  // namespace tessera::runtime
