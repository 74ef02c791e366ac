// GroupStats: what one worker has measured of each group. Written by its worker, read by anybody
// (each number on its own is consistent; a reader may see the last fragment half counted).
//
// Weights are time-stamp-counter ticks here; node/ticks.hpp converts. Groups whose fragments are so
// short that measuring would cost more than 5 % of them are sampled, one fragment in kSample.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace tessera::runtime {

inline std::uint64_t ticks() { return __builtin_ia32_rdtsc(); }
double ns_per_tick();  // measured over the time since the process started

class GroupStats {
 public:
  static constexpr std::uint64_t kSample = 16;

  explicit GroupStats(std::uint32_t groups) : groups_(groups) {}

  // Counts a fragment about to run; true when it is to be measured.
  bool begin(std::uint32_t group) {
    One& g = groups_[group];
    const std::uint64_t n = g.count.load(std::memory_order_relaxed);
    g.count.store(n + 1, std::memory_order_relaxed);
    return !g.short_lived || n % kSample == 0;
  }
  void measured(std::uint32_t group, std::uint64_t t) {
    One& g = groups_[group];
    const double w = static_cast<double>(t);
    const std::uint64_t n = g.samples.load(std::memory_order_relaxed) + 1;
    const double sum = g.sum.load(std::memory_order_relaxed) + w;
    g.sum.store(sum, std::memory_order_relaxed);
    g.squares.store(g.squares.load(std::memory_order_relaxed) + w * w, std::memory_order_relaxed);
    g.samples.store(n, std::memory_order_relaxed);
    // By a vote of the latest fragments, not by the mean: a cold start or a fragment that lost its
    // core for milliseconds says nothing of the others.
    vote(g.votes, t < kShortTicks);
    vote(g.brief_votes, t < kBriefTicks);
    g.short_lived = g.votes >= 3;
  }
  void add_bytes(std::uint32_t group, std::int64_t n) { add(groups_[group].bytes, n); }
  void add_bytes_out(std::uint32_t group, std::int64_t n) { add(groups_[group].bytes_out, n); }
  // Known to take a few microseconds at most: cheaper to run at once than to queue.
  bool tiny(std::uint32_t group) const { return groups_[group].short_lived; }
  // ... a fraction of a millisecond: messages may wait for its end.
  bool brief(std::uint32_t group) const { return groups_[group].brief_votes >= 3; }

  // Ticks of one, 0 while none has been measured.
  double mean(std::uint32_t group) const {
    const std::uint64_t n = groups_[group].samples.load(std::memory_order_relaxed);
    return n == 0 ? 0 : groups_[group].sum.load(std::memory_order_relaxed) / static_cast<double>(n);
  }

  struct Snapshot {
    std::uint64_t count = 0, samples = 0;
    double sum = 0, squares = 0;  // ticks
    std::int64_t bytes = 0;       // of inputs, where somebody weighs them
    std::int64_t bytes_out = 0;   // of outputs, likewise
    std::uint64_t ended = 0;

    Snapshot& operator+=(const Snapshot& s) {
      count += s.count, samples += s.samples, ended += s.ended;
      sum += s.sum, squares += s.squares;
      bytes += s.bytes, bytes_out += s.bytes_out;
      return *this;
    }
    // Of one: most outputs travel back, or on, when their fragment moves.
    std::int64_t mean_bytes_out() const {
      return ended == 0 ? 0 : bytes_out / static_cast<std::int64_t>(ended);
    }
  };
  // In this order: outputs are counted before their fragment has ended. One may be running.
  Snapshot read(std::uint32_t group) const {
    const One& g = groups_[group];
    Snapshot s{g.count.load(std::memory_order_relaxed), g.samples.load(std::memory_order_relaxed),
               g.sum.load(std::memory_order_relaxed), g.squares.load(std::memory_order_relaxed),
               g.bytes.load(std::memory_order_relaxed), g.bytes_out.load(std::memory_order_relaxed)};
    s.ended = std::max(s.samples, s.count - std::min<std::uint64_t>(s.count, 1));
    return s;
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(groups_.size()); }

 private:
  static void add(std::atomic<std::int64_t>& to, std::int64_t n) {
    to.store(to.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  static void vote(int& votes, bool yes) {
    votes = yes ? std::min(votes + 1, 8) : std::max(votes - 2, 0);
  }
  static constexpr std::uint64_t kShortTicks = 20000;   // about 8 us
  static constexpr std::uint64_t kBriefTicks = 500000;  // about 200 us
  struct One {
    std::atomic<std::uint64_t> count{0}, samples{0};
    std::atomic<double> sum{0}, squares{0};
    std::atomic<std::int64_t> bytes{0}, bytes_out{0};
    int votes = 0, brief_votes = 0;  // its worker only, as is:
    bool short_lived = false;
  };
  std::vector<One> groups_;
};

}  // namespace tessera::runtime
