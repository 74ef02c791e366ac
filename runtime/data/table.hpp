// Table: the data fragments this rank knows, by id. Sharded; each shard is a small open-addressing
// table under its own lock. Whoever touches an entry holds its shard's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/fragment/input_slot.hpp"
#include "runtime/memory/biased.hpp"
#include "runtime/memory/pool.hpp"
#include "runtime/protocol/entry.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

struct ScopeRecord;

// DfEntry: one data fragment on one rank.
//
// Invariant: `value` is set where the state says so (protocol::has_value), and then nobody waits. At its home an entry
// lives until its scope ends (it is on the scope's list), or if its uses are counted until the last of them; elsewhere
// until the home says Drop.
struct DfEntry : protocol::Entry {
  abi::Id id;
  std::uint64_t scope;
  abi::Value* value;      // owned
  std::uint64_t waiters;  // head of the list of waiting input slots (fragment/input_slot.hpp)
  union {
    DfEntry* scope_next;   // home: the next on its scope's list
    ScopeRecord* made_in;  // untold: of who has assigned it; counts until that is told
  };
};
static_assert(sizeof(DfEntry) == 64);

// How many fragments wait for it.
inline std::int64_t waiting_for(const DfEntry* e) {
  std::int64_t count = 0;
  for (std::uint64_t at = e->waiters; at != 0; ++count) {
    const Waiter waiter = waiter_of(at);
    at = slot_word(waiter.cf, waiter.slot);
  }
  return count;
}

// For tests: how many entries were left when the tables of all ranks went; null: nobody asks.
inline std::atomic<std::size_t>* left_in_tables = nullptr;

class alignas(64) Shard {
 public:
  Shard();
  ~Shard();
  BiasedMutex mutex;
  DfEntry* find(const abi::Id& id) const;
  DfEntry* insert(const abi::Id& id, std::uint64_t scope, protocol::Entry begins = {});  // not there yet
  // Takes the entry out and returns it; null when absent.
  DfEntry* remove(const abi::Id& id);
  template <class F>
  void for_each(F f) {
    for (auto& s : slots_) {
      if (s.entry != nullptr) f(*s.entry);
    }
  }
  std::size_t size() const { return used_; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    DfEntry* entry = nullptr;
  };
  void grow();
  std::vector<Slot> slots_;
  std::uint64_t mask_;
  std::size_t used_ = 0;
};

inline DfEntry* Shard::find(const abi::Id& id) const {
  for (std::uint64_t at = id.lo & mask_;; at = (at + 1) & mask_) {
    const Slot& s = slots_[at];
    if (s.entry == nullptr) return nullptr;
    if (s.key == id.lo && s.entry->id.hi == id.hi) return s.entry;
  }
}

inline DfEntry* Shard::insert(const abi::Id& id, std::uint64_t scope, protocol::Entry begins) {
  if ((used_ + 1) * 4 > slots_.size() * 3) grow();
  auto* e = new (pool_allocate(sizeof(DfEntry))) DfEntry{std::move(begins), id, scope, nullptr, 0, {nullptr}};
  std::uint64_t at = id.lo & mask_;
  while (slots_[at].entry != nullptr) at = (at + 1) & mask_;
  slots_[at] = {id.lo, e};
  ++used_;
  return e;
}

inline DfEntry* Shard::remove(const abi::Id& id) {
  std::uint64_t at = id.lo & mask_;
  for (;; at = (at + 1) & mask_) {
    const Slot& s = slots_[at];
    if (s.entry == nullptr) return nullptr;
    if (s.key == id.lo && s.entry->id.hi == id.hi) break;
  }
  DfEntry* e = slots_[at].entry;
  // Close the hole: move back every following entry that may not stay behind it.
  std::uint64_t hole = at;
  for (std::uint64_t next = (at + 1) & mask_; slots_[next].entry != nullptr; next = (next + 1) & mask_) {
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

// With its value.
inline void free_entry(DfEntry* e) {
  abi::release(e->value);
  e->~DfEntry();
  pool_free(e, sizeof(DfEntry));
}

class Table {
 public:
  static constexpr std::size_t kShards = 256;
  Table() : shards_(kShards) {}
  Shard& shard(const abi::Id& id) { return shards_[id.hi >> 56]; }
  std::vector<Shard>& shards() { return shards_; }

 private:
  std::vector<Shard> shards_;
};

}  // namespace tessera::runtime
