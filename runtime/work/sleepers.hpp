// Sleepers: where idle workers of a rank wait for work, and how the rank knows that all of them do.
//
// A worker announces its sleep, looks into every queue once more, and only then sleeps; a pusher
// pushes and then looks for sleepers. Both orders are sequentially consistent (memory/lock.hpp), so
// either the worker sees the work or the pusher sees the sleeper.
//
// `transitions` changes each time a worker goes to sleep or wakes: reading it before and after
// looking at the queues proves that nothing ran in between.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/threads/threads.hpp"

namespace tessera::runtime {

class Sleepers {
 public:
  // Worker: announce; then check the queues; then sleep(ticket) or cancel().
  std::uint32_t announce() {
    const std::uint32_t ticket = epoch_.load();
    transitions_.fetch_add(1);
    count_.fetch_add(1);
    return ticket;
  }
  void cancel() {
    count_.fetch_sub(1);
    transitions_.fetch_add(1);
  }
  void sleep(std::uint32_t ticket) {
    wait_while(epoch_, ticket);
    cancel();
  }
  // Pusher: after the push.
  void wake_one() {
    if (count_.load() == 0) return;
    epoch_.fetch_add(1);
    notify_one(epoch_);
  }
  void wake_all() {
    epoch_.fetch_add(1);
    notify_all(epoch_);
  }
  // Announced and not yet cancelled: idle, if not asleep.
  std::int32_t count() const { return count_.load(); }
  bool any() const { return count_.load(std::memory_order_relaxed) != 0; }
  std::uint64_t transitions() const { return transitions_.load(); }

 private:
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<std::int32_t> count_{0};
  std::atomic<std::uint64_t> transitions_{0};
};

}  // namespace tessera::runtime
