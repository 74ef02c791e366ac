// Swept names of several ranks (docs/protocol.md, node/sweeping.hpp).
#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/comm/communicator.hpp"
#include "runtime/data/data_fragments.hpp"
#include "runtime/data/happens.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/input_names.hpp"

namespace tessera::runtime {

// The caller holds the lock of its shard: whoever has let go of what its maker held is on the list before.
void DataFragments::note_awaited(const abi::Name& n) {
  const std::lock_guard hold(awaited_mutex_);
  awaited_.push_back(n.id);
}

std::vector<abi::Id> DataFragments::awaited(const std::vector<std::int32_t>& homes) {
  std::vector<abi::Id> all, out;
  {
    const std::lock_guard hold(awaited_mutex_);
    all.swap(awaited_);
  }
  std::erase_if(all, [&](const abi::Id& id) {
    Shard& shard = table_.shard(id);
    const std::lock_guard hold(shard.mutex);
    const DfEntry* e = shard.find(id);
    if (e == nullptr || e->waiters == 0) return true;
    if (std::find(homes.begin(), homes.end(), balancer::index(home_of({id, e->scope}))) != homes.end())
      out.push_back(id);
    return false;
  });
  const std::lock_guard hold(awaited_mutex_);
  awaited_.insert(awaited_.end(), all.begin(), all.end());
  return out;
}

// Their homes may let them go soon: it had them, and tells nobody that it looks for them again.
void DataFragments::take_on(const abi::Cf* c, Ship& ship) {
  if (horizons == nullptr || (c->flags & kGathered) != 0) return;
  const InputNames names(c);
  for (unsigned k = 0; k < names.size(); ++k) {
    if (!abi::is_needed(names[k]) || !abi::is_swept(names[k])) continue;
    Shard& shard = table_.shard(names[k].id);
    const std::lock_guard hold(shard.mutex);
    const DfEntry* e = shard.find(names[k].id);
    if (e != nullptr && e->value != nullptr)
      ship.inputs.push_back({names[k], {ValueRef(abi::retain(e->value))}, false});
  }
}

std::size_t DataFragments::free_dead(const std::vector<Horizons::Dead>& dead) {
  std::map<Rank, Drop> drops;
  std::vector<const Horizons::Dead*> needed;
  for (const Horizons::Dead& d : dead) {
    if (!free_dead(d.value.id, false, drops)) needed.push_back(&d);
  }
  for (const Horizons::Dead* d : needed) {
    // Who needed it may be done meanwhile, and its scope have ended, which did not find it where values are noted.
    if (!horizons->note(d->handle, 0, d->value)) free_dead(d->value.id, true, drops);
  }
  for (auto& [rank, drop] : drops) comm_.send(rank, drop);
  return dead.size() - needed.size();
}

// False: its scope has not ended, and it is needed by a fragment here, which is to be sent it, or by one that is on its
// way to where a copy is.
bool DataFragments::free_dead(const abi::Id& id, bool ended, std::map<Rank, Drop>& drops) {
  DfEntry* e = nullptr;
  {
    Shard& shard = table_.shard(id);
    const std::lock_guard hold(shard.mutex);
    e = shard.find(id);
    if (e == nullptr) return true;
    if (!ended && (e->waiters != 0 || horizons->relied(id))) return false;
    if (!leaves_scope(e)) return true;
    shard.remove(id);
  }
  tell_copies(e, drops);
  free_entry(e);
  return true;
}

void DataFragments::forget_passed(const std::vector<abi::Name>& names) {
  std::map<Rank, Drop> drops;
  for (const abi::Name& n : names) {
    if (!is_home(n)) continue;
    Shard& shard = table_.shard(n.id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* const e = shard.find(n.id);
    if (e == nullptr || e->assigned_by != 0 || e->value == nullptr || e->waiters != 0) continue;
    if ((e->others != nullptr && !e->others->asking.empty()) || !leaves_scope(e)) continue;
    // Another fragment that reads it may have left meanwhile, and has it with it.
    tell_copies(e, drops);
    free_entry(shard.remove(n.id));
  }
  for (auto& [rank, drop] : drops) comm_.send(rank, drop);
}

}  // namespace tessera::runtime
