// Pileup: values pile up on a rank, for those who read them are slower than those who make them. While it lasts a
// worker leaves what makes them grow (work/growing.hpp) and loops of which many iterations are left to others, as long
// as these let values go (Node::find_while_piled). It ends when
//
//   - so much has gone that it is as before: what had piled up is read;
//   - it is in vain: a worker has had nothing to run for kPatience, and nothing has gone; or nothing goes on in the
//     whole run (a call, as for Lead). Of several ranks one fragment passes then, for others may wait for just that;
//     if it was not the right one, two do, soon after, and so on. When kMostLets have passed, or what they made is
//     much, it ends, and from then on it is twice as patient, up to a bound.
//
// While it lasts others may go on to read what there is, and as much comes as goes: when so much has gone, one by one,
// as began it, what was in vain before is forgotten.
//
// All that is in vain takes kLeast, and at most a kShare-th of the time. What was before the right one passed is not.
//
// Of several ranks it may be known that it will be over: what is on its way to others comes there, whatever else goes
// on (`sure`: then it lasts), and if most of what was made has been read, who runs fragments elsewhere may be about to
// read the rest (`likely`: then it is kLikely times as patient). If nobody else runs anything (`idle`), others wait for
// what this rank is to make, as it waits for them: then it is in vain after a quarter of kPatience, however patient it
// was before, and at once where the time for that is spent; and what has gone is no reason to go on.
//
// A pure machine. Any worker may look, and what several of them see at once is about right.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

namespace tessera::runtime {

class Pileup {
 public:
  // In ticks, some 0.4 ns each: 4, 130, 16 ms.
  static constexpr std::uint64_t kPatience = 10'000'000, kMostPatience = kPatience << 5, kLeast = kPatience << 2;
  static constexpr std::uint64_t kShare = 16;
  static constexpr std::uint64_t kLikely = 32;
  static constexpr std::int32_t kMostLets = 64;
  // So much more begins it; an eighth, where that is more.
  static constexpr std::int64_t kMore = 2 << 20;
  // Where a balancer shares fragments out: what they read has to be there first.
  static constexpr std::int64_t kMoreShared = 16 << 20;

  // `lets`: so many pass in vain before it ends. Others of one rank wait for what they see: there none do.
  explicit Pileup(std::int64_t least = kMore, std::int32_t lets = kMostLets) : least_more_(least), most_lets_(lets) {}

  enum class Ends { idle, unknown, likely, sure };

  // The values of this rank hold so many bytes; so many have `gone` since it began. Who looks has had nothing to run
  // since `idle_since`; 0: it has.
  void look(std::int64_t bytes, std::uint64_t now, std::uint32_t calls, std::uint64_t idle_since,
            Ends ends = Ends::unknown, std::int64_t gone = 0) {
    if (bytes <= drained_.load(std::memory_order_relaxed)) drained_.store(kDrained, std::memory_order_relaxed);
    if (lasts()) return look_on(bytes, now, calls, ends == Ends::sure ? 0 : idle_since, ends, gone);
    const std::int64_t next = next_.load(std::memory_order_relaxed);
    if (bytes >= next || ends == Ends::sure) {
      begin(bytes, now, calls, ends, gone);
    } else if (bytes + more(bytes) < next) {
      next_.store(bytes + more(bytes), std::memory_order_relaxed);
    }
  }
  // With so much held it begins, or lasts.
  std::int64_t next() const { return next_.load(std::memory_order_relaxed); }
  bool lasts() const { return lasts_.load(std::memory_order_relaxed); }
  // It has begun, and what had piled up is not read yet, whether anybody waits for that or not: then what is nearest to
  // the end of the program goes first, which costs nothing.
  bool drains() const { return drained_.load(std::memory_order_relaxed) != kDrained; }
  // One that makes them grow may be run all the same.
  bool passes() {
    std::int32_t left = passes_.load(std::memory_order_relaxed);
    while (left > 0 && !passes_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {}
    return left > 0;
  }

 private:
  std::int64_t more(std::int64_t bytes) const { return std::max(least_more_, bytes / 8); }
  // Until it is in vain.
  std::uint64_t patience(Ends ends, std::uint64_t now) const {
    if (ends != Ends::idle) return wait_ * times(ends);
    return in_vain_ < kLeast + (now - first_) / kShare ? std::min(wait_, kPatience / 4) : 0;
  }
  static std::uint64_t times(Ends ends) { return ends < Ends::likely ? 1 : kLikely; }
  void begin(std::int64_t bytes, std::uint64_t now, std::uint32_t calls, Ends ends, std::int64_t gone) {
    const std::unique_lock only(mutex_, std::try_to_lock);
    if (!only.owns_lock() || lasts()) return;
    next_.store(bytes + more(bytes), std::memory_order_relaxed);
    if (!drains()) drained_.store(bytes - more(bytes), std::memory_order_relaxed);
    if (first_ == 0) first_ = now;
    const std::uint64_t may = kLeast * times(ends) + (now - first_) / kShare;
    if (in_vain_ >= may && ends != Ends::sure) return;
    wait_ = in_vain_ >= may ? patience_ : std::min(patience_, may - in_vain_);
    low_ = bytes - more(bytes);
    gone_ = gone;
    calls_ = calls;
    least_ = bytes;
    since_ = now;
    most_ = bytes + more(bytes);
    spent_ = 0;
    lets_ = 1;
    passes_.store(0, std::memory_order_relaxed);
    next_.store(INT64_MIN, std::memory_order_relaxed);
    lasts_.store(true, std::memory_order_relaxed);
  }
  void look_on(std::int64_t bytes, std::uint64_t now, std::uint32_t calls, std::uint64_t idle_since, Ends ends,
               std::int64_t gone) {
    const bool idle = idle_since != 0;
    if (!idle && bytes == seen_.load(std::memory_order_relaxed) && calls == calls_.load(std::memory_order_relaxed))
      return;
    const std::unique_lock only(mutex_, std::try_to_lock);
    if (!only.owns_lock() || !lasts()) return;
    seen_.store(bytes, std::memory_order_relaxed);
    if (ends != Ends::idle && gone - gone_ >= more(bytes)) goes_on(now, gone);
    if (bytes < least_) since_ = now;
    if (bytes < least_ || idle_since == 0) least_ = bytes;
    const std::uint64_t since = std::max(since_, idle_since == 0 ? now : idle_since);
    const std::uint64_t vain = now > since ? now - since : 0;
    const bool ends_well = bytes <= low_, called = calls != calls_;
    if (!ends_well && !called && vain < patience(ends, now)) return;
    if (!ends_well) {
      if (!called) in_vain_ += vain, spent_ += vain;
      if (lets_ <= most_lets_ && bytes < most_) return let_pass(bytes, now, calls);
      if (!called) patience_ = std::min(2 * patience_, kMostPatience);
    } else {
      in_vain_ -= spent_;
    }
    lasts_.store(false, std::memory_order_relaxed);
    next_.store(bytes + more(bytes), std::memory_order_relaxed);
  }
  void goes_on(std::uint64_t now, std::int64_t gone) {
    in_vain_ -= std::exchange(spent_, 0);
    wait_ = patience_;
    lets_ = 1;
    since_ = now;
    gone_ = gone;
  }
  void let_pass(std::int64_t bytes, std::uint64_t now, std::uint32_t calls) {
    passes_.store(lets_, std::memory_order_relaxed);
    lets_ *= 2;
    wait_ = std::max<std::uint64_t>(wait_ / 4, kPatience / 16);
    since_ = now;
    least_ = bytes;
    calls_ = calls;
  }

  const std::int64_t least_more_;
  const std::int32_t most_lets_;
  static constexpr std::int64_t kDrained = INT64_MIN;
  std::atomic<std::int64_t> drained_{kDrained};  // with so much held what had piled up is read
  std::atomic<bool> lasts_{false};
  std::atomic<std::int32_t> passes_{0};
  std::atomic<std::int64_t> next_{least_more_};  // held begin it
  std::mutex mutex_;                             // of what follows; who finds it taken looks another time
  std::int64_t low_ = 0, least_ = 0;  // with so many held it ends; were held when somebody last ran, or since
  std::uint64_t since_ = 0;           // something has gone
  std::int64_t gone_ = 0;             // when it began, or last went on
  std::uint64_t wait_ = 0;
  std::int64_t most_ = 0;    // with so many held it has been in vain
  std::uint64_t spent_ = 0;  // in vain, this time
  std::int32_t lets_ = 1;    // so many pass next time
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<std::int64_t> seen_{0};
  std::uint64_t first_ = 0;    // it has begun
  std::uint64_t in_vain_ = 0;  // all together
  std::uint64_t patience_ = kPatience;
};

}  // namespace tessera::runtime
