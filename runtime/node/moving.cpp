// Fragments leave this rank and arrive on it.
#include "runtime/node/moving.hpp"

#include <algorithm>

#include "runtime/balance/policy_host.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/node.hpp"

namespace tessera::runtime {

void board(Node& node, Ship& ship, Cf* c, Rank to) {
  node.enroll(c);
  if ((c->flags & kGathered) != 0) {
    std::vector<abi::Name> names(c->block->input_count);
    c->block->inputs(c, names.data());
    for (unsigned k = 0; k < names.size(); ++k) {
      if (!abi::is_needed(names[k])) continue;
      ValueRef v = node.data.for_shipment(names[k], abi::input(c, *c->block, k), to);
      if (v) ship.inputs.push_back({names[k], {std::move(v)}});
    }
    release_inputs(c);
  }
  ship.fragments.push_back(pack(c));
  free_cf(c);
}

std::vector<balancer::GroupCount> counts_of(const abi::Program& program, const Ship& ship) {
  std::vector<balancer::GroupCount> groups;
  for (const PackedCf& p : ship.fragments) {
    const abi::Block& block = *program.blocks[p.block];
    const balancer::Group g{block.group};
    const std::int64_t n =
        block.kind == abi::Kind::range ? static_cast<std::int64_t>(p.frame[1] - p.frame[0]) + 1 : 1;
    const auto at = std::find_if(groups.begin(), groups.end(),
                                 [g](const balancer::GroupCount& x) { return x.group == g; });
    if (at == groups.end()) {
      groups.push_back({g, n});
    } else {
      at->count += n;
    }
  }
  return groups;
}

void Node::place(Worker& w, Cf* c, Rank to) {
  Ship ship;
  board(*this, ship, c, to);
  comm.send(to, ship);
  w.sent = true;
}

std::vector<balancer::GroupCount> Node::ship(Rank to,
                                             const std::vector<balancer::GroupCount>& wanted,
                                             std::uint64_t ticket, std::int64_t& bytes) {
  std::vector<balancer::GroupCount> moved;
  std::vector<Cf*> taken, exhausted;
  for (const auto& [group, count] : wanted) {
    std::int64_t left = count;
    // From the fullest queue first, so that no worker of this rank is stripped bare.
    std::vector<Worker*> order;
    for (auto& w : workers) order.push_back(w.get());
    std::sort(order.begin(), order.end(), [](Worker* a, Worker* b) {
      return a->queue.atomics() != b->queue.atomics() ? a->queue.atomics() > b->queue.atomics()
                                                      : a->number < b->number;
    });
    for (Worker* w : order) {
      if (left == 0) break;
      left -= w->queue.take(balancer::index(group), left, taken, exhausted);
    }
    if (left != count) {
      moved.push_back({group, count - left});
      moved_by_group[balancer::index(group)] += count - left;
      moved_out += count - left;
    }
  }
  bytes = 0;
  if (!taken.empty()) {
    Ship ship;
    ship.by_policy = true;
    ship.ticket = ticket;
    for (Cf* c : taken) board(*this, ship, c, to);
    for (const PackedInput& i : ship.inputs)
      bytes += static_cast<std::int64_t>(i.value.value.get()->size);
    ++shipments_out;
    comm.send(to, ship);
  }
  for (Cf* range : exhausted) {
    auto* scope = static_cast<ScopeRecord*>(range->scope);
    free_cf(range);
    leave_scope(*outside, scope);
  }
  return moved;
}

void Node::on_ship(Rank from, Ship&& m) {
  if (evacuation->parked()) return evacuation->forward(from, std::move(m));
  std::vector<balancer::GroupCount> groups;
  if (m.by_policy) {
    groups = counts_of(program, m);
    moved_in += static_cast<std::int64_t>(m.fragments.size());
  }
  // The fragments first take their place in their scopes: the inputs' names live under those.
  std::vector<Cf*> arrived_here;
  for (PackedCf& p : m.fragments) {
    bool owed = false;
    const std::uint64_t ref = p.scope;
    ScopeRecord* scope = scopes.arrive(ref, from, owed);
    if (owed) comm.send(from, ScopeReturn{ref});
    Cf* c = unpack(program, std::move(p), scope);
    c->flags |= kEnrolled | kPlaced;
    arrived_here.push_back(c);
  }
  for (PackedInput& i : m.inputs) data.take_copy(from, i.name, std::move(i.value.value));
  if (m.by_policy && policy != nullptr) policy->arrived(from, std::move(groups), m.ticket);
  for (Cf* c : arrived_here) {
    try {
      start(*outside, c);
    } catch (const std::exception& e) {
      fail_in(c, 0, e.what());
    }
  }
}

}  // namespace tessera::runtime
