// Gate: while a sweep takes what is on the pages, it is closed: nobody notes that a fragment has ended, and no value
// that is noted is let go of. Whoever does that passes it; who is inside a kernel need not stop, and waits when he
// comes out. To pass costs a worker no atomic operation: it is the one who closes who has all processors see that.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace tessera::runtime::journal {

// Of one worker.
using Inside = std::atomic<std::uint8_t>;

// Of this process: a value may be noted by several of its ranks.
class Gate {
 public:
  static void enter(Inside& inside) {
    inside.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (state_.load(std::memory_order_acquire) != kOpen) [[unlikely]]
      wait(inside);
  }
  static void leave(Inside& inside) { inside.store(0, std::memory_order_release); }
  // Those who come to it from now on; or not any more.
  static void add(Inside*);
  static void remove(Inside*);

  // Others than workers pass one by one.
  class Alone {
    const std::lock_guard<std::mutex> hold_{mutex_};
  };
  // Nobody is inside.
  class Closed {
   public:
    Closed();
    ~Closed();
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

   private:
    const std::lock_guard<std::mutex> hold_{mutex_};
    const std::uint8_t before_;
  };

 private:
  // ordered: it is open, and the system has no way to have all processors see that it is closed. Then each who enters
  // does.
  enum State : std::uint8_t { kOpen, kOrdered, kClosed };
  [[gnu::noinline, gnu::cold]] static void wait(Inside&);
  static std::atomic<std::uint8_t> state_;
  static std::mutex mutex_;
  static std::vector<Inside*> all_;
};

class Passing {
 public:
  explicit Passing(Inside& inside) : inside_(inside) { Gate::enter(inside_); }
  ~Passing() { Gate::leave(inside_); }
  Passing(const Passing&) = delete;
  Passing& operator=(const Passing&) = delete;

 private:
  Inside& inside_;
};

}  // namespace tessera::runtime::journal
