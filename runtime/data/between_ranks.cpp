// Data fragments between ranks (docs/messages.md): each message, and what a fragment on its way takes along, as an
// event of the machine.
#include <algorithm>
#include <mutex>
#include <utility>

#include "runtime/data/happens.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/horizons.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {

using protocol::Travels;

// Returns which scope a message about a name must ask to be acknowledged for, so that it reaches the name's home before
// the scope can end there (protocol/counting.hpp); 0: it does anyway.
std::uint64_t DataFragments::hold(ScopeRecord* scope, Rank home) {
  if (!protocol::must_be_answered(balancer::index(scopes_.way_home(scope)), balancer::index(home))) return 0;
  scope->count.add();  // until Acked
  return scope->ref;
}

std::uint64_t DataFragments::see_off(const abi::Cf* c, Rank to, Ship& ship, std::vector<abi::Name>& names) {
  if ((c->flags & kGathered) != 0) return 0;
  const InputNames inputs(c);
  std::uint64_t promised = 0;
  for (unsigned k = 0; k < std::min(inputs.size(), 64u); ++k) {
    const abi::Name& n = inputs[k];
    if (!abi::is_needed(n) || !is_home(n)) continue;
    const bool comes = sent_to(to, c, k);
    Shard& shard = table_.shard(n.id);
    const std::lock_guard hold(shard.mutex);
    const Outcome o = happens(shard, shard.find(n.id), n, protocol::SeenOff{to});
    if (o.actions.travels == Travels::along) {
      ship.inputs.push_back({n, {ValueRef(abi::retain(o.entry->value))}, false});
    } else if (o.actions.travels == Travels::promised && !comes) {
      promised |= std::uint64_t{1} << k;
      names.push_back(n);
    }
  }
  return promised;
}

bool DataFragments::go_along(const abi::Name& n, abi::Value* held, Rank to, Ship& ship, bool leaves_now) {
  std::uint64_t waiters = 0;
  Travels travels;
  {
    Shard& shard = table_.shard(n.id);
    const std::lock_guard hold(shard.mutex);
    const Outcome o = happens(shard, shard.find(n.id), n, protocol::GoesAlong{to, leaves_now}, held);
    travels = o.actions.travels;
    waiters = o.waiters;
    if (travels == Travels::along) ship.inputs.push_back({n, {ValueRef(abi::retain(held))}, o.actions.unheard});
    if (travels != Travels::along && horizons != nullptr && abi::is_swept(n))
      horizons->rely(n.id);  // it is at home here
  }
  wake(*crew_.outside, waiters, ValueRef(abi::retain(held)));
  return travels == Travels::promised;
}

void DataFragments::on(Rank from, Request&& m) { happens_here(m.name, protocol::Request{from, m.lost}); }
void DataFragments::on(Rank, Refetch&& m) { happens_here(m.name, protocol::Request{m.to, true, true}); }
void DataFragments::give_promised(Rank to, const abi::Name& n) { happens_here(n, protocol::Request{to, false, true}); }

void DataFragments::on(Rank from, Publish&& m) {
  std::uint64_t waiters = 0;
  std::uint32_t first = 0;  // the block after the one that has assigned it, if that is a fault
  {
    Shard& shard = table_.shard(m.name.id);
    const std::lock_guard hold(shard.mutex);
    const Outcome o =
        happens(shard, shard.find(m.name.id), m.name,
                protocol::Publish{from, m.block, static_cast<bool>(m.value.value), m.given, m.uses, &m.due},
                m.value.value.get(), from);
    waiters = o.waiters;
    if (o.actions.fault != protocol::Fault::none) first = o.entry->assigned_by;
  }
  if (first != 0) return fail_at(m.name, m.block, twice_elsewhere(m.name, first - 1, m.block));
  wake(*crew_.outside, waiters, m.value.value);
  if (m.spot.size() == 4 && horizons != nullptr) {
    horizons->note(m.spot[0], 0, {m.name.id, {m.spot[1], m.spot[2]}, static_cast<std::uint64_t>(m.spot[3])});
  }
  if (m.ack != 0) comm_.send(from, Acked{m.ack});
}

void DataFragments::on(Rank, Fetch&& m) { happens_here(m.name, protocol::Fetch{m.to}); }

void DataFragments::on(Rank from, Give&& m) { happens_here(m.name, protocol::Give{}, m.value.value.get(), from); }

void DataFragments::take_copy(Rank from, PackedInput&& input) {
  happens_here(input.name, protocol::Shipped{from, input.unheard}, input.value.value.get(), from);
}

void DataFragments::handed(const abi::Name& n) {
  Shard& shard = table_.shard(n.id);
  const std::lock_guard hold(shard.mutex);
  if (DfEntry* e = shard.find(n.id)) happens(shard, e, n, protocol::Handed{});
}

void DataFragments::pass_by(Rank from, PackedInput& input) {
  if (!std::exchange(input.unheard, false)) return;
  Keep m{input.name, input.value};
  if (is_home(input.name)) return on(from, std::move(m));
  comm_.send(home_of(input.name), m);
}

void DataFragments::on(Rank from, Copied&& m) { happens_here(m.name, protocol::Copied{from}); }

void DataFragments::on(Rank from, Drop&& m) {
  std::map<Rank, Drop> passed;
  for (const PassedDrop& p : m.passed) passed[p.to].ids.push_back(p.id);
  for (const auto& [rank, drop] : passed) comm_.send(rank, drop);
  for (const abi::Id& id : m.ids) {
    Shard& shard = table_.shard(id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(id);
    if (e != nullptr) happens(shard, e, {id, e->scope}, protocol::Drop{from});
  }
}

void DataFragments::on(Rank from, Entrust&& m) { happens_here(m.name, protocol::Entrust{from}, m.value.value.get()); }

void DataFragments::on(Rank from, Keep&& m) { happens_here(m.name, protocol::Keep{from}, m.value.value.get()); }

// ---------------------------------------------------------------------------- uses

void DataFragments::report_uses(const abi::Cf* c) {
  const InputNames names(c);
  for (unsigned k = 0; k < names.size(); ++k) {
    const abi::Value* v = abi::input(c, *c->block, k);
    if (v == nullptr || !uses_told(v) || !abi::has_known_uses(names[k]) || abi::is_swept(names[k])) continue;
    if (is_home(names[k])) {
      if (v->size >= limits_.counted_late) happens_here(names[k], protocol::Used{});
      continue;
    }
    {
      Shard& shard = table_.shard(names[k].id);
      const std::lock_guard hold(shard.mutex);
      DfEntry* e = shard.find(names[k].id);
      if (e != nullptr && e->untold) {
        happens(shard, e, names[k], protocol::UsedHere{});
        continue;
      }
      if (e == nullptr)
        continue;  // shares the value of another (`copy`), and is read here only: its home never hears of it
    }
    untold.read(home_of(names[k]), names[k]);
  }
}

void DataFragments::on(Rank from, Used&& m) {
  for (const abi::Name& n : m.read) happens_here(n, protocol::Used{});
  for (const abi::Id& id : m.used_up) {
    Shard& shard = table_.shard(id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(id);
    if (e != nullptr) happens(shard, e, {id, e->scope}, protocol::UsedUp{from});
  }
}

void DataFragments::take_back(Worker& w, const abi::Name& n) {
  if (!is_home(n)) return w.taken_back.push_back(n);
  Shard& shard = table_.shard(n.id);
  const std::lock_guard hold(shard.mutex);
  count_off(shard, shard.find(n.id), n);
}

// One use less. At home; lock held.
void DataFragments::count_off(Shard& shard, DfEntry* e, const abi::Name& n) {
  if (e == nullptr || !e->counted || e->value == nullptr || e->others != nullptr) {
    happens(shard, e, n, protocol::Used{});
    return;
  }
  e->set_uses_left(e->uses_left() - 1);
  if (e->uses_left() <= 0) free_entry(shard.remove(n.id));
}

void DataFragments::tell_taken_back(Worker& w, const abi::Cf* c) {
  constexpr std::size_t kMost = 4096;  // names in one message
  std::map<Rank, TakenBack> told;
  const auto tell = [&](Rank home, TakenBack& m) {
    m.ack = hold(static_cast<ScopeRecord*>(c->scope), home);
    comm_.send(home, std::exchange(m, {}));
    w.sent = true;
  };
  for (const abi::Name& n : w.taken_back) {
    TakenBack& m = told[home_of(n)];
    m.names.push_back(n);
    if (m.names.size() == kMost) tell(home_of(n), m);
  }
  for (auto& [home, m] : told) {
    if (!m.names.empty()) tell(home, m);
  }
  w.taken_back.clear();
}

void DataFragments::on(Rank from, TakenBack&& m) {
  for (const abi::Name& n : m.names) happens_here(n, protocol::Used{});
  if (m.ack != 0) comm_.send(from, Acked{m.ack});
}

}  // namespace tessera::runtime
