// Untold: what other ranks are to hear of names with known uses, and can wait for: it goes out together, at most once
// in a millisecond.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "runtime/comm/messages.hpp"
#include "runtime/memory/lock.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

class Communicator;

// Any thread puts in; the communication thread tells.
class Untold {
 public:
  void read(Rank home, const abi::Name& n) {
    put(home, [&](Told& t) { t.used.read.push_back(n); });
  }
  void used_up(Rank home, const abi::Id& id) {
    put(home, [&](Told& t) { t.used.used_up.push_back(id); });
  }
  // `whom`: the holder, if `to` is who has sent it the value.
  void drop(Rank to, Rank whom, const abi::Id& id) {
    put(to, [&](Told& t) { add_to(t.drop, whom, id); });
  }
  static void add_to(Drop& drop, Rank whom, const abi::Id& id) {
    whom == Rank{-1} ? drop.ids.push_back(id) : drop.passed.push_back({whom, id});
  }

  // What is due goes out, or all.
  void tell(Communicator&, Clock::time_point now, bool all = false);
  Clock::time_point next(Clock::time_point otherwise) const {
    return any_.load(std::memory_order_relaxed) ? next_ : otherwise;
  }

 private:
  struct Told {
    Used used;
    Drop drop;
  };
  template <class F>
  void put(Rank to, F f) {
    const std::lock_guard hold(mutex_);
    f(told_[to]);
    any_.store(true, std::memory_order_relaxed);
  }
  SpinMutex mutex_;
  std::map<Rank, Told> told_;
  std::atomic<bool> any_{false};
  Clock::time_point next_{};
};

}  // namespace tessera::runtime
