// The host of a rank's policy, as runtime/balance/policy_host.cpp: what it tells, and when.
#include <algorithm>

#include "balancer/simulator/simulation.hpp"

namespace tessera::balancer::simulator {
namespace {

constexpr std::int64_t kEnvelope = 64;
std::int64_t payload(const Report& r) {
  return static_cast<std::int64_t>(24 * r.ready.size() + 32 * r.finished.size() +
                                   8 * r.arrived.size());
}
std::int64_t payload(const Order& o) { return static_cast<std::int64_t>(12 * o.fragments.size()); }
std::int64_t payload(const Confirm& c) {
  return static_cast<std::int64_t>(12 * c.fragments.size());
}
template <class Other>
std::int64_t payload(const Other&) {
  return 0;
}
std::int64_t bytes_of(const Message& message) {
  return std::visit(
      [](const auto& m) { return kEnvelope + static_cast<std::int64_t>(sizeof m) + payload(m); },
      message);
}

}  // namespace

void Simulation::plan_pump(Node& n, Time at) {
  n.pump_at = at;
  plan(at, Kind::pump, n.rank, 0, static_cast<std::uint64_t>(at));
}

void Simulation::pump(Node& n) {
  n.pump_at = -1;
  if (!n.dirty) return;
  n.dirty = n.urgent = false;
  n.last_pump = now_;
  const bool idle = n.running == 0 && n.items.count() == 0;
  const bool went_busy = n.told_idle && !idle;
  if (went_busy) {
    n.told_idle = false;
    step(n, WentBusy{});
  }
  LoadChanged event;
  for (std::size_t i = 0; i < n.groups.size(); ++i) {
    GroupState& g = n.groups[i];
    const std::int64_t ready = n.items.count(i);
    const std::int64_t out = g.outputs > 0 ? g.output_bytes / g.outputs : 0;
    const GroupLoad load{Group{static_cast<std::uint32_t>(i)}, ready, n.items.bytes(i) + ready * out};
    if (ready != g.told.ready || load.bytes != g.told.bytes) {
      event.ready.push_back(load);
      g.told = load;
    }
    if (g.done.count > 0) {
      event.finished.push_back(g.done);
      g.done = GroupDone{g.done.group, 0, 0, 0};
    }
  }
  if (n.moved || went_busy || !event.ready.empty() || !event.finished.empty()) {
    n.moved = false;
    step(n, std::move(event));
  }
  if (!idle || n.told_idle) return;
  n.told_idle = true;
  step(n, WentIdle{});
}

void Simulation::tell(Node& n, Told what) {
  if (processing(n).free()) return take_in(n, what);
  n.inbox.push_back(std::move(what));
  if (n.serving) return;
  n.serving = true;
  plan(n.host_free, Kind::serve, n.rank);
}

void Simulation::serve(Node& n) {
  Told first = std::move(n.inbox[n.inbox_head++]);
  if (n.inbox_head == n.inbox.size() || n.inbox_head > 1024) {
    n.inbox.erase(n.inbox.begin(), n.inbox.begin() + static_cast<std::ptrdiff_t>(n.inbox_head));
    n.inbox_head = 0;
  }
  host_delay_ = 0;
  take_in(n, first);
  n.host_free = now_ + host_delay_;
  worked(n, now_, n.host_free);
  host_delay_ = 0;
  n.serving = !n.inbox.empty();
  if (n.serving) plan(n.host_free, Kind::serve, n.rank);
}

// What a host does after the last item has ended is not part of the run; which one is the last shows later.
void Simulation::worked(Node& n, Time from, Time to) {
  settle_host(n);
  if (!n.host_late.empty() && n.host_late.back().second == from) {
    n.host_late.back().second = to;
  } else {
    n.host_late.emplace_back(from, to);
  }
}

void Simulation::settle_host(Node& n) {
  Time& busy = out_.host_busy[static_cast<std::size_t>(index(n.rank))];
  while (!n.host_late.empty() && n.host_late.front().first < out_.finished) {
    auto& [from, to] = n.host_late.front();
    const Time until = std::min(to, out_.finished);
    busy += until - from;
    from = until;
    if (until < to) return;
    n.host_late.pop_front();
  }
}

void Simulation::take_in(Node& n, Told& what) {
  switch (what.kind) {
    case Told::Kind::pump:
      return pump(n);
    case Told::Kind::shipment:
      return unload(n, what.parcel);
    case Told::Kind::event:
      return step(n, std::move(what.event));
  }
}

void Simulation::step(Node& n, Event event) {
  n.caused.push_back(std::move(event));
  if (n.telling) return;  // an action caused it: told after the step it came from
  n.telling = true;
  const Processing& cost = processing(n);
  std::vector<Event> events;
  Actions actions;
  while (!n.caused.empty()) {
    events.clear();
    events.swap(n.caused);
    for (const Event& e : events) {
      actions.clear();
      n.policy->step(now_ + host_delay_, e, actions);
      host_delay_ += cost.event;
      bool planned = false;
      for (const Action& a : actions) {
        if (std::holds_alternative<Send>(a) || std::holds_alternative<Ship>(a)) {
          host_delay_ += cost.send;
        } else if (const auto* d = std::get_if<Decide>(&a)) {
          planned = planned || d->from != n.rank;
        }
      }
      if (const auto* r = std::get_if<Received>(&e); r != nullptr && cost.plan_per_rank > 0) {
        n.heard.insert(r->from);
      }
      if (planned) host_delay_ += cost.plan_per_rank * static_cast<Time>(n.heard.size());
      for (const Action& a : actions) carry_out(n, a);
    }
  }
  n.telling = false;
}

void Simulation::carry_out(Node& n, const Action& action) {
  if (const auto* send = std::get_if<Send>(&action)) {
    if (index(send->to) < 0 || index(send->to) >= options_.ranks) {
      return fault("a message to rank " + std::to_string(index(send->to)));
    }
    if (send->to == n.rank) return step(n, Received{n.rank, send->message});
    ++out_.messages;
    const std::uint32_t p = new_parcel(n.rank, Parcel::Kind::message);
    parcels_[p].message = send->message;
    parcels_[p].bytes = bytes_of(send->message);
    post(p, send->to, now_ + host_delay_);
  } else if (const auto* s = std::get_if<Ship>(&action)) {
    ship(n, *s);
  } else if (const auto* set = std::get_if<SetTimer>(&action)) {
    std::erase_if(n.timers, [&](const Timer& t) { return t.number == set->timer; });
    n.timers.push_back({set->timer, ++generation_});
    plan(set->at + processing(n).timer, Kind::timer, n.rank, set->timer, generation_);
  } else if (const auto* cancel = std::get_if<CancelTimer>(&action)) {
    std::erase_if(n.timers, [&](const Timer& t) { return t.number == cancel->timer; });
  } else if (const auto* decide = std::get_if<Decide>(&action)) {
    ++out_.decisions[decide->why];
  }
}

}  // namespace tessera::balancer::simulator
