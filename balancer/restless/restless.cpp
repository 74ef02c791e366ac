#include "balancer/restless/restless.hpp"

#include <utility>

#include "balancer/random.hpp"

namespace tessera::balancer {
namespace {

class Restless : public Policy {
 public:
  explicit Restless(const Setup& setup)
      : self_(setup.rank),
        ranks_(static_cast<std::uint64_t>(setup.ranks)),
        groups_(static_cast<std::uint32_t>(setup.groups.size())),
        random_(self_number()) {}

  // Some of what may be ready, every now and then: the host ships what is there. Half of the shipments go to the next
  // rank, and half of what arrives is about to leave again, so that fragments with the same inputs take the same ways.
  // Of series that have run here some are to run elsewhere from now on, as a plan would have it.
  void step(Time now, const Event& event, Actions& out) override {
    if (const auto* ran = std::get_if<SeriesRan>(&event)) return settle(*ran, out);
    if (const auto* received = std::get_if<Received>(&event)) {
      if (const auto* plan = std::get_if<SeriesPlan>(&received->message)) out.emplace_back(SettleSeries{plan->places});
      return;
    }
    if (std::holds_alternative<Arrived>(event) && random_.below(2) == 0) {
      armed_ = true;
      out.emplace_back(SetTimer{0, now + 5'000});
    }
    if (std::holds_alternative<TimerFired>(event)) {
      armed_ = false;
      const std::uint64_t further = random_.below(2) == 0 ? 1 : random_.below(ranks_);
      Ship ship{++ticket_, Rank{static_cast<std::int32_t>((self_number() + further) % ranks_)}, {}};
      for (std::uint32_t g = 0; g < groups_; ++g) {
        if (random_.below(3) != 0)
          ship.fragments.push_back({Group{g}, static_cast<std::int64_t>(1 + random_.below(3))});
      }
      if (ship.to != self_) out.emplace_back(std::move(ship));
    }
    if (std::exchange(armed_, true)) return;
    out.emplace_back(SetTimer{0, now + static_cast<Time>(20'000 + random_.below(100'000))});
  }

 private:
  void settle(const SeriesRan& ran, Actions& out) {
    for (const SeriesWork& w : ran.ran) {
      if (random_.below(4) != 0) continue;
      SeriesPlan plan{{{w.series, Rank{static_cast<std::int32_t>(random_.below(ranks_))}}}};
      if (w.home == self_) {
        out.emplace_back(SettleSeries{std::move(plan.places)});
      } else {
        out.emplace_back(Send{w.home, std::move(plan)});
      }
    }
  }
  std::uint64_t self_number() const { return static_cast<std::uint64_t>(index(self_)); }

  const Rank self_;
  const std::uint64_t ranks_;
  const std::uint32_t groups_;
  Random random_;
  std::uint64_t ticket_ = 0;
  bool armed_ = false;
};

}  // namespace

const PolicyInfo& restless_info() {
  static const PolicyInfo info{
      .name = "restless",
      .summary = "moves fragments all the time, wherever to: for tests of programs and of Tessera",
      .parameters = {},
      .make = [](const Setup& s) -> std::unique_ptr<Policy> { return std::make_unique<Restless>(s); },
      .settles = [](const Settings&) { return true; },
  };
  return info;
}

}  // namespace tessera::balancer
