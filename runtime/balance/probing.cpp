#include "runtime/balance/probing.hpp"

#include <algorithm>
#include <array>

namespace tessera::runtime {
namespace {

// Payload bytes of each step; zero: latency. (Simulated: probing in balancer/simulator/simulation.cpp.)
// The largest is sent in the last round only: it tells a third more bandwidth than the one before it, and is most of
// what rounds send.
constexpr std::array<std::uint64_t, 9> kSteps{0, 0, 0, 0, 0, 16 << 10, 16 << 10, 256 << 10, 1 << 20};
// Larger payloads than this are sent where values of a quarter of their size are made.
constexpr std::uint64_t kAlways = 16 << 10;
// Where a payload takes so long (s), and the one before it did, larger ones would only keep a slow link from its work.
constexpr double kLong = 0.002;

class ThroughMemory final : public Probing {
 public:
  explicit ThroughMemory(double first_touch) : first_touch_(first_touch) {}

  void begin_round(int round) override {
    round_ = round;
    step_ = 0;
    left_out_ = kSteps.size();
  }
  std::optional<Probe> next(std::uint64_t largest) override {
    if (step_ == kSteps.size()) return std::nullopt;
    if (!wanted(step_, largest)) {
      left_out_ = step_;
      return std::nullopt;
    }
    return Probe{1, kSteps[step_]};
  }
  bool answered(const Probe& p, std::int64_t took, const TrainSpeed&) override {
    if (p.bytes == 0) {
      round_trip_ = std::min(round_trip_, took);
      ++step_;
      return false;
    }
    // The latency is no part of the transfer; but it was measured at another moment, so it may take
    // away only so much.
    const auto transfer = static_cast<double>(std::max(took - round_trip_, took / 2));
    const auto bytes = static_cast<double>(p.bytes);
    bandwidth_ = std::max(bandwidth_, bytes / (transfer + bytes * first_touch_) * 1e9);
    const bool first = kSteps[step_ - 1] == 0;
    step_ = !first && bytes / bandwidth_ > kLong ? kSteps.size() : step_ + 1;
    return !first;
  }
  bool wants_more(std::uint64_t largest) const override { return wanted(left_out_, largest); }

 private:
  bool wanted(std::size_t step, std::uint64_t largest) const {
    if (step >= kSteps.size() || (step + 1 == kSteps.size() && round_ < kRounds)) return false;
    return kSteps[step] <= kAlways || largest >= kSteps[step] / 4;
  }

  const double first_touch_;
  int round_ = 0;
  std::size_t step_ = 0;
  std::size_t left_out_ = kSteps.size();
};

}  // namespace

std::unique_ptr<Probing> probing_through_memory(double first_touch) {
  return std::make_unique<ThroughMemory>(first_touch);
}

}  // namespace tessera::runtime
