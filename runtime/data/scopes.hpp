// Scopes: which scope instances are alive, and when one has ended.
//
// A scope instance is *home* on the rank where it was opened; its data fragments' directory entries
// live there. It counts what is under it: the body that is still creating fragments, its fragments,
// its child scopes. When the count reaches zero nobody can name its fragments: they are freed
// everywhere and the parent loses one count. The root scope reaching zero is the end of the program.
//
// Fragments that move take the count along; another rank with fragments of the scope has a *proxy*, which owes the one
// that sent the first of them a ScopeReturn. The rules are in protocol/counting.hpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/data/table.hpp"
#include "runtime/fragment/scope_record.hpp"
#include "runtime/memory/biased.hpp"
#include "runtime/protocol/counting.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

// ref: home rank (16 bits) | abi::kUsesKnown, abi::kSwept, in names only (2) | generation (18) | slot (28)
inline constexpr unsigned kSlotBits = 28;
inline constexpr std::uint32_t kSlotMask = (1u << kSlotBits) - 1;
inline constexpr std::uint32_t kGenerationMask = (1u << 18) - 1;
inline Rank home_of(std::uint64_t ref) { return Rank{static_cast<std::int32_t>(ref >> 48)}; }
inline Rank home_of(const abi::Name& n) { return home_of(n.scope); }

class Scopes {
 public:
  explicit Scopes(Rank self) : self_(self) {}
  ~Scopes();

  ScopeRecord* open(ScopeRecord* parent, abi::Id id);
  // The record of a home scope, or null when it has ended (stale references are normal) or is another rank's.
  ScopeRecord* find_home(std::uint64_t ref);

  // The home record or the proxy of this scope, or null.
  ScopeRecord* find(std::uint64_t ref);

  // Counts of scopes that a ScopeReturn has to take back at once.
  using Debts = std::vector<std::pair<std::uint64_t, std::int64_t>>;
  // A fragment of foreign or home scope `ref` arrived from `from`; returns its record with one count
  // for the fragment. A count owed to `from` is added to `owed`.
  ScopeRecord* arrive(std::uint64_t ref, Rank from, Debts& owed);

  // A proxy's count reached zero. True: it was closed, and `engaged_by` must get a ScopeReturn.
  bool close_proxy(ScopeRecord* proxy, std::uint64_t ref, Rank& engaged_by);
  // Puts a directory entry on the list of its scope; false when the scope has ended.
  bool add_entry(std::uint64_t ref, DfEntry* entry);
  // The same for one with a side for other ranks that can be taken off again; false when its scope is ending, and frees
  // it.
  bool link(DfEntry* entry);
  bool unlink(DfEntry* entry);
  // A home record's count reached zero. First it is retired: nobody finds it any more, so its list of
  // entries is complete; when those are freed, the record is.
  void retire(ScopeRecord*);
  void free_retired(ScopeRecord*);

  // The home records; while nothing runs.
  template <class F>
  void for_each_home(F f) {
    for (Part& part : parts_) {
      const std::lock_guard hold(part.mutex);
      for (const Slot& s : part.slots) {
        if (s.record != nullptr) f(*s.record);
      }
    }
  }

  // The first other rank that our counts of this scope return to, or -1 if they end here.
  Rank way_home(const ScopeRecord* scope) const;

  Rank self() const { return self_; }

 private:
  struct Slot {
    ScopeRecord* record = nullptr;
    std::uint32_t generation = 1;
  };
  // Slot number: place in its part | part. Threads open scopes in parts of their own: what one thread
  // opens, fills and ends meets no other.
  static constexpr unsigned kPartBits = 4;
  static constexpr std::uint32_t kParts = 1u << kPartBits;
  static constexpr std::size_t kMostInPart = std::size_t{1} << (kSlotBits - kPartBits);
  struct alignas(64) Part {
    BiasedMutex mutex;
    std::vector<Slot> slots;
    std::vector<std::uint32_t> free;
  };
  Part& part_of(std::uint32_t slot) { return parts_[slot % kParts]; }
  // The slot that the reference means, or null when it has another scope now. The caller holds the lock.
  static Slot* find(Part&, std::uint64_t ref);
  // Likewise; null when the scope has ended.
  static ScopeRecord* record(Part&, std::uint64_t ref);

  Rank self_;
  std::array<Part, kParts> parts_;
  std::mutex proxies_mutex_;
  std::unordered_map<std::uint64_t, ScopeRecord*> proxies_;
};

}  // namespace tessera::runtime
