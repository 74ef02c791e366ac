// Fragments leave this rank and arrive on it.
#include "runtime/node/moving.hpp"

#include <algorithm>
#include <utility>

#include "runtime/balance/policy_host.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/node.hpp"
#include "runtime/node/observing.hpp"
#include "runtime/node/sweeping.hpp"
#include "runtime/trace/rank_events.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {
namespace {

constexpr std::uint64_t kBoarding = 50'000;  // ticks, about 20 us
constexpr std::size_t kMostAboard = 64;

}  // namespace

void board(Node& node, Ship& ship, Cf* c, Rank to, bool leaves_now, std::uint64_t promised) {
  if (ship.fragments.empty()) ship.mark = node.sweeping->ships(to);
  node.enroll(c);
  if (node.horizons->has_any()) node.sweeping->leaves(c);
  const bool moved = (c->flags & (kGathered | kMoved)) != 0;
  if ((c->flags & kGathered) != 0) {
    const InputNames names(c);
    for (unsigned k = 0; k < names.size(); ++k) {
      if (!abi::is_needed(names[k])) continue;
      if (node.data.go_along(names[k], abi::input(c, *c->block, k), to, ship, leaves_now && k < 64)) {
        promised |= std::uint64_t{1} << k;
      }
    }
    release_inputs(c);
  }
  if ((c->flags & kHolding) != 0) Node::let_go(c);
  ship.fragments.push_back(pack(c));
  ship.fragments.back().promised = promised;
  ship.fragments.back().moved = moved;
  free_cf(c);
}

void board_waiting(Node& node, Ship& ship, Cf* c, Rank to) {
  const InputNames names(c);
  for (unsigned k = 0; k < names.size(); ++k) {
    abi::Value* const v = abi::input(c, *c->block, k);
    if (v != nullptr) {
      node.data.go_along(names[k], v, to, ship, false);
    } else if (node.horizons != nullptr && abi::is_needed(names[k]) && abi::is_swept(names[k])) {
      node.horizons->rely(names[k].id);  // if it is at home here, this was seen to wait for it
    }
  }
  release_inputs(c, *c->block);
  board(node, ship, c, to, false);
}

std::vector<balancer::GroupCount> counts_of(const abi::Program& program, const Ship& ship) {
  std::vector<balancer::GroupCount> groups;
  for (const PackedCf& p : ship.fragments) {
    const abi::Block& block = *program.blocks[p.block];
    const balancer::Group g{block.group};
    const std::int64_t n = block.kind == abi::Kind::range ? static_cast<std::int64_t>(p.frame[1] - p.frame[0]) + 1 : 1;
    const auto at =
        std::find_if(groups.begin(), groups.end(), [g](const balancer::GroupCount& x) { return x.group == g; });
    if (at == groups.end()) {
      groups.push_back({g, n});
    } else {
      at->count += n;
    }
  }
  return groups;
}

// What one piece of work places elsewhere travels together, if that takes no longer than kBoarding.
void Node::place(Worker& w, Cf* c, Rank to, bool brought) {
  if (w.boarding.empty()) w.departs_by = ticks() + kBoarding;
  auto at = std::find_if(w.boarding.begin(), w.boarding.end(), [to](const auto& b) { return b.to == to; });
  if (at == w.boarding.end()) at = w.boarding.insert(at, {to, {}, {}});
  std::uint64_t promised = 0;
  try {
    if (!abi::recalled(c)) promised = data.see_off(c, to, at->ship, at->promised);
    if (brought) data.take_on(c, at->ship);
  } catch (...) {  // as in start()
    fail_by_exception(c);
    return abandon(c, *c->block);
  }
  board(*this, at->ship, c, to, false, promised);
  if (at->ship.fragments.size() == kMostAboard) depart(w);
}

void Node::depart(Worker& w) {
  w.stats.pause();
  for (Worker::Boarding& b : w.boarding) {
    comm.send(b.to, std::move(b.ship));
    // Not before: a value given now must not come there before the fragments.
    for (const abi::Name& n : b.promised) data.give_promised(b.to, n);
  }
  w.boarding.clear();
  w.sent = true;
}

bool Node::spread(Worker& w, Cf* range) {
  const std::int32_t placed = members.placed();
  const std::int64_t first = abi::frame_int(range, 0), last = abi::frame_int(range, 1);
  // What few iterations make may as well travel.
  if ((range->block->flags & abi::kNested) == 0 && last - first + 1 < placed) return true;
  abi::frame_int(range, 3) = placed;
  w.births.spread(*range, placed);
  for (std::int32_t r = 0; r < placed; ++r) {
    if (Rank{r} == self()) continue;
    Cf* copy = copy_range(range, first, last);
    abi::frame_int(copy, 2) = r;
    if (const Rank to = members.place(r); to != self()) {
      place(w, copy, to);
    } else {
      start(w, copy);
    }
  }
  abi::frame_int(range, 2) = balancer::index(self());
  if (balancer::index(self()) < placed) return true;
  free_cf(range);
  return false;
}

std::vector<balancer::GroupCount> Node::ship(Rank to, const std::vector<balancer::GroupCount>& wanted,
                                             std::uint64_t ticket, std::int64_t& bytes) {
  std::vector<balancer::GroupCount> moved;
  std::vector<Cf*> taken, exhausted;
  for (const auto& [group, count] : wanted) {
    std::int64_t left = count;
    // From the fullest queue first, so that no worker of this rank is stripped bare. Read once: the
    // workers go on meanwhile, and an order that changes is none.
    std::vector<std::pair<std::int64_t, std::size_t>> order;
    for (std::size_t i = 0; i < crew.workers.size(); ++i) {
      order.emplace_back(-crew.workers[i]->queue.atomics(), i);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [fill, i] : order) {
      if (left == 0) break;
      left -= crew.workers[i]->queue.take(balancer::index(group), left, to, taken, exhausted, crew.offered());
    }
    if (left != count) {
      moved.push_back({group, count - left});
      observing->moves.by_group[balancer::index(group)] += count - left;
    }
  }
  bytes = 0;
  if (!taken.empty()) {
    Ship ship;
    ship.by_policy = true;
    ship.ticket = ticket;
    for (Cf* c : taken) {
      if (!facts.homeward) resettle(c, to);
      board(*this, ship, c, to, true);
    }
    for (const PackedInput& i : ship.inputs) bytes += static_cast<std::int64_t>(i.value.value.get()->size);
    ++observing->moves.shipments;
    for (const balancer::GroupCount& g : counts_of(facts.program, ship))
      observing->moves.out += g.count;  // as who gets it counts
    comm.send(to, std::move(ship));
  }
  for (Cf* range : exhausted) {
    auto* scope = static_cast<ScopeRecord*>(range->scope);
    if ((range->flags & kHolding) != 0) let_go(range);
    free_cf(range);
    leave_scope(*crew.outside, scope);
  }
  return moved;
}

void Node::resettle(const Cf* c, Rank to) {
  if (c->block->series == nullptr || too_light_to_settle(c->block->group)) return;
  const Rank belongs = members.place(c->block->locator(c));
  if (belongs == self()) {
    retained.put(c->block->series(c), to);
  } else if (belongs != to) {  // `to` sees it come home
    comm.send(belongs, Resettled{c->block->series(c), to});
  }
}

// The next ones would be shipped one by one, and that is more work for the two ranks.
bool Node::too_light_to_settle(std::uint32_t group) const {
  const GroupStats::Snapshot s = crew.stats(group);
  return s.known > 0 && s.sum * ns_per_tick() < 2.0 * kShipCost * static_cast<double>(s.known);
}

Rank Node::settled(const Cf* c) const {
  if (c->block->series == nullptr || evacuation->parked()) return self();
  const auto to = retained.find(c->block->series(c));
  return to && members.takes_part(*to) && members.place(c->block->locator(c)) == self() ? *to : self();
}

void Node::on_ship(Rank from, Ship&& m) {
  sweeping->came(m);
  if (evacuation->parked()) return evacuation->forward(from, std::move(m));
  std::vector<balancer::GroupCount> groups;
  if (m.by_policy) {
    groups = counts_of(facts.program, m);
    for (const balancer::GroupCount& g : groups) observing->moves.in += g.count;  // a part of a loop is many
  }
  Scopes::Debts owed;
  // The fragments first take their place in their scopes: the inputs' names live under those.
  std::vector<std::pair<Cf*, std::uint64_t>> arrived_here;
  for (PackedCf& p : m.fragments) {
    // What was given to a rank that had left meanwhile may be gone: then it is asked for.
    const auto promised = evacuation->ever() ? 0 : p.promised;
    Cf* c = unpack(facts.program, std::move(p), scopes.arrive(p.scope, from, owed));
    c->flags |= kEnrolled | kPlaced;
    if ((c->block->flags & abi::kHolds) != 0) hold_hulls(c);
    if (RankEvents* const events = observing->events()) events->arrived(*c, from, m.by_policy);
    if (m.by_policy && c->block->series != nullptr && members.place(c->block->locator(c)) == self()) {
      retained.put(c->block->series(c), std::nullopt);
    }
    arrived_here.emplace_back(c, promised);
  }
  for (const auto& [scope, count] : owed) comm.send(from, ScopeReturn{scope, count});
  std::vector<abi::Name> unheard, passing;  // `passing`: of swept names
  for (PackedInput& i : m.inputs) {
    if (facts.homeward) data.pass_by(from, i);  // which would have to ask for it where they are to run
    if (i.unheard) unheard.push_back(i.name);
    if (abi::is_swept(i.name)) passing.push_back(i.name);
    data.take_copy(from, std::move(i));
  }
  if (m.by_policy && policy != nullptr) policy->arrived(from, std::move(groups), m.ticket);
  for (const auto& [c, promised] : arrived_here) {
    if (m.by_policy && facts.homeward) {
      const Rank home = c->block->locator != nullptr ? members.place(c->block->locator(c)) : from;
      if (home != self() && members.takes_part(home)) {
        place(*crew.outside, c, home, true);
        continue;
      }
    }
    try {
      start_here(*crew.outside, c, promised);
    } catch (const std::exception& e) {
      fail_in(c, 0, e.what());
    }
  }
  for (const abi::Name& n : unheard) data.handed(n);
  if (!passing.empty()) data.forget_passed(passing);
}

}  // namespace tessera::runtime
