// Company: how many workers of a rank work. Where fragments take next to nothing, what workers do to each other (what
// one has made lies in another's cache, and so do the locks) can cost more than they gain: then fewer of them are
// faster, and the others stay away. Nobody can tell beforehand, so it is tried: while kernels are light half as many
// work for a moment, and if more fragments end then than before, it stays so. From then on twice as many are tried now
// and then. What is in vain is tried again after twice as long a time.
//
// The first worker always works. All do while it has nothing to run (Node), or runs something long, and when kernels
// are no longer light. A pure machine; what is read by all is one number.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tessera::runtime {

class Company {
 public:
  // In ticks, some 0.4 ns each: a moment (2 ms), what passes before it, in which queues and caches come to what the new
  // number leads to, the first, the least and the longest time between two trials, and for how long the first worker
  // may run one fragment.
  static constexpr std::uint64_t kMoment = 5'000'000, kSettle = 10'000'000;
  static constexpr std::uint64_t kFirst = 10'000'000, kHold = 50'000'000, kMostHold = kHold << 6;
  static constexpr std::uint64_t kLong = 1'250'000;
  // While fewer work, kernels are looked at so often.
  static constexpr std::uint64_t kWatches = 25'000'000;
  // Much may have been made that waits in cold memory: who tries again looks for longer.
  static constexpr std::uint64_t kLongSettle = 32;
  static constexpr double kBetter = 1.15;  // times as many fragments
  // Kernels are light that take 1 us on average, with what they wait for memory, and no longer when they take twice
  // that.
  static constexpr double kLight = 2'500;
  static constexpr double kFewest = 2000;  // fragments of a moment

  explicit Company(int size) : size_(size), active_(size) {}

  int active() const { return active_.load(std::memory_order_relaxed); }
  bool all_work() const { return active() == size_; }
  // Any worker, beside the first one. Where that has gone on for too long all work.
  bool stays_away(int number, std::uint64_t now) const {
    return number >= active() && now < goes_on_.load(std::memory_order_relaxed) + kLong;
  }
  // The first worker goes on to another fragment.
  void goes_on(std::uint64_t now) { goes_on_.store(now, std::memory_order_relaxed); }

  // The first worker: to be told now.
  bool looks(std::uint64_t now) {
    if (next_ == 0) waits_until_ = next_ = now + kFirst;
    return now >= next_;
  }
  // All workers together have run so many fragments since the beginning, and kernels took so many ticks. True: other
  // workers are to work from now on.
  bool look(std::uint64_t now, double fragments, double kernels) {
    const double ran = fragments - fragments_, took = static_cast<double>(now - since_);
    const double kernel = ran > 0 ? (kernels - kernels_) / ran : 0;
    since_ = now, fragments_ = fragments, kernels_ = kernels;
    const int before = active();
    if (phase_ != Phase::settles && !all_work() && kernel > 2 * kLight) {
      all(now);
    } else {
      go_on(now, ran, ran / took, kernel <= kLight);
    }
    return active() > before;
  }

 private:
  enum class Phase { waits, before, settles, tries };
  void all(std::uint64_t now) {
    hold_ = std::min(2 * hold_, kMostHold);
    active_.store(size_, std::memory_order_relaxed);
    up_ = false;
    wait(now);
  }
  void next(Phase p, std::uint64_t at) {
    phase_ = p;
    next_ = at;
  }
  void wait(std::uint64_t now) {
    waits_until_ = now + hold_;
    next(Phase::waits, all_work() ? waits_until_ : now + kWatches);
  }
  int tried() const { return up_ ? std::min(2 * active_at_first_, size_) : active_at_first_ / 2; }

  void go_on(std::uint64_t now, double ran, double rate, bool light) {
    switch (phase_) {
      case Phase::waits:
        if (now < waits_until_) return next(Phase::waits, now + kWatches);
        active_at_first_ = active();
        if (active_at_first_ == size_) up_ = false;
        if (active_at_first_ == 1) up_ = true;
        return next(Phase::before, now + kMoment);
      case Phase::before:
        if (ran < kFewest || (!up_ && !light)) return wait(now);
        rate_ = rate;
        active_.store(tried(), std::memory_order_relaxed);
        return next(Phase::settles, now + std::max(kSettle, hold_ / kLongSettle));
      case Phase::settles:
        return next(Phase::tries, now + kMoment);
      case Phase::tries:
        return end(now, rate >= kBetter * rate_);
    }
  }
  void end(std::uint64_t now, bool better) {
    active_.store(better ? tried() : active_at_first_, std::memory_order_relaxed);
    hold_ = better ? kHold : std::min(2 * hold_, kMostHold);
    if (!better) up_ = !up_;
    wait(now);
  }

  const int size_;
  alignas(64) std::atomic<int> active_;                // all read it,
  alignas(64) std::atomic<std::uint64_t> goes_on_{0};  // and who stays away this
  // The first worker's:
  alignas(64) Phase phase_ = Phase::waits;
  std::uint64_t next_ = 0;  // when to look
  std::uint64_t waits_until_ = 0;
  std::uint64_t hold_ = kHold;
  bool up_ = false;          // twice as many are tried, not half as many
  int active_at_first_ = 0;  // of a trial,
  double rate_ = 0;          // ... and how many fragments ended then
  std::uint64_t since_ = 0;  // the last look
  double fragments_ = 0, kernels_ = 0;
};

}  // namespace tessera::runtime
