// ClockSync: how far this rank's clock is from rank 0's, for what is recorded (--record). It asks rank 0 for the time,
// some times in a row and again every now and then; the quickest answers tell most. Communication thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/threads/clock.hpp"

namespace tessera::runtime {

// An answer: at `at` (ns, here) rank 0's clock was `offset` ahead of ours, give or take `half`.
struct ClockReading {
  std::int64_t at = 0, offset = 0, half = 0;
};

struct ClockFit {
  std::int64_t at = 0, offset = 0;  // ns: then
  double drift = 0;                 // ns per ns since
  std::int64_t error = 0;           // ns at most, between `first` and `last`
  std::int64_t there(std::int64_t here) const {
    return here + offset + static_cast<std::int64_t>(drift * static_cast<double>(here - at));
  }
};

// fit_clock finds offset and drift from the quickest answers of the beginning and of the end. Two clocks are taken to
// run apart by no more than kMostDrift.
inline constexpr double kMostDrift = 1e-4;
ClockFit fit_clock(const std::vector<ClockReading>&, std::int64_t first, std::int64_t last);

class ClockSync {
 public:
  // `ask` sends rank 0 the time here.
  explicit ClockSync(std::function<void(std::int64_t here)> ask) : ask_(std::move(ask)) {}
  void turn(Clock::time_point now);
  Clock::time_point next() const { return waits_ ? Clock::time_point::max() : next_; }
  // Rank 0 answers: it was asked at `sent`, and its clock said `there`.
  void answered(std::int64_t sent, std::int64_t there, Clock::time_point now);
  const std::vector<ClockReading>& readings() const { return readings_; }

 private:
  const std::function<void(std::int64_t)> ask_;
  Clock::time_point next_{};
  bool waits_ = false;
  int in_a_row_ = 0;
  std::vector<ClockReading> readings_;
};

}  // namespace tessera::runtime
