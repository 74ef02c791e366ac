#include "runtime/node/evacuation.hpp"

#include <algorithm>
#include <deque>

#include "runtime/balance/policy_host.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/memory/pool.hpp"
#include "runtime/node/membership.hpp"
#include "runtime/node/moving.hpp"
#include "runtime/node/node.hpp"
#include "runtime/node/sweeping.hpp"

namespace tessera::runtime {
namespace {

// A message that grows beyond this is sent, and another begun.
constexpr std::size_t kFragments = 1024;
constexpr std::uint64_t kBytes = 16 << 20;

// Consignment collects what goes to one rank, in messages of bounded size.
class Consignment {
 public:
  Consignment(Node& node, Rank to) : node_(node), to_(to) {}
  Consignment(const Consignment&) = delete;
  ~Consignment() { send(); }
  void add(Cf* c, bool waited = false) {
    const std::size_t before = ship_.inputs.size();
    waited ? board_waiting(node_, ship_, c, to_) : board(node_, ship_, c, to_, false);
    for (std::size_t i = before; i < ship_.inputs.size(); ++i) {
      bytes_ += ship_.inputs[i].value.value.get()->size;
    }
    if (ship_.fragments.size() >= kFragments || bytes_ >= kBytes) send();
  }

 private:
  void send() {
    if (ship_.fragments.empty()) return;
    node_.comm.send(to_, ship_);
    ship_ = Ship{};
    bytes_ = 0;
  }
  Node& node_;
  Rank to_;
  Ship ship_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Rank Evacuation::next_target() {
  const std::vector<Rank> others = node_.members.others(node_.self());
  return others[turn_of_++ % others.size()];
}

double Evacuation::seconds_here() const {
  const auto now = parked() ? Clock::duration{} : Clock::now() - since_;
  return std::chrono::duration<double>(here_ + now).count();
}

void Evacuation::rest() {
  ever_ = true;
  parked_.store(true);
  swept_ = true;
}

void Evacuation::begin() {
  if (parked()) return;
  here_ += Clock::now() - since_;
  moved_before_ = moved_;
  ever_ = true;
  swept_ = false;
  parked_.store(true);
  turn();
}

void Evacuation::end() {
  if (!parked()) return;
  since_ = Clock::now();
  swept_ = false;
  parked_.store(false);
  node_.crew.sleepers.wake_all();
  node_.wake_communication();
}

void Evacuation::turn() {
  if (!parked() || node_.stopping.load() || node_.failed.load()) return;
  ship_ready();
  if (swept_ || !node_.crew.all_idle()) return;
  ship_ready();  // what the last worker queued before it came to rest
  sweep();
}

void Evacuation::ship_ready() {
  if (node_.crew.nothing_queued()) return;
  std::vector<std::int64_t> ready(node_.facts.program.block_count), bytes(ready.size());
  for (auto& w : node_.crew.workers) w->queue.count(ready, bytes, Making::all);
  const std::vector<Rank> others = node_.members.others(node_.self());
  std::deque<Consignment> to;
  for (const Rank r : others) to.emplace_back(node_, r);
  for (std::uint32_t g = 0; g < ready.size(); ++g) {
    std::int64_t left = ready[g];
    for (std::size_t share = 0; share < to.size() && left > 0; ++share) {
      const std::int64_t ranks_left = static_cast<std::int64_t>(to.size() - share);
      const std::int64_t part = (left + ranks_left - 1) / ranks_left;
      std::vector<Cf*> taken, exhausted;
      std::int64_t got = 0;
      const std::size_t turn = turn_of_++ % to.size();
      for (auto& w : node_.crew.workers) got += w->queue.take(g, part - got, others[turn], taken, exhausted);
      Consignment& target = to[turn];
      for (Cf* c : taken) target.add(c);
      for (Cf* range : exhausted) {
        auto* scope = static_cast<ScopeRecord*>(range->scope);
        if ((range->flags & kHolding) != 0) Node::let_go(range);
        free_cf(range);
        node_.leave_scope(*node_.crew.outside, scope);
      }
      moved_ += got;
      left -= part;
    }
  }
}

void Evacuation::sweep() {
  std::vector<Cf*> waiting = node_.data.take_waiting();
  {
    const std::vector<Rank> others = node_.members.others(node_.self());
    std::deque<Consignment> to;
    for (const Rank r : others) to.emplace_back(node_, r);
    for (Cf* c : waiting) {
      to[turn_of_++ % to.size()].add(c, true);
      ++moved_;
    }
  }
  swept_ = true;
  Left left = node_.data.give_away();
  left.fragments = moved_ - moved_before_;
  release_unused_memory();
  if (node_.self() == Rank{0}) {
    node_.membership->on(Rank{0}, std::move(left));
  } else {
    node_.comm.send(Rank{0}, left);
  }
}

void Evacuation::forward(Rank from, Ship&& m) {
  // The counts of the scopes pass through here as if the fragments had run here.
  Scopes::Debts owed;
  for (PackedCf& p : m.fragments) {
    node_.scopes.arrive(p.scope, from, owed);
    p.promised = 0;  // to this rank, not to where it goes on
  }
  for (const auto& [scope, count] : owed) node_.comm.send(from, ScopeReturn{scope, count});
  if (m.by_policy) {
    if (node_.policy != nullptr) node_.policy->arrived(from, counts_of(node_.facts.program, m), m.ticket);
    m.by_policy = false;
    m.ticket = 0;
  }
  for (PackedInput& i : m.inputs) node_.data.pass_by(from, i);
  // We are the home of these and do not know that they go further: whoever needs them asks us.
  // Of swept ones nobody may be known to ask.
  std::erase_if(m.inputs,
                [this](const PackedInput& i) { return home_of(i.name) == node_.self() && !abi::is_swept(i.name); });
  moved_ += static_cast<std::int64_t>(m.fragments.size());
  const Rank to = next_target();
  m.mark = node_.sweeping->ships(to);
  node_.comm.send(to, std::move(m));
}

}  // namespace tessera::runtime
