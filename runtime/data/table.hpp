// Table: the data fragments this rank knows, by id. Sharded; each shard is a small open-addressing
// table under its own lock. Whoever touches an entry holds its shard's lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/fragment/input_slot.hpp"
#include "runtime/memory/lock.hpp"
#include "runtime/memory/pool.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

struct DfEntry;

// What an entry needs once other ranks are involved.
struct RemoteSide {
  std::vector<Rank> copies;   // home: ranks that hold, or are being sent, the value; elsewhere: those it went to with a shipment
  std::vector<Rank> asking;   // home: ranks that wait for the assignment; elsewhere: those to be sent it from here
  Rank keeper{-1};            // home: the rank that keeps a value too large to travel
  std::int64_t reads = 0;     // home: reported by readers of a name that has a req_count somewhere
  std::int64_t limit = -1;    // home: advice req_count; -1: none yet
  std::uint32_t counted_by = 0;  // home: block of the statement with that advice
  DfEntry* older = nullptr;      // home, kUnlisted: neighbours on its scope's list of these
  DfEntry* newer = nullptr;
  bool linked = false;           // it is on that list
  bool lost = false;             // home: some of `asking` need it though its producer has given it to them
  bool again = false;            // home: it was gone, and its copies are being dropped: no rank is believed to have one
};

// DfEntry: one data fragment on one rank.
//
// Invariant: `value` set means no waiters. At its home an entry lives until its scope ends (it is on
// the scope's list); elsewhere until the home says Drop, or until the copy cache evicts it.
struct DfEntry {
  abi::Id id;
  std::uint64_t scope;
  abi::Value* value;        // owned
  std::uint64_t waiters;    // head of the list of waiting input slots (fragment/input_slot.hpp)
  union {
    DfEntry* scope_next;    // home only: the next on its scope's list
    std::int64_t uses_left; // instead, with kUnlisted and a value: the fragments that have still to read it
    std::int64_t unheard;   // not home: its home may never have heard of this copy (assign_used)
  };
  RemoteSide* remote;       // owned, often null
  std::uint32_t assigned_by;  // block + 1 of the statement that assigned it; 0: not assigned
  std::uint32_t flags : 8;
  std::uint32_t freed_by : 24;  // home, kDeleted: block + 1 of the fragment that freed it
};
inline constexpr std::uint8_t kAsked = 1;     // a Request or Fetch is under way
inline constexpr std::uint8_t kCopy = 2;      // a copy the cache may evict
inline constexpr std::uint8_t kDeleted = 4;   // home: freed early by advice
inline constexpr std::uint8_t kTouched = 8;   // read since the cache last looked
inline constexpr std::uint8_t kSpent = 16;    // with kDeleted: by the last read of its req_count

inline constexpr std::uint8_t kEntrusted = 32; // not home: kept for a home that has left the run
// Home, of a name with known uses: freed with the last of them, on whichever rank that is. Once another rank is involved its
// scope frees it at the latest (DataFragments::share). Where uses can't be told it becomes an entry like any other (list).
inline constexpr std::uint8_t kUnlisted = 64;
inline constexpr std::uint8_t kEvicted = 128;  // not home: who reads it has to ask, although it was to come by itself

inline RemoteSide& remote(DfEntry* e) {
  if (e->remote == nullptr) e->remote = new RemoteSide;
  return *e->remote;
}

// Puts a rank on a list of ranks; false: it was there.
inline bool add(std::vector<Rank>& ranks, Rank r) {
  if (std::find(ranks.begin(), ranks.end(), r) != ranks.end()) return false;
  ranks.push_back(r);
  return true;
}
inline Rank keeper(const DfEntry* e) { return e->remote == nullptr ? Rank{-1} : e->remote->keeper; }
// How many fragments wait for it.
inline std::int64_t waiting_for(const DfEntry* e) {
  std::int64_t count = 0;
  for (std::uint64_t at = e->waiters; at != 0; ++count) {
    const Waiter waiter = waiter_of(at);
    at = slot_word(waiter.cf, waiter.slot);
  }
  return count;
}
inline bool somewhere(const DfEntry* e) { return e->value != nullptr || keeper(e) != Rank{-1}; }

class alignas(64) Shard {
 public:
  Shard();
  ~Shard();
  SpinMutex mutex;
  DfEntry* find(const abi::Id& id) const;
  DfEntry* insert(const abi::Id& id, std::uint64_t scope);  // not there yet
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

inline DfEntry* Shard::insert(const abi::Id& id, std::uint64_t scope) {
  if ((used_ + 1) * 4 > slots_.size() * 3) grow();
  auto* e = static_cast<DfEntry*>(pool_allocate(sizeof(DfEntry)));
  *e = DfEntry{id, scope, nullptr, 0, {nullptr}, nullptr, 0, 0, 0};
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

// With its value and remote side.
inline void free_entry(DfEntry* e) {
  abi::release(e->value);
  delete e->remote;
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
