#include "balancer/hierarchical/root.hpp"

#include <algorithm>

#include "balancer/settings.hpp"

namespace tessera::balancer {
namespace {

constexpr std::uint32_t kRootTimer = 4;
constexpr Time kFirstRest = 5 * kMillisecond;
constexpr Time kLongestRest = kSecond;

}  // namespace

Root::Root(const HierarchicalParameters& p, const Layout& layout)
    : p_(p), layout_(layout), groups_(static_cast<std::size_t>(layout.groups)) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].last.capacity = layout.members(static_cast<std::int32_t>(g)).count;
  }
}

void Root::step(Time now, const Event& event, Actions& out) {
  if (const auto* received = std::get_if<Received>(&event)) {
    const std::int32_t group = layout_.group_led_by(received->from);
    const auto* r = std::get_if<GroupReport>(&received->message);
    if (r != nullptr && group >= 0) {
      report(now, static_cast<std::size_t>(group), *r);
      out.push_back(Send{received->from, GroupReportSeen{}});
    }
  } else if (const auto* link = std::get_if<LinkMeasured>(&event)) {
    latency_ = link->latency;
  } else if (const auto* timer = std::get_if<TimerFired>(&event)) {
    if (timer->timer == kRootTimer) timer_set_ = false;
  }
  if (!wanted_) return;
  if (now < next_plan_) {
    if (!timer_set_) out.push_back(SetTimer{kRootTimer, next_plan_});
    timer_set_ = true;
    return;
  }
  wanted_ = false;
  next_plan_ = now + std::max(p_.group_interval, layout_.groups * kMicrosecond);
  plan(now, out);
}

void Root::report(Time now, std::size_t group, const GroupReport& r) {
  Group& g = groups_[group];
  for (const TransferSeen& seen : r.seen) {
    const auto it = transfers_.find(seen.transfer);
    if (it == transfers_.end()) continue;
    Transfer& t = it->second;
    if (t.to == group) t.seen_to = true;
    if (t.from == group) {
      t.seen_from = true;
      g.rest = seen.given > 0 ? 0 : std::clamp(2 * g.rest, kFirstRest, kLongestRest);
      g.rest_until = now + g.rest;
    }
    if (t.seen_from && t.seen_to) transfers_.erase(it);
  }
  g.last = r;
  wanted_ = true;
}

std::vector<Load> Root::loads(Time now) const {
  std::vector<Load> loads(groups_.size());
  std::vector<double> coming(groups_.size()), going(groups_.size());
  for (const auto& [number, t] : transfers_) {
    const double work = static_cast<double>(t.count) * static_cast<double>(t.weight);
    if (!t.seen_to) coming[t.to] += work;
    if (!t.seen_from) going[t.from] += work;
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const GroupReport& r = groups_[i].last;
    Load& load = loads[i];
    load.receives = r.capacity > 0;
    load.capacity = std::max(r.capacity, 1.0);
    const auto movable = static_cast<double>(r.movable);
    load.busy = static_cast<Time>((static_cast<double>(r.load) - movable + coming[i]) / load.capacity);
    if (r.fragments <= 0) continue;
    const Time weight = std::max<Time>(1, r.movable / r.fragments);
    const auto left = static_cast<std::int64_t>((movable - going[i]) / static_cast<double>(weight));
    if (left <= 0) continue;
    load.groups.push_back({tessera::balancer::Group{0}, left, weight, 0, now >= groups_[i].rest_until});
  }
  return loads;
}

void Root::plan(Time now, Actions& out) {
  const std::vector<Load> now_loads = loads(now);
  PlanCosts costs;
  // Report, invitation, need, order, shipment: five trips until the first fragment is there.
  costs.min_gain = p_.planning.min_gain_auto ? 5 * latency_ + kMillisecond : p_.planning.min_gain;
  costs.transfer = [this](std::size_t, std::size_t, std::int64_t) { return 4 * latency_; };
  for (const Move& m : plan_makespan(now_loads, costs)) {
    const double from = now_loads[m.from].finish(), to = now_loads[m.to].finish();
    if (now_loads[m.from].receives && from - to < p_.group_difference * from) continue;
    const bool under_way = std::any_of(transfers_.begin(), transfers_.end(),
                                       [&](const auto& t) { return t.second.from == m.from && t.second.to == m.to; });
    if (under_way) continue;
    const std::int64_t count = m.fragments.front().count;
    const Time weight = now_loads[m.from].groups.front().weight;
    const Rank giver = layout_.leaf(static_cast<std::int32_t>(m.from));
    const Rank receiver = layout_.leaf(static_cast<std::int32_t>(m.to));
    transfers_[++number_] = {m.from, m.to, count, weight};
    out.push_back(Send{receiver, GroupInvite{number_, giver, count, weight}});
    out.push_back(Decide{"moved between groups", giver, receiver, {}, static_cast<Time>(from), static_cast<Time>(to)});
  }
}

}  // namespace tessera::balancer
