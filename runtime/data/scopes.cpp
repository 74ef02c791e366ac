#include "runtime/data/scopes.hpp"

#include <new>

#include "runtime/fragment/horizon.hpp"
#include "runtime/memory/pool.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::runtime {
namespace {

ScopeRecord* make_record() { return new (pool_allocate(sizeof(ScopeRecord))) ScopeRecord; }
void free_record(ScopeRecord* r) {
  for (Horizon* h = r->horizons; h != nullptr;) delete std::exchange(h, h->next());
  r->~ScopeRecord();
  pool_free(r, sizeof(ScopeRecord));
}

std::uint32_t slot_of(std::uint64_t ref) { return static_cast<std::uint32_t>(ref) & kSlotMask; }

std::uint32_t number_of_this_thread() {
  static std::atomic<std::uint32_t> threads{0};
  thread_local const std::uint32_t mine = threads.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

}  // namespace

Scopes::~Scopes() {
  for (auto& part : parts_) {
    for (auto& s : part.slots) {
      if (s.record != nullptr) free_record(s.record);
    }
  }
  for (auto& [ref, record] : proxies_) free_record(record);
}

ScopeRecord* Scopes::open(ScopeRecord* parent, abi::Id id) {
  ScopeRecord* r = make_record();
  r->id = id;
  r->parent = parent;
  if (parent != nullptr) parent->count.add();
  // A part that is full leaves what is to come to the next one.
  const std::uint32_t first = number_of_this_thread();
  for (std::uint32_t i = 0; i < kParts; ++i) {
    const std::uint32_t number = (first + i) % kParts;
    Part& part = parts_[number];
    const std::lock_guard hold(part.mutex);
    std::uint32_t slot;
    if (!part.free.empty()) {
      slot = part.free.back();
      part.free.pop_back();
    } else if (part.slots.size() < kMostInPart) {
      slot = (static_cast<std::uint32_t>(part.slots.size()) << kPartBits) | number;
      part.slots.emplace_back();
    } else {
      continue;
    }
    Slot& s = part.slots[slot >> kPartBits];
    s.record = r;
    r->ref = (static_cast<std::uint64_t>(balancer::index(self_)) << 48) |
             (static_cast<std::uint64_t>(s.generation) << kSlotBits) | slot;
    return r;
  }
  throw ProgramError(0, "more than 268 million blocks with data fragments of their own are alive on this rank");
}

Scopes::Slot* Scopes::find(Part& part, std::uint64_t ref) {
  const std::uint32_t place = slot_of(ref) >> kPartBits;
  const auto generation = static_cast<std::uint32_t>(ref >> kSlotBits) & kGenerationMask;
  if (place >= part.slots.size() || part.slots[place].generation != generation) return nullptr;
  return &part.slots[place];
}

ScopeRecord* Scopes::record(Part& part, std::uint64_t ref) {
  const Slot* s = find(part, ref);
  return s == nullptr ? nullptr : s->record;
}

ScopeRecord* Scopes::find_home(std::uint64_t ref) {
  if (home_of(ref) != self_) return nullptr;  // its slot may have one of this rank's here
  Part& part = part_of(slot_of(ref));
  const std::lock_guard hold(part.mutex);
  return record(part, ref);
}

ScopeRecord* Scopes::find(std::uint64_t ref) {
  if (home_of(ref) == self_) return find_home(ref);
  const std::lock_guard hold(proxies_mutex_);
  const auto at = proxies_.find(ref);
  return at == proxies_.end() ? nullptr : at->second;
}

ScopeRecord* Scopes::arrive(std::uint64_t ref, Rank from, Debts& owed) {
  const auto owe = [&] {
    if (owed.empty() || owed.back().first != ref) owed.emplace_back(ref, 0);
    ++owed.back().second;
  };
  const auto count_here = [&](ScopeRecord* r) {
    r->count.add();
    if (protocol::arrives(r->knows()) == protocol::Arrival::returns) owe();
    return r;
  };
  if (home_of(ref) == self_) return count_here(find_home(ref));
  const std::lock_guard hold(proxies_mutex_);
  auto [at, fresh] = proxies_.try_emplace(ref, nullptr);
  if (!fresh) return count_here(at->second);
  // protocol::Arrival::engages
  ScopeRecord* r = make_record();  // count 1: this fragment
  r->ref = ref;
  r->proxy = true;
  r->engaged_by = from;
  return at->second = r;
}

bool Scopes::close_proxy(ScopeRecord* proxy, std::uint64_t ref, Rank& engaged_by) {
  const std::lock_guard hold(proxies_mutex_);
  const auto at = proxies_.find(ref);
  // Between our count reaching zero and this lock, a fragment may have arrived (count is up again),
  // come and gone (somebody else closed it), or both (a new record).
  if (at == proxies_.end() || at->second != proxy || proxy->count.load() != 0) {
    return false;
  }
  engaged_by = proxy->engaged_by;
  proxies_.erase(at);
  free_record(proxy);
  return true;
}

bool Scopes::add_entry(std::uint64_t ref, DfEntry* entry) {
  Part& part = part_of(slot_of(ref));
  const std::lock_guard hold(part.mutex);
  ScopeRecord* r = record(part, ref);
  if (r == nullptr) return false;
  entry->scope_next = std::exchange(r->entries, entry);
  return true;
}

bool Scopes::link(DfEntry* entry) {
  Part& part = part_of(slot_of(entry->scope));
  const std::lock_guard hold(part.mutex);
  ScopeRecord* r = record(part, entry->scope);
  if (r == nullptr) return false;
  DfEntry* const first = std::exchange(r->shared, entry);
  if (first != nullptr) first->others->newer = entry;
  entry->others->older = first;
  return true;
}

bool Scopes::unlink(DfEntry* entry) {
  Part& part = part_of(slot_of(entry->scope));
  const std::lock_guard hold(part.mutex);
  ScopeRecord* r = record(part, entry->scope);
  if (r == nullptr) return false;
  const protocol::Others& side = *entry->others;
  (side.newer == nullptr ? r->shared : side.newer->others->older) = side.older;
  if (side.older != nullptr) side.older->others->newer = side.newer;
  return true;
}

void Scopes::retire(ScopeRecord* r) {
  Part& part = part_of(slot_of(r->ref));
  const std::lock_guard hold(part.mutex);
  Slot* s = find(part, r->ref);
  s->record = nullptr;
  s->generation = s->generation == kGenerationMask ? 1 : s->generation + 1;  // no reference is 0
  part.free.push_back(slot_of(r->ref));
}

void Scopes::free_retired(ScopeRecord* r) { free_record(r); }

Rank Scopes::way_home(const ScopeRecord* scope) const {
  while (scope != nullptr && !scope->proxy) scope = scope->parent;
  return scope == nullptr ? Rank{-1} : scope->engaged_by;
}

}  // namespace tessera::runtime
