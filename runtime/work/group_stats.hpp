// GroupStats: how long the kernels' fragments of each group take, on one worker. Written by its worker, read by
// anybody (each number on its own is consistent; a reader may see the last fragment half counted). In ticks.
//
// A fragment is timed: the clock is read before it and after it. Unless its group is brisk, that is, timing would
// cost more than 5 % of what it takes. Of brisk ones every twentieth or so is timed, at random, so that no pattern
// in the program is in step with that; those between, the *gap*, are taken to have lasted as long as those timed.
// The readings around a gap tell how long it was. Where that is more than brisk fragments take, one of them was not:
// what it took goes to the group it was of. Then all groups of the gap are timed for a while, for which the long one
// pays, so that of long ones that come again each is timed.
//
// Somebody looks at the worker now and then while it is in gaps (look()): so of one that takes longer than the time
// between two looks it is known which it was; else by how often those of each group have been long.
//
// A light fragment that took hundreds of microseconds may have waited for a core for most of it, as the system tells:
// that time is no fragment's. (Of heavy ones it counts: where others use the cores they take so long.)
//
// The time of a gap is that of its fragments and of the runtime between them, with fragments that make others. What
// else a worker does is no part of it: it calls pause() before.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/threads/threads.hpp"
#include "runtime/threads/ticks.hpp"

namespace tessera::runtime {

class GroupStats {
 public:
  // What it takes to read the clock, and to time a fragment. Ticks.
  struct Cost {
    std::uint64_t reading = 0, timing = 0;
  };
  static Cost cost_here();

  // ns that the thread that asks has had no core so far
  using NoCore = std::int64_t (*)();

  explicit GroupStats(std::uint32_t groups, Cost cost = cost_here(), NoCore = thread_no_core_ns);

  // Counts a kernel's fragment that is about to run; true: it is to be timed.
  bool begin(std::uint32_t group) {
    One& g = groups_[group];
    count(g);
    if (!g.brisk || left_ == 0) {
      aside_in_gap_ = std::exchange(aside_, 0);
      return true;
    }
    const std::uint32_t at = left_ - 1;
    __atomic_store_n(&gap_[at], group, __ATOMIC_RELAXED);
    __atomic_store_n(&left_, at, __ATOMIC_RELAXED);
    return false;
  }
  // It ran from then to then.
  void timed(std::uint32_t group, std::uint64_t from, std::uint64_t to);

  // For so long the fragment that runs, or the worker after it, does what is the runtime's: a value that many wait for
  // lets them run, or goes to other ranks. Else what few wait for would seem lighter than what many do.
  void aside(std::uint64_t time) { aside_ += time; }

  // The one that was counted last and has ended did not run: it was recalled from a journal. It says nothing of others.
  void recalled(std::uint32_t group) {
    One& g = groups_[group];
    add<std::uint64_t>(g.recalled, 1);
    g.count.store(g.count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  }

  // So many were not even made, for they need not be.
  void skipped(std::uint32_t group, std::uint64_t n) { add<std::uint64_t>(groups_[group].recalled, n); }

  // Counts a fragment that is about to make others (its time is that of those it runs on the spot).
  void begin_making(std::uint32_t group) {
    count(groups_[group]);
    ++making_since_;
  }
  // By another thread, every now and then: notes what runs. False: the worker is in no gap, and there is nothing to
  // note.
  bool look() {
    const std::uint32_t at = __atomic_load_n(&left_, __ATOMIC_RELAXED);
    if (at >= __atomic_load_n(&opened_, __ATOMIC_RELAXED)) return false;
    seen_.store(__atomic_load_n(&gap_[at % kLongestGap], __ATOMIC_RELAXED), std::memory_order_relaxed);
    return true;
  }

  // What the worker does next is no fragment's time.
  void pause() { pause(left_ != opened_ ? ticks() : 0); }
  void pause(std::uint64_t now) {
    if (left_ != opened_) end_gap(now, aside_);
    rest_ += left_;
    __atomic_store_n(&left_, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&opened_, 0, __ATOMIC_RELAXED);
    last_ = 0;
    making_since_ = 0;
  }

  // What has waited until now was no fragment. By its worker, after a wait.
  void resumed() {
    if (const std::uint64_t now = ticks(); now - looked_at_ >= kLookAgain) look_for_core(now);
  }

  void add_bytes(std::uint32_t group, std::int64_t n) { add(groups_[group].bytes, n); }
  void add_bytes_out(std::uint32_t group, std::int64_t n) { add(groups_[group].bytes_out, n); }
  // One that was timed has made values of so many bytes more than it has let go of.
  void grew(std::uint32_t group, std::int64_t bytes) {
    std::atomic<float>& g = groups_[group].growth;
    const float before = g.load(std::memory_order_relaxed);
    const auto times = static_cast<float>(groups_[group].known.load(std::memory_order_relaxed));
    g.store(before + (static_cast<float>(bytes) - before) / std::clamp(times, 1.0F, kLatest),
            std::memory_order_relaxed);
  }
  // Of the latest ones, on average.
  float growth(std::uint32_t group) const { return groups_[group].growth.load(std::memory_order_relaxed); }
  // Known to take a few microseconds at most, nearly each of them, and on average: cheaper to run at once than to
  // queue.
  bool tiny(std::uint32_t group) const { return groups_[group].tiny.holds; }
  // ... a fraction of a millisecond: messages may wait for its end.
  bool brief(std::uint32_t group) const { return groups_[group].brief.holds; }

  // Ticks of one, 0 while none has been timed.
  double mean(std::uint32_t group) const {
    const std::uint64_t n = groups_[group].known.load(std::memory_order_relaxed);
    return n == 0 ? 0 : groups_[group].sum.load(std::memory_order_relaxed) / static_cast<double>(n);
  }

  struct Snapshot {
    std::uint64_t count = 0;      // begun
    std::uint64_t known = 0;      // those whose time is in what follows
    double sum = 0, squares = 0;  // ticks
    std::int64_t bytes = 0;       // of inputs, where somebody weighs them
    std::int64_t bytes_out = 0;   // of outputs, likewise
    std::uint64_t ended = 0;
    std::uint64_t recalled = 0;  // beside those

    Snapshot& operator+=(const Snapshot& s) {
      count += s.count, known += s.known, ended += s.ended, recalled += s.recalled;
      sum += s.sum, squares += s.squares;
      bytes += s.bytes, bytes_out += s.bytes_out;
      return *this;
    }
    // Of one: most outputs travel back, or on, when their fragment moves.
    std::int64_t mean_bytes_out() const { return ended == 0 ? 0 : bytes_out / static_cast<std::int64_t>(ended); }
  };
  // In this order: outputs are counted before their fragment has ended. One may be running.
  Snapshot read(std::uint32_t group) const;
  std::uint32_t size() const { return static_cast<std::uint32_t>(groups_.size()); }
  // Of all groups: fragments begun, and the ticks that they took, as far as is known.
  struct Run {
    double fragments = 0, ticks = 0;
  };
  Run run() const;

 private:
  static constexpr std::uint32_t kMaking = ~std::uint32_t{0}, kNobody = kMaking - 1;  // no groups
  static constexpr std::uint32_t kShortestGap = 12, kLongestGap = 28;
  // How often what is as long as shows in a gap: so far.
  struct How {
    std::uint64_t timed = 0, long_ones = 0;
    double often() const {
      // Who has had none yet may have had the first.
      return (static_cast<double>(long_ones) + 0.25) / static_cast<double>(timed + 1);
    }
  };
  struct Votes {
    std::int32_t for_it = 0;
    bool holds = false;
  };
  struct One {
    std::atomic<std::uint64_t> count{0}, known{0}, recalled{0};
    std::atomic<double> sum{0}, squares{0};
    std::atomic<std::int64_t> bytes{0}, bytes_out{0};
    // What short ones take: mean, and mean of the squares.
    std::atomic<double> usual{0}, usual_squares{0};
    std::atomic<bool> brisk{false};
    std::atomic<float> growth{0};
    // Its worker only:
    Votes tiny, brief;
    double lately = 0, lately_of = 0;  // what the latest ones took on average, and how many these are
    std::int32_t owed = kFirst;        // so many more are timed, brisk or not
    How how;
    double learnt = 0;  // of how many `usual` is
  };
  // A long one of a gap of several groups none of which had had one. It is given to each by the odds that it was
  // theirs.
  struct Doubtful {
    double took;
    std::vector<std::pair<std::uint32_t, double>> odds;
  };

  static void count(One& g) { g.count.store(g.count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  template <class T>
  static void add(std::atomic<T>& to, T n) {
    to.store(to.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void end_gap(std::uint64_t at, std::uint64_t aside);
  void draw_gap();
  void settle(One&, double took, double squares) const;
  static void learn(One&, double took);
  void note_lately(One&, double took, double times) const;
  void long_one(double took);
  void since_last(double before, double took);
  void give(std::uint32_t group, double took, double part);
  void first_long_one(std::uint32_t group);
  double shows_in_gap() const;
  std::int64_t look_for_core(std::uint64_t now);
  double without_wait(double took, double usual, double n);
  void keep_pace(double took);
  void owe(One&, double took) const;

  static constexpr float kLatest = 16;
  static constexpr std::uint64_t kShortTicks = 20000;     // about 8 us
  static constexpr std::uint64_t kBriefTicks = 500000;    // about 200 us
  static constexpr std::uint64_t kLookAgain = 2'500'000;  // about 1 ms
  static constexpr std::int32_t kEnough = 3;              // votes
  static constexpr double kLately = 8192;                 // fragments; who loses his core does so once in thousands
  static constexpr std::int32_t kFirst = 32;              // of each group are timed

  std::vector<One> groups_;
  const Cost cost_;
  const double brisk_below_, tiny_below_;
  const NoCore no_core_;
  std::int64_t had_no_core_ = 0;  // ns, as of
  std::uint64_t looked_at_ = 0;
  // The gap: its fragments' groups are at left_ .. opened_ - 1. Who looks reads these three.
  std::array<std::uint32_t, kLongestGap> gap_{};
  std::uint32_t left_ = 0, opened_ = 0;
  std::uint32_t rest_ = 0;  // left of a gap that was interrupted
  std::uint64_t last_ = 0;  // when the gap began; 0: paused
  double pace_ = 0;         // ticks from one fragment of a gap to the next
  std::uint64_t aside_ = 0,
                aside_in_gap_ = 0;  // since last_: in the gap, or the one that is timed; in the gap before that
  std::uint64_t making_since_ = 0;  // fragments that made others, since then
  How making_;
  double making_time_ = 0;                    // of those that making_ counts
  std::atomic<std::uint32_t> seen_{kNobody};  // the group of the gap's fragment that ran at the last look
  std::uint64_t random_ = 0x9E3779B97F4A7C15u;
  std::vector<Doubtful> doubtful_;
};

}  // namespace tessera::runtime
