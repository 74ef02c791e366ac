// Role: the communication role. One thread at a time moves the transport on and handles what arrives.
//
// While the workers are busy it is the communication thread. When it sees an idle worker and no
// traffic it gives the role up and wakes that worker, which then drives communication itself and
// runs brief fragments without giving it back: a message that makes one ready, and the message that
// its result causes, wake nobody. Longer work makes the worker pass the baton: it lets go of the role,
// wakes the communication thread, and runs the work.
//
// Nobody may be left to believe that somebody else drives. Who takes the role: the communication
// thread after each pass_baton(), and a worker that finds nothing to do and the role free. Who lets go:
//   worker, in drive():  always passes the baton.
//   communication thread, while it sleeps: so a worker that has become idle takes the role, and sends what it has made
//     itself, without anybody being woken for that. Whoever passes the baton wakes it wherever it sleeps.
//   communication thread, giving up to an idle worker: it lets go, then looks whether a worker is
//     still idle, and takes the role back if not. A worker that stops being idle looks afterwards
//     whether the role is held, and passes the baton if not (worker_loop). Both orders are sequentially
//     consistent: one of the two sees the other. A worker that stays idle comes to take the role.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/memory/lock.hpp"
#include "runtime/threads/threads.hpp"
#include "runtime/transport/transport.hpp"
#include "runtime/work/wait_counts.hpp"

namespace tessera::runtime {

class alignas(kLine) Role {
 public:
  bool try_take() {
    if (!mutex_.try_lock()) return false;
    held_.store(true);
    return true;
  }
  void let_go() {
    held_.store(false);
    mutex_.unlock();
  }
  // Somebody has it; or the communication thread sleeps, and will take it for what comes.
  bool held(std::memory_order order = std::memory_order_seq_cst) const { return held_.load(order); }

  // Any thread: the communication thread is to take it.
  void pass_baton(Transport& transport) {
    baton_.store(1);
    notify_one(baton_);
    if (asleep_.load()) transport.wake();
  }
  // ---- communication thread
  void await_baton() {
    wait_while(baton_, 0u);
    baton_.store(0);
  }
  // Sleeps in the transport, and others may take it meanwhile. Whether this thread has it again.
  bool sleep_without(Transport& transport, Clock::time_point until) {
    asleep_.store(true);
    mutex_.unlock();
    transport.wait(until);
    asleep_.store(false);
    return try_take();
  }

 private:
  SpinMutex mutex_;
  std::atomic<bool> held_{false};
  std::atomic<bool> asleep_{false};
  std::atomic<std::uint32_t> baton_{1};
};

}  // namespace tessera::runtime
