#include "runtime/data/table.hpp"

#include "runtime/memory/pool.hpp"

namespace tessera::runtime {

Shard::Shard() : slots_(16), mask_(15) {}

Shard::~Shard() {
  for (auto& s : slots_) {
    if (s.entry != nullptr) free_entry(s.entry);
  }
}

DfEntry* Shard::find(const abi::Id& id) const {
  for (std::uint64_t at = id.lo & mask_;; at = (at + 1) & mask_) {
    const Slot& s = slots_[at];
    if (s.entry == nullptr) return nullptr;
    if (s.key == id.lo && s.entry->id.hi == id.hi) return s.entry;
  }
}

DfEntry* Shard::insert(const abi::Id& id, std::uint64_t scope) {
  if ((used_ + 1) * 4 > slots_.size() * 3) grow();
  auto* e = static_cast<DfEntry*>(pool_allocate(sizeof(DfEntry)));
  *e = DfEntry{id, scope, nullptr, 0, nullptr, nullptr, 0, 0, 0};
  std::uint64_t at = id.lo & mask_;
  while (slots_[at].entry != nullptr) at = (at + 1) & mask_;
  slots_[at] = {id.lo, e};
  ++used_;
  return e;
}

DfEntry* Shard::remove(const abi::Id& id) {
  std::uint64_t at = id.lo & mask_;
  for (;; at = (at + 1) & mask_) {
    const Slot& s = slots_[at];
    if (s.entry == nullptr) return nullptr;
    if (s.key == id.lo && s.entry->id.hi == id.hi) break;
  }
  DfEntry* e = slots_[at].entry;
  // Close the hole: move back every following entry that may not stay behind it.
  std::uint64_t hole = at;
  for (std::uint64_t next = (at + 1) & mask_; slots_[next].entry != nullptr;
       next = (next + 1) & mask_) {
    const std::uint64_t want = slots_[next].key & mask_;
    if (((next - want) & mask_) >= ((next - hole) & mask_)) {
      slots_[hole] = slots_[next];
      hole = next;
    }
  }
  slots_[hole].entry = nullptr;
  --used_;
  return e;
}

void Shard::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const Slot& s : old) {
    if (s.entry == nullptr) continue;
    std::uint64_t at = s.key & mask_;
    while (slots_[at].entry != nullptr) at = (at + 1) & mask_;
    slots_[at] = s;
  }
}

void free_entry(DfEntry* e) {
  abi::release(e->value);
  delete e->remote;
  pool_free(e, sizeof(DfEntry));
}

}  // namespace tessera::runtime
