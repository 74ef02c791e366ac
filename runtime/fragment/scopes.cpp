#include "runtime/fragment/scopes.hpp"

#include <new>

#include "runtime/memory/pool.hpp"

namespace tessera::runtime {
namespace {

ScopeRecord* make_record() { return new (pool_allocate(sizeof(ScopeRecord))) ScopeRecord; }
void free_record(ScopeRecord* r) {
  r->~ScopeRecord();
  pool_free(r, sizeof(ScopeRecord));
}

}  // namespace

Scopes::~Scopes() {
  for (auto& s : slots_) {
    if (s.record != nullptr) free_record(s.record);
  }
  for (auto& [ref, record] : proxies_) free_record(record);
}

ScopeRecord* Scopes::open(ScopeRecord* parent, abi::Id id) {
  ScopeRecord* r = make_record();
  r->id = id;
  r->parent = parent;
  if (parent != nullptr) parent->count.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard hold(mutex_);
  std::uint32_t slot;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  slots_[slot].record = r;
  r->ref = (static_cast<std::uint64_t>(balancer::index(self_)) << 48) |
           (static_cast<std::uint64_t>(slots_[slot].generation) << kSlotBits) | slot;
  return r;
}

ScopeRecord* Scopes::find_home(std::uint64_t ref) {
  const auto slot = static_cast<std::uint32_t>(ref) & kSlotMask;
  const auto generation = static_cast<std::uint32_t>(ref >> kSlotBits) & kGenerationMask;
  const std::lock_guard hold(mutex_);
  if (slot >= slots_.size() || slots_[slot].generation != generation) return nullptr;
  return slots_[slot].record;
}

ScopeRecord* Scopes::find(std::uint64_t ref) {
  if (home_of(ref) == self_) return find_home(ref);
  const std::lock_guard hold(proxies_mutex_);
  const auto at = proxies_.find(ref);
  return at == proxies_.end() ? nullptr : at->second;
}

ScopeRecord* Scopes::arrive(std::uint64_t ref, Rank from, bool& owed) {
  if (home_of(ref) == self_) {
    // Back at home: the sender's chain ends here, so it may be returned at once.
    owed = true;
    ScopeRecord* r = find_home(ref);
    r->count.fetch_add(1, std::memory_order_relaxed);
    return r;
  }
  const std::lock_guard hold(proxies_mutex_);
  auto [at, fresh] = proxies_.try_emplace(ref, nullptr);
  if (fresh) {
    ScopeRecord* r = make_record();  // count 1: this fragment
    r->ref = ref;
    r->proxy = true;
    r->engaged_by = from;
    at->second = r;
    owed = false;
    return r;
  }
  at->second->count.fetch_add(1, std::memory_order_relaxed);
  owed = true;
  return at->second;
}

bool Scopes::close_proxy(ScopeRecord* proxy, std::uint64_t ref, Rank& engaged_by) {
  const std::lock_guard hold(proxies_mutex_);
  const auto at = proxies_.find(ref);
  // Between our count reaching zero and this lock, a fragment may have arrived (count is up again),
  // come and gone (somebody else closed it), or both (a new record).
  if (at == proxies_.end() || at->second != proxy ||
      proxy->count.load(std::memory_order_acquire) != 0) {
    return false;
  }
  engaged_by = proxy->engaged_by;
  proxies_.erase(at);
  free_record(proxy);
  return true;
}

bool Scopes::add_entry(std::uint64_t ref, DfEntry* entry) {
  const auto slot = static_cast<std::uint32_t>(ref) & kSlotMask;
  const auto generation = static_cast<std::uint32_t>(ref >> kSlotBits) & kGenerationMask;
  const std::lock_guard hold(mutex_);
  if (slot >= slots_.size() || slots_[slot].generation != generation) return false;
  ScopeRecord* r = slots_[slot].record;
  if (r == nullptr) return false;
  entry->scope_next = r->entries;
  r->entries = entry;
  return true;
}

void Scopes::retire(ScopeRecord* r) {
  const std::lock_guard hold(mutex_);
  const std::uint32_t number = static_cast<std::uint32_t>(r->ref) & kSlotMask;
  slots_[number].record = nullptr;
  slots_[number].generation = (slots_[number].generation + 1) & kGenerationMask;
  free_.push_back(number);
}

void Scopes::free_retired(ScopeRecord* r) { free_record(r); }

Rank Scopes::way_home(const ScopeRecord* scope) const {
  while (scope != nullptr && !scope->proxy) scope = scope->parent;
  return scope == nullptr ? Rank{-1} : scope->engaged_by;
}

}  // namespace tessera::runtime
