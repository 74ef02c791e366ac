#include "runtime/trace/clock_sync.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::runtime {
namespace {

constexpr int kInARow = 8;
constexpr auto kEvery = std::chrono::milliseconds(500);
constexpr std::int64_t kLongEnough = 1'000'000'000;  // ns between two readings for a drift

std::int64_t ns_of(Clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
}

}  // namespace

ClockFit fit_clock(const std::vector<ClockReading>& readings, std::int64_t first, std::int64_t last) {
  if (readings.empty()) return {first, 0, 0, 0};
  const auto quickest = [](auto from, auto to) {
    return *std::min_element(from, to, [](const ClockReading& a, const ClockReading& b) { return a.half < b.half; });
  };
  const auto middle = readings.begin() + static_cast<std::ptrdiff_t>((readings.size() + 1) / 2);
  const ClockReading a = quickest(readings.begin(), middle);
  const ClockReading best = quickest(readings.begin(), readings.end());
  const auto away = [&](const ClockReading& r) {
    return static_cast<double>(std::max(std::abs(r.at - first), std::abs(last - r.at)));
  };
  if (middle != readings.end()) {
    const ClockReading b = quickest(middle, readings.end());
    const double drift =
        static_cast<double>(b.offset - a.offset) / static_cast<double>(std::max<std::int64_t>(1, b.at - a.at));
    if (b.at - a.at >= kLongEnough && std::abs(drift) <= kMostDrift) {
      // What both may be wrong by grows beyond them.
      const double error = static_cast<double>(std::max(a.half, b.half));
      const double beyond = std::max(away(a), away(b)) / static_cast<double>(b.at - a.at);
      return {a.at, a.offset, drift, static_cast<std::int64_t>(error * std::max(1.0, 2 * beyond - 1))};
    }
  }
  return {best.at, best.offset, 0, best.half + static_cast<std::int64_t>(kMostDrift * away(best))};
}

void ClockSync::turn(Clock::time_point now) {
  if (waits_ || now < next_) return;
  waits_ = true;
  in_a_row_ = 0;
  ask_(ns_of(now));
}

void ClockSync::answered(std::int64_t sent, std::int64_t there, Clock::time_point now) {
  const std::int64_t back = ns_of(now), half = (back - sent + 1) / 2;
  readings_.push_back({sent + half, there - (sent + half), half});
  if (++in_a_row_ < kInARow) return ask_(ns_of(Clock::now()));
  waits_ = false;
  next_ = now + kEvery;
}

}  // namespace tessera::runtime
