// Lead: how far a worker makes fragments ahead of those that run. What is made long before its inputs are there waits
// in cold memory, and takes much of it; made too late, nobody sees what could run meanwhile. So with many fragments
// waiting, a worker with nothing to run makes no more, and looks on, until some of them have ceased to wait. If none
// does for some time, then what can run may be yet to be made. How long, and how many more it makes then:
//
//   - While fewer than `most_ahead` wait: kPatience and kStep, and each time that this happens again, before as few
//   wait
//     as in the beginning, twice as long and twice as many, up to a bound; and not as long where it has looked on for
//     most of the time, for somebody may be slow, and there may be other work.
//   - When as many wait: kFewMore, after kLongPatience, which doubles each time, up to a bound.
//     What ceases to wait lets only half as many be made, until fewer wait again.
//
// It does not wait as long when it is called: nothing goes on in the whole run (protocol/waves.hpp). Then it makes few
// more, and twice as many at each call before something ceases to wait. A call is a hint and no more: a worker that is
// held goes on in the end, whatever others do. Until fewer wait than when it went on it *gropes*. So how many wait
// beyond `most_ahead` is bounded by how long nothing ceases to, not by how long the run takes. A pure machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tessera::runtime {

// Fragments of a rank that may wait for inputs before it makes more only reluctantly. Tests set it before the run.
inline std::int64_t most_ahead = 16'384;

class Lead {
 public:
  static constexpr std::int64_t kAhead = 1024;
  static constexpr std::int64_t kStep = kAhead / 2;
  static constexpr std::int64_t kMany = kAhead / 2;  // wait: what comes by data then is due (fragment/cf.hpp)
  static constexpr std::int64_t kMostStep = 4 * kAhead;
  // In ticks, some 0.4 ns each. Another rank's fragment and its message take less than the first,
  static constexpr std::uint64_t kPatience = 50'000;
  static constexpr std::uint64_t kMostPatience = 10'000'000;
  // and so much idleness is looked at for its share of the time, of which so many parts of one more are too much.
  static constexpr std::uint64_t kLong = 10'000'000;
  static constexpr std::uint64_t kMostIdle = 3;
  // With `most_ahead` waiting: some 10 ms, and 10 s.
  static constexpr std::uint64_t kLongPatience = 25'000'000;
  static constexpr std::uint64_t kLongestPatience = kLongPatience << 10;
  // What can run of the loop that comes first then does not wait, and does not count.
  static constexpr std::int64_t kFewMore = 64;
  static constexpr std::uint32_t kInOrder = 3;

  // So many may wait in any case.
  explicit Lead(std::int64_t from = kAhead)
      : from_(std::min(from, most_ahead)), least_step_(std::clamp<std::int64_t>(from_ / 2, 1, kStep)) {}

  // Of this rank `waiting` fragments wait for inputs, `woken` have ceased to since it began, and it has been called so
  // often. True: make no more now.
  bool enough(std::int64_t waiting, std::int64_t woken, std::uint64_t now, std::uint32_t calls = 0) {
    const std::uint64_t since = last_ == 0 ? 0 : now - last_;
    const bool called = std::exchange(calls_, calls) != calls;
    const bool many = waiting >= most_ahead;
    (held_ && !found_ ? idle_ : busy_) += since;
    if (!many) long_patience_ = kLongPatience;
    if (waiting < groped_from_) gropes_ = in_order_ = 0;
    if (woken != woken_) few_more_ = least_step_;
    if (!held_ && waiting >= most_) {
      held_ = true;
      latest_ = now;
      low_ = waiting - least_step_;
    } else if (held_) {
      if (woken != woken_) latest_ = now;
      if (waiting <= low_) {
        const bool few = waiting < from_;
        const std::int64_t most = many ? waiting + least_step_ / 2 : std::min(waiting + least_step_, most_ahead);
        release(std::max(from_, most), few ? least_step_ : step_, few ? kPatience : patience_);
      } else if (many) {
        if (called || now - latest_ > long_patience_) in_vain(waiting, called);
      } else if (called || now - latest_ > patience_ || (idle_ > kLong && idle_ > kMostIdle * busy_)) {
        release(std::min(waiting + step_, most_ahead), std::min(2 * step_, kMostStep),
                std::min(2 * patience_, kMostPatience));
      }
    }
    if (!held_ && idle_ > kLong) idle_ = busy_ = 0;
    found_ = false;
    last_ = now;
    woken_ = woken;
    return held_;
  }
  // It has gone on with many waiting, and no fewer wait now: what they wait for may stand in any loop. That something
  // has ceased to says little, for in each step of a loop that others are ahead of something may.
  // Then how often it has gone on so; else 0.
  std::uint32_t gropes() const { return gropes_; }
  // Of these the first few, when it was called: what is missing then is mostly what the program has next. Where
  // somebody runs something long meanwhile, which that may wait for, it is not.
  bool goes_in_order() const { return gropes_ != 0 && in_order_ == gropes_ && gropes_ <= kInOrder; }
  // Nobody else works: it waits for nobody.
  void is_alone() {
    held_ = false;
    gropes_ = in_order_ = 0;
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
  void in_vain(std::int64_t waiting, bool called) {
    release(waiting + (called ? few_more_ : kFewMore), step_, patience_);
    if (called) {
      few_more_ *= 2;
    } else {
      long_patience_ = std::min(2 * long_patience_, kLongestPatience);
    }
    if (called && in_order_ == gropes_) ++in_order_;
    ++gropes_;
    groped_from_ = waiting;
  }
  std::int64_t from_, least_step_;
  bool held_ = false;
  bool found_ = false;
  std::uint32_t gropes_ = 0, in_order_ = 0;
  std::int64_t groped_from_ = 0;  // with so many waiting it went on
  std::uint32_t calls_ = 0;
  std::int64_t most_ = from_;        // that may wait
  std::int64_t step_ = least_step_;  // how many more, should it be released in vain
  std::uint64_t patience_ = kPatience;
  std::uint64_t long_patience_ = kLongPatience;
  std::int64_t few_more_ = least_step_;  // at the next call
  std::int64_t low_ = 0;                 // while it is held: with so few waiting it is released
  std::int64_t woken_ = 0;
  std::uint64_t last_ = 0, latest_ = 0;  // ticks: of the last question, and when one was last seen to cease waiting
  std::uint64_t idle_ = 0, busy_ = 0;    // ticks: spent in looking on, and in making and running
};

// Vain: has a worker made Lead::kAhead fragments, and all of them wait, and nothing has ceased to meanwhile? Or do so
// many more wait than when it last was so, whatever else goes on? Then what they wait for may stand in a loop that is
// listed behind those that are made.
class Vain {
 public:
  // `began`: of those that it has made, so many wait or have waited. Afterwards it counts anew.
  bool enough(std::int64_t began, std::int64_t ceased) {
    const std::int64_t many = std::min(Lead::kAhead, most_ahead), waiting = began - ceased;
    if (ceased != ceased_) {
      ceased_ = ceased;
      from_ = began;
    }
    fewest_ = std::min(fewest_, waiting);
    if (began - from_ < many && waiting - fewest_ < many) return false;
    from_ = began;
    fewest_ = waiting;
    return true;
  }

 private:
  std::int64_t from_ = 0, ceased_ = 0;
  std::int64_t fewest_ = 0;  // have waited since
};

}  // namespace tessera::runtime
