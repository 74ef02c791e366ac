// Names with known uses, of which fragments on several ranks make use (docs/optimisations.md, count-uses).
//
// The home counts. A fragment that gets its input there is counted then, and counted off again if it is moved (restore). One that
// runs elsewhere is counted when it begins to run, by its rank: it moves no more, and holds its input. So is one that reads a large
// value at home, where a balancer may still move it: then its home knows who has the value, and nobody is sent it twice. So each use
// is counted at most once, and what is freed has no reader left. A use that is missed costs memory only: then the scope frees the value.
#include <algorithm>
#include <mutex>
#include <utility>

#include "runtime/data/data_fragments.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/node.hpp"

namespace tessera::runtime {
namespace {

constexpr auto kTellEvery = std::chrono::milliseconds(1);

}  // namespace

// Another rank is involved: the scope has to find the entry at its end, if it is there still. A rank that has once left the run
// counts no more. The caller holds the shard's lock.
void DataFragments::share(DfEntry* e) {
  if ((e->flags & kUnlisted) == 0) return;
  if (node_.evacuation->ever()) return list(e);
  RemoteSide& side = remote(e);
  if (!side.linked) side.linked = node_.scopes.link(e);
}

// So many fragments have used it. True: all have now, and it is gone. The caller holds the shard's lock.
bool DataFragments::count_down(Shard& shard, DfEntry* e, std::int64_t uses) {
  e->uses_left -= uses;
  if (e->uses_left > 0) return false;
  free_used(shard, e);
  return true;
}

// The caller holds the shard's lock.
void DataFragments::free_used(Shard& shard, DfEntry* e) {
  if (!leaves_scope(e)) return;
  if (const RemoteSide* side = e->remote) {
    for (const auto* ranks : {&side->copies, &side->asking}) {
      for (const Rank r : *ranks) put_off_drop(r, e->id);
    }
  }
  free_entry(shard.remove(e->id));
}

// False: its scope is ending, and frees it. The caller holds the shard's lock.
bool DataFragments::leaves_scope(DfEntry* e) { return e->remote == nullptr || !e->remote->linked || node_.scopes.unlink(e); }

// The home of a fragment that was assigned and read elsewhere only forgets that it was asked for it. Nobody drops anything: where the
// value is, a reader may still hold it and be moved, and then that copy is all there is. The caller holds the shard's lock.
void DataFragments::forget_asked(Shard& shard, DfEntry* e) {
  if (leaves_scope(e)) free_entry(shard.remove(e->id));
}

void DataFragments::put_off_drop(Rank to, const abi::Id& id) {
  if (to == node_.self()) return;
  const std::lock_guard hold(untold_mutex_);
  untold_[to].drop.ids.push_back(id);
  any_untold_.store(true, std::memory_order_relaxed);
}

bool DataFragments::known_here(const abi::Name& n) {
  Shard& shard = table_.shard(n.id);
  const std::lock_guard hold(shard.mutex);
  return shard.find(n.id) != nullptr;
}

void DataFragments::report_uses(const abi::Cf* c) {
  const InputNames names(c);
  for (unsigned k = 0; k < names.size(); ++k) {
    const abi::Value* v = abi::input(c, *c->block, k);
    if (v == nullptr || !uses_told(v) || !abi::has_known_uses(names[k])) continue;
    if (is_home(names[k])) {
      if (counted_late(v)) count_use(names[k]);
      continue;
    }
    if (!known_here(names[k])) continue;  // shares the value of another (`copy`), and is read here only: its home never hears of it
    const std::lock_guard hold(untold_mutex_);
    untold_[home_of(names[k])].used.read.push_back(names[k]);
    any_untold_.store(true, std::memory_order_relaxed);
  }
}

// At home: a reader has begun to run. Its assigner may have sent the value there before we hear of that: then what is left is negative.
void DataFragments::count_use(const abi::Name& n) {
  if (node_.scopes.find_home(n.scope) == nullptr) return;
  Shard& shard = table_.shard(n.id);
  const std::lock_guard hold(shard.mutex);
  DfEntry* e = find_or_insert(shard, n);
  if (!somewhere(e)) share(e);
  if ((e->flags & kUnlisted) == 0) return;
  if (somewhere(e)) {
    count_down(shard, e, 1);
  } else {
    --e->uses_left;
  }
}

void DataFragments::report_used_up(const abi::Name& n) {
  const std::lock_guard hold(untold_mutex_);
  untold_[home_of(n)].used.used_up.push_back(n.id);
  any_untold_.store(true, std::memory_order_relaxed);
}

void DataFragments::tell_uses_now(Clock::time_point now, bool all) {
  if (!any_untold_.load(std::memory_order_relaxed) || (!all && now < next_telling_)) return;
  next_telling_ = now + kTellEvery;
  std::map<Rank, Untold> untold;
  {
    const std::lock_guard hold(untold_mutex_);
    untold.swap(untold_);
    any_untold_.store(false, std::memory_order_relaxed);
  }
  for (auto& [rank, what] : untold) {
    if (!what.used.read.empty() || !what.used.used_up.empty()) node_.comm.send(rank, std::move(what.used));
    if (!what.drop.ids.empty()) node_.comm.send(rank, std::move(what.drop));
  }
}

void DataFragments::on(Rank from, Used&& m) {
  for (const abi::Name& n : m.read) count_use(n);
  for (const abi::Id& id : m.used_up) {
    Shard& shard = table_.shard(id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(id);
    if (e == nullptr || (e->flags & kUnlisted) == 0 || somewhere(e) || e->waiters != 0) continue;
    // Asked for elsewhere: a fragment that had it there moved while it waited for something else, and its Keep is to come.
    const bool moved = e->remote != nullptr && std::any_of(e->remote->asking.begin(), e->remote->asking.end(), [from](Rank r) { return r != from; });
    moved ? list(e) : forget_asked(shard, e);
  }
}

}  // namespace tessera::runtime
