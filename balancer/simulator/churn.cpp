// The cluster changes while the program runs: others load its ranks, ranks leave and join.
#include "balancer/simulator/simulation.hpp"

namespace tessera::balancer::simulator {

void Simulation::change(const Change& c) {
  Node& n = node(c.rank);
  if (c.kind == Change::Kind::outside_load) {
    n.tasks = c.tasks;
    n.shared = n.tasks > 0 || static_cast<double>(n.threads.size()) > n.cores;
    set_rate(n);
    return tell(n, OutsideLoad{c.tasks});
  }
  const bool joins = c.kind == Change::Kind::join;
  if (joins == n.here) return;  // it is there already, or away
  n.here = joins;
  if (joins) n.settled = false;
  for (Node& other : nodes_) {
    const Time at = other.rank == n.rank ? now_ : now_ + network_.link(n.rank, other.rank).latency;
    plan(at, Kind::notice, other.rank, static_cast<std::uint32_t>(index(n.rank)), joins);
  }
  if (joins) {
    start(n, true);
  } else {
    plan(now_ + c.grace, Kind::settle, n.rank);
  }
}

void Simulation::notice(Node& n, Rank who, bool joins) {
  if (n.knows_left.empty()) n.knows_left.resize(nodes_.size());
  n.knows_left[static_cast<std::size_t>(index(who))] = !joins;
  if (joins) {
    tell(n, RankJoined{who});
  } else {
    tell(n, RankLeaving{who});
  }
}

// The grace is over: what the policy has left here goes to a neighbour, as does whatever still
// comes.
void Simulation::settle(Node& n) {
  if (n.here) return;  // it has come back meanwhile
  n.settled = true;
  std::vector<Item> items;
  for (std::size_t g = 0; g < n.groups.size(); ++g) {
    n.items.take(g, n.items.count(g), Program::Ships::oldest, items);
  }
  changed(n);
  if (items.empty()) return;
  std::int64_t bytes = 0;
  ship_items(n, neighbour(n.rank), std::move(items), {}, 0, false, bytes);
}

Rank Simulation::neighbour(Rank rank) const {
  const std::int32_t ranks = out_.executing;
  for (std::int32_t d = 1; d < ranks; ++d) {
    const Rank next{(index(rank) + d) % ranks};
    if (nodes_[static_cast<std::size_t>(index(next))].here) return next;
  }
  return rank;
}

}  // namespace tessera::balancer::simulator
