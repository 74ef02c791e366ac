#include "balancer/auto/backed.hpp"

#include <utility>

#include "balancer/central/messages.hpp"
#include "balancer/steal/steal.hpp"

namespace tessera::balancer {
namespace {

constexpr std::uint64_t kNoOrder = 0;
// Who plans does not hear of it.
constexpr bool untold(std::uint64_t theft) { return (theft & kOfGrowth) != 0; }

bool is_of_stealing(const Message& m) {
  return std::holds_alternative<StealRequest>(m) || std::holds_alternative<StealRefuse>(m) ||
         std::holds_alternative<StealRevoke>(m) || std::holds_alternative<StealWake>(m);
}

class Backed final : public Policy {
 public:
  Backed(Rank self, std::unique_ptr<Policy> plans, std::unique_ptr<Policy> steals)
      : theft_(theft_from(self)), plans_(std::move(plans)), steals_(std::move(steals)) {}

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
      Shipped own = *shipped;
      own.ticket = is_theft(shipped->ticket) ? shipped->ticket & ~theft_ : kNoTheft;
      if (own.ticket == kNoTheft) plans_->step(now, event, out);
      steal(now, own, out);
      if (own.ticket == kNoTheft) return;
      if (!untold(shipped->ticket) && !shipped->fragments.empty()) plans_->step(now, event, out);
    } else if (const auto* arrived = std::get_if<Arrived>(&event); arrived != nullptr && is_theft(arrived->ticket)) {
      const std::uint64_t told = untold(arrived->ticket) ? kNoOrder : arrived->ticket;
      plans_->step(now, Arrived{arrived->from, arrived->fragments, told}, out);
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
      if (auto* ship = std::get_if<Ship>(&out[i])) ship->ticket |= theft_;
    }
  }

  const std::uint64_t theft_;
  std::unique_ptr<Policy> plans_, steals_;
};

}  // namespace

std::unique_ptr<Policy> make_backed(Rank self, std::unique_ptr<Policy> plans, std::unique_ptr<Policy> steals) {
  return std::make_unique<Backed>(self, std::move(plans), std::move(steals));
}

}  // namespace tessera::balancer
