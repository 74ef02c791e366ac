// Lead: how far a worker makes fragments ahead of those that run. What is made long before its inputs are there waits
// in cold memory, and takes much of it; made too late, nobody sees what could run meanwhile. So with `kAhead` fragments
// waiting, a worker with nothing to run makes no more, and looks on, until kStep of them have ceased to wait. If none
// does for some time, or it has looked on for most of the time, then what can run may be yet to be made: it makes
// kStep, and each time that this happens again, before as few wait as in the beginning, it looks on for twice as long
// and makes twice as many, up to a bound. A pure machine.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tessera::runtime {

class Lead {
 public:
  static constexpr std::int64_t kAhead = 1024;
  static constexpr std::int64_t kStep = kAhead / 2;
  static constexpr std::int64_t kMostStep = 4 * kAhead;
  // In ticks, some 0.4 ns each. Another rank's fragment and its message take less than the first,
  static constexpr std::uint64_t kPatience = 50'000;
  static constexpr std::uint64_t kMostPatience = 10'000'000;
  // and so much idleness is looked at for its share of the time, of which so many parts of one more are too much.
  static constexpr std::uint64_t kLong = 10'000'000;
  static constexpr std::uint64_t kMostIdle = 3;

  // Of this rank `waiting` fragments wait for inputs, and `woken` have ceased to since it began. True: make no more
  // now.
  bool enough(std::int64_t waiting, std::int64_t woken, std::uint64_t now) {
    const std::uint64_t since = last_ == 0 ? 0 : now - last_;
    (held_ && !found_ ? idle_ : busy_) += since;
    if (!held_ && waiting >= most_) {
      held_ = true;
      latest_ = now;
      low_ = waiting - kStep;
    } else if (held_) {
      if (woken != woken_) latest_ = now;
      if (waiting <= low_) {
        const bool few = waiting < kAhead;
        release(std::max(kAhead, waiting + kStep), few ? kStep : step_, few ? kPatience : patience_);
      } else if (now - latest_ > patience_ || (idle_ > kLong && idle_ > kMostIdle * busy_)) {
        release(waiting + step_, std::min(2 * step_, kMostStep), std::min(2 * patience_, kMostPatience));
      }
    }
    if (!held_ && idle_ > kLong) idle_ = busy_ = 0;
    found_ = false;
    last_ = now;
    woken_ = woken;
    return held_;
  }
  // What was answered last.
  bool held() const { return held_; }
  // There is something to run all the same.
  void found() { found_ = true; }

 private:
  void release(std::int64_t most, std::int64_t step, std::uint64_t patience) {
    held_ = false;
    most_ = most;
    step_ = step;
    patience_ = patience;
  }
  bool held_ = false;
  bool found_ = false;
  std::int64_t most_ = kAhead;  // that may wait
  std::int64_t step_ = kStep;   // how many more, should it be released in vain
  std::uint64_t patience_ = kPatience;
  std::int64_t low_ = 0;  // while it is held: with so few waiting it is released
  std::int64_t woken_ = 0;
  std::uint64_t last_ = 0, latest_ = 0;  // ticks: of the last question, and when one was last seen to cease waiting
  std::uint64_t idle_ = 0, busy_ = 0;    // ticks: spent in looking on, and in making and running
};

}  // namespace tessera::runtime
