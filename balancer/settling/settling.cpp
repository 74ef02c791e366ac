#include "balancer/settling/settling.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "balancer/settling/settler.hpp"
#include "balancer/settling/steps.hpp"

namespace tessera::balancer {
namespace {

constexpr std::uint32_t kSettleTimer = 24, kIdleTimer = 25;
// What other ranks report of the same step comes within this.
constexpr Time kMoment = 500'000;
// A rank that has nothing for so much of a step says that the plan does not work; not in the first two, which are
// mixed.
constexpr double kIdle = 0.2;

class Settling final : public Policy {
 public:
  Settling(std::unique_ptr<Policy> inner, const Setup& setup, Rank planner, std::int32_t executing)
      : inner_(std::move(inner)),
        self_(setup.rank),
        planner_(planner),
        executing_(executing),
        workers_(std::max(1, setup.workers)),
        told_(setup.groups.size()) {
    for (std::size_t g = 0; g < told_.size(); ++g) told_[g].group = Group{static_cast<std::uint32_t>(g)};
    if (self_ == planner_) settler_.emplace(executing, std::max(1, setup.workers), setup.powers, setup.ship_cost);
  }

  void step(Time now, const Event& event, Actions& out) override {
    if (const auto* ran = std::get_if<SeriesRan>(&event)) {
      if (steps_.told(*ran)) tell(now, planner_, steps_.report(), out);
      return;
    }
    if (const auto* r = std::get_if<Received>(&event); r != nullptr && take(now, r->from, r->message, out)) return;
    if (const auto* fired = std::get_if<TimerFired>(&event); fired != nullptr && fired->timer == kSettleTimer) {
      timer_set_ = false;
      return decide(now, out);
    }
    if (const auto* fired = std::get_if<TimerFired>(&event); fired != nullptr && fired->timer == kIdleTimer) {
      return complain(now, out);
    }
    if (settler_) watch(event);
    watch_idle(now, event, out);
    if (const auto* load = std::get_if<LoadChanged>(&event)) return balance(now, seen(*load), out);
    balance(now, event, out);
  }

 private:
  // What inner has still in mind to move when a plan begins to stand stays, too.
  void balance(Time now, const Event& event, Actions& out) {
    const std::size_t first = out.size();
    inner_->step(now, event, out);
    std::vector<Event> refused;
    for (std::size_t i = first; i < out.size() && !standing_.empty(); ++i) {
      auto* ship = std::get_if<Ship>(&out[i]);
      if (ship == nullptr) continue;
      std::erase_if(ship->fragments, [this](const GroupCount& f) { return settled(f.group); });
      if (ship->fragments.empty()) refused.push_back(Shipped{ship->ticket, ship->to, {}, 0});
    }
    std::erase_if(out, [](const Action& a) {
      const auto* ship = std::get_if<Ship>(&a);
      return ship != nullptr && ship->fragments.empty();
    });
    for (const Event& e : refused) balance(now, e, out);
  }

  bool take(Time now, Rank from, const Message& message, Actions& out) {
    if (const auto* report = std::get_if<SeriesReport>(&message)) {
      if (!settler_) return true;
      settler_->report(from, *report);
      if (!timer_set_) out.push_back(SetTimer{kSettleTimer, now + kMoment});
      timer_set_ = true;
    } else if (const auto* plan = std::get_if<SeriesPlan>(&message)) {
      out.push_back(SettleSeries{plan->places});
    } else if (const auto* stand = std::get_if<SeriesStand>(&message); stand != nullptr && settler_ && from != self_) {
      if (stand->plan == settler_->standing().plan && settler_->fall()) tell_all(now, out);  // a complaint
    } else if (stand != nullptr) {
      plan_ = stand->plan;
      planned_at_ = steps_.count();
      steps_.planned(stand->plan);
      stands(now, stand->groups, out);
    } else {
      return false;
    }
    return true;
  }

  void watch(const Event& event) {
    if (const auto* link = std::get_if<LinkMeasured>(&event)) settler_->link({link->latency, link->bandwidth});
    if (const auto* leaving = std::get_if<RankLeaving>(&event)) settler_->present(leaving->rank, false);
    if (const auto* joined = std::get_if<RankJoined>(&event)) settler_->present(joined->rank, true);
  }

  void decide(Time now, Actions& out) {
    const Settler::Answer answer = settler_->decide();
    for (const auto& [home, places] : answer.places) tell(now, home, SeriesPlan{places}, out);
    if (answer.moved > 0) {
      out.push_back(
          Decide{"settled", Rank{-1}, Rank{-1}, {}, static_cast<Time>(answer.before), static_cast<Time>(answer.after)});
    }
    if (answer.planned) tell_all(now, out);
  }
  void tell_all(Time now, Actions& out) {
    for (std::int32_t r = 0; r < executing_; ++r) tell(now, Rank{r}, settler_->standing(), out);
  }

  void watch_idle(Time now, const Event& event, Actions& out) {
    if (const auto* link = std::get_if<LinkMeasured>(&event)) latency_ = std::max(latency_, link->latency);
    if (std::holds_alternative<WentBusy>(event) && idle_timer_set_) {
      out.push_back(CancelTimer{kIdleTimer});
      idle_timer_set_ = false;
    }
    if (!std::holds_alternative<WentIdle>(event) || standing_.empty() || steps_.count() <= planned_at_ + 1) return;
    const double all = kIdle * steps_.time() / workers_;
    if (all <= 0) return;
    out.push_back(SetTimer{kIdleTimer, now + static_cast<Time>(all) + 4 * latency_});
    idle_timer_set_ = true;
  }
  void complain(Time now, Actions& out) {
    idle_timer_set_ = false;
    if (standing_.empty()) return;
    if (!settler_) {
      out.push_back(Send{planner_, SeriesStand{plan_, {}}});
    } else if (settler_->fall()) {
      tell_all(now, out);
    }
  }

  void tell(Time now, Rank to, Message message, Actions& out) {
    if (to != self_) {
      out.push_back(Send{to, std::move(message)});
    } else {
      take(now, self_, message, out);
    }
  }

  // The load without what a plan has settled.
  LoadChanged seen(const LoadChanged& load) {
    LoadChanged without = load;
    for (GroupLoad& g : without.ready) {
      if (index(g.group) < told_.size()) told_[index(g.group)] = g;
      if (settled(g.group)) g.ready = g.bytes = 0;
    }
    return without;
  }
  bool settled(Group g) const { return std::find(standing_.begin(), standing_.end(), g) != standing_.end(); }

  void stands(Time now, const std::vector<Group>& groups, Actions& out) {
    const std::vector<Group> before = std::exchange(standing_, groups);
    LoadChanged change;
    for (const GroupLoad& g : told_) {
      const bool was = std::find(before.begin(), before.end(), g.group) != before.end();
      if (was == settled(g.group) || g.ready == 0) continue;
      change.ready.push_back(was ? g : GroupLoad{g.group, 0, 0});
    }
    if (!change.ready.empty()) balance(now, change, out);
  }

  std::unique_ptr<Policy> inner_;
  const Rank self_, planner_;
  const std::int32_t executing_;
  Steps steps_;
  std::optional<Settler> settler_;
  const double workers_;
  bool timer_set_ = false, idle_timer_set_ = false;
  std::uint64_t plan_ = 0;
  std::int64_t planned_at_ = 0;  // steps
  Time latency_ = 0;             // the longest measured
  std::vector<Group> standing_;
  std::vector<GroupLoad> told_;  // by group: as the host said last
};

}  // namespace

std::unique_ptr<Policy> make_settling(std::unique_ptr<Policy> inner, const Setup& setup, Rank planner,
                                      std::int32_t executing) {
  return std::make_unique<Settling>(std::move(inner), setup, planner, executing);
}

}  // namespace tessera::balancer
