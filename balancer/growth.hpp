// How many fragments become ready for each that finishes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "balancer/message.hpp"

namespace tessera::balancer {

// Growth watches fragments make others (searches, trees). Where b become ready on this rank, by
// themselves, for each that finishes, one that is ready stands for 1 + b + b^2 + ...: a few
// positions of a search, each of a microsecond and with millions below it, are worth a message
// that their own weight would never repay.
class Growth {
 public:
  explicit Growth(std::int32_t threads) : threads_(threads), running_(threads) {}
  // `before` and `after`: ready here before and after `finished` fragments had finished; what came
  // and went by shipments is in both or neither. A step in which nothing finished does not count:
  // the start of a program says nothing of how fragments make others. What runs is no longer ready and has not
  // finished: where something is ready all threads run, else as few as explain what is told.
  void told(std::int64_t before, std::int64_t after, std::int64_t finished) {
    const std::int64_t ran = running_;
    running_ = after > 0 ? threads_ : std::clamp<std::int64_t>(ran + before - finished, 0, threads_);
    if (finished == 0) return;
    const std::int64_t born = std::max<std::int64_t>(0, after - before + finished + running_ - ran);
    born_ += static_cast<double>(std::min(born, kMostOfOne * finished));
    finished_ += static_cast<double>(finished);
    if (finished_ > kMemory) {
      born_ *= kMemory / finished_;
      finished_ = kMemory;
    }
  }
  // Fragments make others here, rather than that one makes a few at the start. A mean says little of
  // the few that are left then: they may be leaves.
  bool grows() const { return factor() >= kGrows; }
  // heard: fragments make others on another rank. They may here too, until enough have finished to know.
  void heard() { heard_ = true; }
  bool may_grow() const { return finished_ < kSamples ? heard_ : grows(); }
  // made: what those that finished here made, for others to know.
  Offspring made() const {
    if (finished_ < kSamples) return Offspring::unknown;
    return born_ < kFew * finished_ ? Offspring::none : Offspring::some;
  }
  // elsewhere: what those that went to another rank made there. Where they make none, what becomes ready here is no
  // offspring of what finishes here: the next step of a program, made in one place, and not a search.
  void elsewhere(Offspring there) {
    if (there != Offspring::unknown) barren_elsewhere_ = there == Offspring::none;
  }
  // At least 1, at most kMost: how many fragments one that is ready stands for.
  double factor() const {
    if (finished_ < kSamples || barren_elsewhere_) return 1;
    const double b = std::min(born_ / finished_, 1 - 1 / kMost);
    return 1 / (1 - b);
  }

 private:
  static constexpr double kMemory = 1000;  // completions
  static constexpr double kSamples = 16;   // before it is more than a guess
  static constexpr double kMost = 100;
  static constexpr std::int64_t kMostOfOne = 16;  // more is a loop that is spread out, and no search
  static constexpr double kGrows = 4;
  static constexpr double kFew = 0.25;  // each made

  const std::int64_t threads_;
  std::int64_t running_;
  double born_ = 0, finished_ = 0;
  bool heard_ = false;
  bool barren_elsewhere_ = false;
};

}  // namespace tessera::balancer
