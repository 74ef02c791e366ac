// What drives the host of a rank's policy (balancer/host.hpp): when it reports, and the time that its steps take.
#include <algorithm>
#include <utility>

#include "balancer/simulator/simulation.hpp"

namespace tessera::balancer::simulator {
namespace {

constexpr std::int64_t kEnvelope = 64;
std::int64_t payload(const Report& r) {
  return static_cast<std::int64_t>(24 * r.ready.size() + 32 * r.finished.size() + 8 * r.arrived.size());
}
std::int64_t payload(const SeriesReport& r) { return static_cast<std::int64_t>(32 * r.series.size()); }
std::int64_t payload(const SeriesPlan& p) { return static_cast<std::int64_t>(12 * p.places.size()); }
std::int64_t payload(const Order& o) { return static_cast<std::int64_t>(12 * o.fragments.size()); }
std::int64_t payload(const Confirm& c) { return static_cast<std::int64_t>(12 * c.fragments.size()); }
std::int64_t payload(const GossipNews& n) { return static_cast<std::int64_t>(24 * n.loads.size()); }
std::int64_t payload(const PluginMessage& m) { return static_cast<std::int64_t>(m.bytes.size()); }
template <class Other>
std::int64_t payload(const Other&) {
  return 0;
}
std::int64_t bytes_of(const Message& message) {
  return std::visit([](const auto& m) { return kEnvelope + static_cast<std::int64_t>(sizeof m) + payload(m); },
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
  n.host->report(now_);
}

void Simulation::Node::look(std::vector<GroupLoad>& ready, std::vector<GroupDone>& finished) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    GroupState& g = groups[i];
    const std::int64_t count = items.count(i);
    const std::int64_t out = g.outputs > 0 ? g.output_bytes / g.outputs : 0;
    ready.push_back({g.done.group, count, items.bytes(i) + count * out});
    if (g.done.count > 0) finished.push_back(std::exchange(g.done, GroupDone{g.done.group, 0, 0, 0}));
  }
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
      return n.host->tell(std::move(what.event));
  }
}

void Simulation::charge(Node& n, const Event& event, const Actions& actions) {
  const Processing& cost = processing(n);
  host_delay_ += cost.event;
  bool planned = false;
  for (const Action& a : actions) {
    if (std::holds_alternative<Send>(a) || std::holds_alternative<Ship>(a)) {
      host_delay_ += cost.send;
    } else if (const auto* d = std::get_if<Decide>(&a)) {
      planned = planned || d->from != n.rank;
    }
  }
  if (const auto* r = std::get_if<Received>(&event); r != nullptr && cost.plan_per_rank > 0) n.heard.insert(r->from);
  if (planned) host_delay_ += cost.plan_per_rank * static_cast<Time>(n.heard.size());
}

void Simulation::send_message(Node& n, Rank to, const Message& message) {
  if (index(to) < 0 || index(to) >= options_.ranks) return fault("a message to rank " + std::to_string(index(to)));
  ++out_.messages;
  const std::uint32_t p = new_parcel(n.rank, Parcel::Kind::message);
  parcels_[p].message = message;
  parcels_[p].bytes = bytes_of(message);
  post(p, to, now_ + host_delay_);
}

}  // namespace tessera::balancer::simulator
