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

bool DataFragments::is_awaited(const abi::Id& id) {
  {
    Shard& shard = table_.shard(id);
    const std::lock_guard hold(shard.mutex);
    const DfEntry* e = shard.find(id);
    if (e != nullptr && e->waiters != 0) return true;
  }
  return horizons->relied(id);  // behind the look at who waits, who may leave between
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

void DataFragments::free_dead(std::vector<Horizons::Dead>& dead, const std::unordered_set<std::uint64_t>& awaited) {
  std::map<Rank, Drop> drops;
  std::erase_if(dead, [&](const Horizons::Dead& d) { return awaited.contains(d.id.lo) || !free_dead(d.id, drops); });
  for (auto& [rank, drop] : drops) comm_.send(rank, drop);
}

// False: it is needed by a fragment here, which is to be sent it, or by one that is on its way to where a copy is.
bool DataFragments::free_dead(const abi::Id& id, std::map<Rank, Drop>& drops) {
  DfEntry* e = nullptr;
  {
    Shard& shard = table_.shard(id);
    const std::lock_guard hold(shard.mutex);
    e = shard.find(id);
    if (e == nullptr) return true;
    if (e->waiters != 0 || horizons->relied(id)) return false;
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
