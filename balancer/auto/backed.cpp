#include "balancer/auto/backed.hpp"

#include <utility>

#include "balancer/steal/steal.hpp"

namespace tessera::balancer {
namespace {

// Tickets of thefts have it, those of plans never: both count from below.
constexpr std::uint64_t kTheft = std::uint64_t{1} << 63;
constexpr std::uint64_t kNoOrder = 0;

bool is_of_stealing(const Message& m) {
  return std::holds_alternative<StealRequest>(m) || std::holds_alternative<StealRefuse>(m) ||
         std::holds_alternative<StealRevoke>(m) || std::holds_alternative<StealWake>(m);
}

class Backed final : public Policy {
 public:
  Backed(std::unique_ptr<Policy> plans, std::unique_ptr<Policy> steals)
      : plans_(std::move(plans)), steals_(std::move(steals)) {}

  void step(Time now, const Event& event, Actions& out) override {
    if (const auto* received = std::get_if<Received>(&event)) {
      const auto* wake = std::get_if<StealWake>(&received->message);
      // Both are told whether fragments make others elsewhere.
      const bool of_both = (wake != nullptr && wake->call) || std::holds_alternative<StealRequest>(received->message);
      const bool of_stealing = is_of_stealing(received->message);
      if (of_stealing) steal(now, event, out);
      if (!of_stealing || of_both) plans_->step(now, event, out);
    } else if (const auto* fired = std::get_if<TimerFired>(&event)) {
      fired->timer == kStealTimer ? steal(now, event, out) : plans_->step(now, event, out);
    } else if (const auto* shipped = std::get_if<Shipped>(&event)) {
      if ((shipped->ticket & kTheft) == 0) return plans_->step(now, event, out);
      Shipped own = *shipped;
      own.ticket &= ~kTheft;
      steal(now, own, out);
    } else if (const auto* arrived = std::get_if<Arrived>(&event);
               arrived != nullptr && (arrived->ticket & kTheft) != 0) {
      plans_->step(now, Arrived{arrived->from, arrived->fragments, kNoOrder}, out);
      steal(now, event, out);
    } else {
      plans_->step(now, event, out);
      steal(now, event, out);
    }
  }

 private:
  void steal(Time now, const Event& event, Actions& out) {
    const std::size_t first = out.size();
    steals_->step(now, event, out);
    for (std::size_t i = first; i < out.size(); ++i) {
      if (auto* ship = std::get_if<Ship>(&out[i])) ship->ticket |= kTheft;
    }
  }

  std::unique_ptr<Policy> plans_, steals_;
};

}  // namespace

std::unique_ptr<Policy> make_backed(std::unique_ptr<Policy> plans, std::unique_ptr<Policy> steals) {
  return std::make_unique<Backed>(std::move(plans), std::move(steals));
}

}  // namespace tessera::balancer
