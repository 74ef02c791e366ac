#include "balancer/central/worker.hpp"

#include <algorithm>

#include "balancer/price.hpp"
#include "balancer/settings.hpp"

namespace tessera::balancer {
namespace {

constexpr std::uint32_t kReportTimer = 1;
constexpr Time kIdleHold = 2 * kMillisecond;  // however quiet the coordinator wants us, idle is news
constexpr Time kWorthless = 20;               // times as rarely is reported what no plan moves

}  // namespace

CentralWorker::CentralWorker(const Setup& setup, const CentralParameters& p, Rank coordinator)
    : coordinator_(coordinator),
      workers_(std::max(1, setup.workers)),
      p_(p),
      never_moved_(setup.groups.size()),
      weights_(setup.groups, p.weight_memory, p.faithful ? 0 : kShippings * setup.ship_cost),
      growth_(workers_),
      ready_(setup.groups.size()),
      hosts_(setup.hosts),
      self_(setup.rank),
      sent_(setup.groups.size()) {
  for (std::size_t g = 0; g < setup.groups.size(); ++g) {
    never_moved_[g] = setup.groups[g].never_moved;
  }
}

void CentralWorker::step(Time now, const Event& event, Actions& out) {
  std::visit([&](const auto& e) { handle(now, e, out); }, event);
  if (std::holds_alternative<WentBusy>(event)) return;  // the LoadChanged that follows says with what
  report_when_due(now, out);
}

void CentralWorker::handle(Time now, const LoadChanged& e, Actions&) {
  const std::int64_t before = ready_.accounted();
  ready_.told(e);
  if (ready_.size() > sent_.size()) sent_.resize(ready_.size());
  std::int64_t finished = 0;
  for (const GroupDone& d : e.finished) {
    if (d.count <= 0) continue;
    finished += d.count;
    first_ = first_ || (probed_ && !weights_.known(d.group));
    weights_.completed(d);
    const std::size_t g = index(d.group);
    if (silent(g)) continue;
    if (g >= finished_.size()) finished_.resize(g + 1, GroupDone{Group{0}, 0, 0, 0});
    GroupDone& sum = finished_[g];
    sum.group = d.group;
    sum.count += d.count;
    sum.weight += d.weight;
    sum.weight_squared += d.weight_squared;
    sum.bytes += d.bytes;
  }
  growth_.told(before, ready_.total(), finished);
  changed(now);
}

void CentralWorker::handle(Time now, const WentIdle&, Actions&) {
  idle_ = true;
  if (!sent_idle_) changed(now);
}

void CentralWorker::handle(Time now, const WentBusy&, Actions&) {
  idle_ = false;
  if (sent_idle_) changed(now);
}

void CentralWorker::handle(Time now, const Received& r, Actions& out) {
  if (const auto* order = std::get_if<Order>(&r.message)) {
    std::vector<GroupCount> fragments = order->fragments;
    less_what_was_taken(now, order->to, fragments);
    if (fragments.empty()) {
      out.push_back(Send{coordinator_, Confirm{order->ticket, order->to, {}, 0}});
      return;
    }
    orders_[order->ticket] = fragments;
    out.push_back(Ship{order->ticket, order->to, std::move(fragments)});
  } else if (const auto* seen = std::get_if<ReportSeen>(&r.message)) {
    in_flight_ = false;
    hold_until_ = now + seen->hold;
  } else if (const auto* wake = std::get_if<StealWake>(&r.message); wake != nullptr && wake->call) {
    growth_.heard();
  } else if (const auto* request = std::get_if<StealRequest>(&r.message)) {
    growth_.elsewhere(request->made);
  }
}

// What the receiver has taken from here since the coordinator can last have heard before it sent the order, it does not
// get twice.
void CentralWorker::less_what_was_taken(Time now, Rank to, std::vector<GroupCount>& fragments) {
  std::erase_if(taken_, [&](const Taken& t) { return t.until < now; });
  for (Taken& t : taken_) {
    if (t.by != to) continue;
    for (GroupCount& f : fragments) {
      for (GroupCount& took : t.fragments) {
        if (took.group != f.group) continue;
        const std::int64_t less = std::min(took.count, f.count);
        took.count -= less;
        f.count -= less;
      }
    }
  }
  std::erase_if(fragments, [](const GroupCount& f) { return f.count == 0; });
}

void CentralWorker::handle(Time now, const Arrived& e, Actions&) {
  ready_.arrived(e.fragments);
  if (ready_.size() > sent_.size()) sent_.resize(ready_.size());
  const bool ordered = e.ticket != 0 && !is_theft(e.ticket);
  stolen_ = stolen_ || !ordered;
  if (e.ticket != 0) arrived_.push_back(e.ticket);
  ordered_ = ordered_ || ordered;
  probed_ = probed_ || (!p_.faithful && ordered);
  changed(now);
}

void CentralWorker::handle(Time now, const Shipped& e, Actions& out) {
  std::vector<GroupCount> asked = e.fragments;
  if (is_theft(e.ticket)) {
    const Time crossing = crossing_time(links_.usual(), e.bytes, weights_.travelling(e.fragments));
    taken_.push_back({now + crossing, e.to, e.fragments});
  } else {
    const auto order = orders_.find(e.ticket);
    if (order == orders_.end()) return;
    asked = std::move(order->second);
    orders_.erase(order);
  }
  ready_.shipped(asked, e.fragments);
  if (ready_.size() > sent_.size()) sent_.resize(ready_.size());
  // The coordinator corrects its own view by the Confirm; the next report sets it right in any
  // case.
  for (const GroupCount& f : asked) sent_[index(f.group)].ready = -1;
  out.push_back(Send{coordinator_, Confirm{e.ticket, e.to, e.fragments, e.bytes}});
  changed(now);
}

void CentralWorker::handle(Time, const TimerFired& e, Actions&) {
  if (e.timer == kReportTimer) timer_at_ = -1;
}

void CentralWorker::handle(Time, const LinkMeasured& e, Actions& out) {
  latency_ = std::max(latency_, e.latency);
  const bool near = hosts_.same(self_, e.peer);
  switch ((near ? near_ : links_).measured(e.peer, {e.latency, e.bandwidth})) {
    case LinkDigest::News::nothing:
      return;
    case LinkDigest::News::anybody: {
      if (hosts_.known()) out.push_back(Send{coordinator_, LinkReport{e.peer, e.latency, e.bandwidth}});
      if (near) return;
      const Link& usual = links_.usual();
      latency_ = usual.latency;
      out.push_back(Send{coordinator_, LinkReport{Rank{-1}, usual.latency, usual.bandwidth}});
      return;
    }
    case LinkDigest::News::this_peer:
      out.push_back(Send{coordinator_, LinkReport{e.peer, e.latency, e.bandwidth}});
  }
}

void CentralWorker::changed(Time now) {
  if (!dirty_) dirty_since_ = now;
  dirty_ = true;
}

bool CentralWorker::urgent() const {
  if (ordered_ || (idle() && !sent_idle_)) return true;
  if (!reported_ && stolen_) return false;
  const Time load = ready_.load(weights_) / workers_;
  const Time dry = 4 * latency_ + kMillisecond;
  if (load < dry && sent_load_ >= dry) return true;
  const Time change = load > sent_load_ ? load - sent_load_ : sent_load_ - load;
  return static_cast<double>(change) > p_.report_change * static_cast<double>(std::max({load, sent_load_, Time{1}}));
}

// Fragments that make others, and are worth no message themselves, no plan moves.
Time CentralWorker::growing_interval() const {
  return weights_.fallback() < 2 * latency_ ? kWorthless * p_.growing_interval : p_.growing_interval;
}

void CentralWorker::report_when_due(Time now, Actions& out) {
  if (!dirty_ || in_flight_) return;
  Time due = first_ || urgent() ? now : dirty_since_ + p_.report_delay;
  if ((reported_ || growth_.may_grow()) && !first_) {
    const Time interval = growth_.may_grow() ? growing_interval() : p_.report_interval;
    const bool idle_news = idle() && !sent_idle_;
    const Time hold = idle_news ? std::min(hold_until_, sent_at_ + kIdleHold) : hold_until_;
    due = std::max({due, (reported_ ? sent_at_ : dirty_since_) + interval, hold});
  }
  if (due > now) {
    if (timer_at_ != due) {
      out.push_back(SetTimer{kReportTimer, due});
      timer_at_ = due;
    }
    return;
  }
  if (timer_at_ >= 0) out.push_back(CancelTimer{kReportTimer});
  timer_at_ = -1;
  dirty_ = false;
  first_ = false;
  Report report = make_report();
  // What flipped and flipped back meanwhile is no news.
  if (reported_ && report.ready.empty() && report.finished.empty() && report.arrived.empty() &&
      report.idle == sent_idle_ && report.unmoved == sent_unmoved_) {
    return;
  }
  sent_unmoved_ = report.unmoved;
  in_flight_ = true;
  reported_ = true;
  sent_at_ = now;
  sent_idle_ = report.idle;
  sent_load_ = ready_.load(weights_) / workers_;
  out.push_back(Send{coordinator_, std::move(report)});
}

Report CentralWorker::make_report() {
  Report r;
  r.idle = idle();
  r.workers = workers_;
  for (std::size_t g = 0; g < ready_.size(); ++g) {
    const Group group{static_cast<std::uint32_t>(g)};
    const Sent now{ready_[g].count(), ready_[g].bytes_now()};
    if (silent(g)) {
      r.unmoved += now.ready * weights_.weight(group);
    } else if (now != sent_[g]) {
      r.ready.push_back({group, now.ready, now.bytes});
      sent_[g] = now;
    }
  }
  for (GroupDone& d : finished_) {
    if (d.count > 0) r.finished.push_back(d);
  }
  finished_.clear();
  r.arrived.swap(arrived_);
  ordered_ = false;
  return r;
}

}  // namespace tessera::balancer
