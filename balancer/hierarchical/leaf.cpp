#include "balancer/hierarchical/leaf.hpp"

#include <algorithm>
#include <cmath>
#include <queue>

#include "balancer/central/plan_queue.hpp"
#include "balancer/settings.hpp"

namespace tessera::balancer {
namespace {

constexpr std::uint32_t kGroupTimer = 3;
// Givers that are tried for one receiver before it is left without.
constexpr int kTries = 8;

}  // namespace

Leaf::Leaf(const Setup& setup, const HierarchicalParameters& p, const Layout& layout, std::int32_t group)
    : p_(p), layout_(layout), members_(layout.members(group)), coordinator_(setup, p.planning, members_) {}

void Leaf::step(Time now, const Event& event, Actions& out) {
  std::visit([&](const auto& e) { handle(now, e, out); }, event);
  coordinator_.step(now, event, out);
  report_when_due(now, out);
}

void Leaf::handle(Time now, const Received& r, Actions& out) {
  if (const auto* confirm = std::get_if<Confirm>(&r.message)) {
    carried_out(*confirm, out);
    dirty_ = true;
  } else if (std::holds_alternative<Report>(r.message)) {
    dirty_ = true;
  } else if (const auto* invite = std::get_if<GroupInvite>(&r.message)) {
    invited(now, *invite, out);
  } else if (const auto* need = std::get_if<GroupNeed>(&r.message)) {
    needed(now, r.from, *need, out);
  } else if (const auto* sent = std::get_if<GroupSent>(&r.message)) {
    came(*sent);
  } else if (std::holds_alternative<GroupReportSeen>(r.message)) {
    in_flight_ = false;
  }
}

void Leaf::handle(Time, const TimerFired& e, Actions&) {
  if (e.timer == kGroupTimer) timer_set_ = false;
}

void Leaf::handle(Time, const RankLeaving& e, Actions& out) {
  dirty_ = true;
  for (auto& [transfer, in] : incoming_) in.expected.erase(e.rank);
  // What it was to send will not be confirmed.
  for (auto it = outgoing_.begin(); it != outgoing_.end();) {
    const auto next = std::next(it);
    if (it->second.from == e.rank) send_sent(it, nullptr, out);
    it = next;
  }
}

// ---- receiving

// invited has the members that run dry first take what comes: as a plan in which somebody outside
// has to get rid of it.
void Leaf::invited(Time now, const GroupInvite& invite, Actions& out) {
  std::vector<Load> loads = coordinator_.loads(now);
  for (Load& load : loads) {
    for (GroupWork& g : load.groups) g.movable = false;
  }
  const std::size_t outside = loads.size();
  loads.emplace_back().receives = false;
  loads.back().groups = {{Group{0}, invite.count, std::max<Time>(1, invite.weight)}};

  GroupNeed need{invite.transfer, invite.weight, {}};
  Incoming in;
  for (const Move& m : plan_makespan(loads)) {
    if (m.from != outside) continue;
    const Rank to = members_.rank(m.to);
    const std::int64_t count = m.fragments.front().count;
    need.receivers.push_back({to, count});
    in.expected[to] = count * invite.weight;
    coordinator_.view().expect(to, count * invite.weight);
  }
  if (!in.expected.empty()) incoming_[invite.transfer] = std::move(in);
  seen_.push_back({invite.transfer, 0});
  dirty_ = true;
  out.push_back(Send{invite.giver, std::move(need)});
}

void Leaf::came(const GroupSent& sent) {
  ClusterView& view = coordinator_.view();
  if (sent.ticket != 0 && !sent.fragments.empty()) {
    view.coming(sent.ticket, sent.from, sent.to, sent.fragments, sent.bytes);
  }
  dirty_ = true;
  coordinator_.look_again();
  const auto it = incoming_.find(sent.transfer);
  if (it == incoming_.end()) return;
  if (const auto member = it->second.expected.find(sent.to); member != it->second.expected.end()) {
    Time came = 0;
    for (const GroupCount& f : sent.fragments) came += f.count * view.weights().weight(f.group);
    came = std::min(came, member->second);
    view.expect(sent.to, -came);
    member->second -= came;
  }
  if (!sent.last) return;
  for (const auto& [member, work] : it->second.expected) view.expect(member, -work);
  incoming_.erase(it);
}

// ---- giving

// needed serves each receiver from the members that run dry last, heaviest fragments first.
void Leaf::needed(Time now, Rank leaf, const GroupNeed& need, Actions& out) {
  const std::vector<Load> loads = coordinator_.loads(now);
  Queues queues(loads);
  std::vector<double> finish = finish_times(loads);
  std::vector<std::int64_t> window(loads.size());
  std::priority_queue<std::pair<double, std::size_t>> givers;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (queues.of(i).empty()) continue;
    givers.emplace(finish[i], i);
    window[i] = coordinator_.window_left(now, members_.rank(i), Rank{-1});
  }
  double all_given = 0;
  std::int32_t orders = 0;
  for (const RankCount& receiver : need.receivers) {
    double wanted = static_cast<double>(receiver.count) * static_cast<double>(need.weight);
    for (int tries = 0; tries < kTries && wanted > 0 && !givers.empty(); ++tries) {
      const std::size_t from = givers.top().second;
      givers.pop();
      std::vector<GroupCount> fragments;
      double given = 0;
      for (Queues::Item& item : queues.of(from)) {
        // At most half a fragment more than is wanted.
        auto n = std::min(item.left, static_cast<std::int64_t>(std::round((wanted - given) / item.weight)));
        if (item.bytes() > 0) n = std::min(n, window[from] / item.bytes());
        if (n <= 0) continue;
        item.left -= n;
        window[from] -= n * item.bytes();
        given += static_cast<double>(n) * item.weight;
        fragments.push_back({item.group(), n});
      }
      if (fragments.empty()) continue;  // not asked again for this transfer
      wanted -= given;
      all_given += given;
      finish[from] -= given / loads[from].capacity;
      givers.emplace(finish[from], from);
      const Rank rank = members_.rank(from);
      const std::uint64_t ticket =
          coordinator_.order(now, rank, loads[from], receiver.rank, fragments, "moved to another group", 0, out);
      outgoing_[ticket] = {need.transfer, leaf, rank, receiver.rank};
      ++orders;
    }
  }
  seen_.push_back({need.transfer, static_cast<Time>(all_given)});
  dirty_ = true;
  if (orders > 0) {
    orders_[need.transfer] = orders;
  } else if (!need.receivers.empty()) {
    out.push_back(Send{leaf, GroupSent{need.transfer, 0, Rank{-1}, Rank{-1}, {}, 0, true}});
  }
}

void Leaf::carried_out(const Confirm& confirm, Actions& out) {
  const auto it = outgoing_.find(confirm.ticket);
  if (it != outgoing_.end()) send_sent(it, &confirm, out);
}

void Leaf::send_sent(std::map<std::uint64_t, Outgoing>::iterator it, const Confirm* confirm, Actions& out) {
  const Outgoing& order = it->second;
  GroupSent sent{order.transfer, it->first, order.from, order.to, {}, 0, false};
  if (confirm != nullptr) {
    sent.fragments = confirm->fragments;
    sent.bytes = confirm->bytes;
  }
  const auto left = orders_.find(order.transfer);
  if (--left->second == 0) {
    sent.last = true;
    orders_.erase(left);
  }
  out.push_back(Send{order.leaf, std::move(sent)});
  outgoing_.erase(it);
}

// ---- telling the root

GroupReport Leaf::totals(Time now) const {
  GroupReport r;
  double load = 0, movable = 0;
  for (const Load& l : coordinator_.loads(now)) {
    if (l.receives) r.capacity += l.capacity;
    load += l.finish() * l.capacity;
    for (const GroupWork& g : l.groups) {
      if (!g.movable) continue;
      r.fragments += g.count;
      movable += static_cast<double>(g.count) * static_cast<double>(g.weight);
    }
  }
  r.load = static_cast<Time>(load);
  r.movable = static_cast<Time>(movable);
  return r;
}

void Leaf::report_when_due(Time now, Actions& out) {
  if (!layout_.has_root() || !dirty_ || in_flight_) return;
  if (now < next_report_) {
    if (!timer_set_) out.push_back(SetTimer{kGroupTimer, next_report_});
    timer_set_ = true;
    return;
  }
  next_report_ = now + p_.group_interval;
  dirty_ = false;
  GroupReport r = totals(now);
  const auto differs = [&](Time a, Time b) {
    const auto most = static_cast<double>(std::max({a, b, Time{1}}));
    return std::abs(static_cast<double>(a - b)) > p_.group_report_change * most;
  };
  if (seen_.empty() && !differs(r.load, told_.load) && !differs(r.movable, told_.movable) &&
      r.capacity == told_.capacity) {
    return;
  }
  told_ = r;
  r.seen.swap(seen_);
  in_flight_ = true;
  out.push_back(Send{layout_.root(), std::move(r)});
}

}  // namespace tessera::balancer
