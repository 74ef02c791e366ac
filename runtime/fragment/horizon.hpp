// Horizon: what may still be read of a swept name (compiler/block/sweep_names.hpp), and what there is of it.
//
// Who may still make readers of the name, or will read more of it than it waits for, holds its hull: a fragment that
// waits or is queued, the rest of a loop, the iterations of it that are being run, a body that is creating fragments.
// All else that could read the name runs inside one of these. A hull lies within that of whoever made its fragment, and
// only becomes smaller. So what is in no hull once will never be read: it is looked for when the values of the name
// have doubled, by the worker that assigns the last of them, and stops nobody; but not before as many values have been
// made as pay for the last look, at all hulls and values. And with the last holder all of it goes:
// names of which there are few values, but one in each level of a recursion, would not double for long.
//
// What a `while` gives out may be an index by which others will read a name. They hold the horizon of what is given
// out, the `while` holds for them what they may read, and hands that to this horizon when it ends: then it goes with
// the last of them.
//
// Of several ranks see fragment/horizons.hpp.
#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_set>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/memory/biased.hpp"

namespace tessera::runtime {

class Horizon;
class Horizons;

// So many values of a name are there before any is looked for; 0: with each assignment. Those that were found; and how
// many hulls and values were looked at. For tests.
inline std::size_t least_to_sweep = 512;
inline std::atomic<std::size_t>* found_dead = nullptr;
inline std::atomic<std::size_t>* looked_at = nullptr;

// HeldHull: one hull of one holder.
struct HeldHull {
  HeldHull* also = nullptr;  // the next of the same holder
  Horizon* of = nullptr;
  std::size_t at = 0;  // where its horizon has the same; its lock
  std::int64_t first[2] = {}, last[2] = {};
};

class alignas(64) Horizon {
 public:
  // Of what may be read of a name: from .. to, by its first two indices.
  struct Box {
    std::int64_t first[2], last[2];
    friend auto operator<=>(const Box&, const Box&) = default;
  };
  struct Value {
    abi::Id id;
    std::int64_t key[2];
    std::uint64_t bytes;
  };

  explicit Horizon(Horizon* next) : next_(next) {}
  // Of several ranks.
  Horizon(Horizon* next, std::int64_t handle, Horizons& all) : handle_(handle), all_(&all), next_(next) {}
  ~Horizon();
  Horizon(const Horizon&) = delete;
  Horizon& operator=(const Horizon&) = delete;

  static Horizon& of(std::int64_t handle) { return *reinterpret_cast<Horizon*>(handle); }
  std::int64_t handle() const { return all_ == nullptr ? reinterpret_cast<std::int64_t>(this) : handle_; }
  Horizon* next() const { return next_; }  // of the same scope
  // Of several ranks, the home: no fragment that may read a name of the same scope has left this rank. What is held of
  // any of them may be passed on as what is held of another.
  bool is_own() const { return !first_->shared_.load(std::memory_order_acquire); }
  void share() { first_->shared_.store(true, std::memory_order_release); }

  // The hulls of one holder; null: there are none. `all`: of several ranks.
  static HeldHull* hold(const abi::Hulls&, Horizons* all);
  // The same holder holds this now, and no longer what it held.
  static HeldHull* hold_instead(HeldHull*, const abi::Hulls&, Horizons* all);
  static void release(HeldHull*);
  // Appends what releases by this thread have left without a holder: it is for the caller to free.
  static void take_left(std::vector<abi::Id>& dead);
  // A few rows of each name; for who owns it.
  static bool reads_few(const HeldHull*);
  // Does the first hold older values of a name than the second? As far as it can be seen; for who owns both.
  static bool is_behind(const HeldHull*, const HeldHull*);

  // The hulls of one holder, of names of the same scope, are held as long as somebody holds this.
  void hand(HeldHull*);

  // What the body that declares the name holds, until it has created all that is in it: everything.
  void open(Horizons* all = nullptr);
  void close() { release(open_); }

  // There is a value. `part`: of who assigns; threads with different ones meet no other. What nobody can read any more
  // is appended to `dead`: it is for the caller to free.
  void note(std::size_t part, const abi::Id&, const std::int64_t (&key)[2], std::uint64_t bytes,
            std::vector<abi::Id>& dead);

  // All that has been noted and not been given out as dead; while nobody else has the horizon.
  template <class F>
  void for_each_value(F f) {
    for (Part& p : parts_) {
      for (const Value& v : p.values) f(v.id);
      for (const abi::Id& id : p.others) f(id);
    }
  }

 private:
  friend class Horizons;
  struct Held {
    Box box;
    HeldHull* hull;
  };
  static constexpr std::uint64_t kLeastBytes = 512 << 10;  // of values, or so many
  // To look at a hull or a value takes some 2 ns: a value that is made pays for so many, and for one more for each so
  // many bytes of it.
  static constexpr std::uint64_t kPays = 64;
  struct alignas(64) Part {
    BiasedMutex mutex;
    std::vector<Value> values;
    std::vector<abi::Id> others;  // elements without the indices that tell
    std::uint64_t bytes = 0;
    std::size_t most = least_to_sweep;
    std::uint64_t most_bytes = kLeastBytes;
    std::uint64_t unpaid = 0;  // of what the last look has cost
  };

  // What is held, and what of it a value is in.
  class Around {
   public:
    explicit Around(std::vector<Box> boxes);
    bool has(const Value&) const;

   private:
    std::vector<Box> boxes_;
    bool flat_;
  };
  static constexpr Box kAll{{abi::kLeast, abi::kLeast}, {abi::kMost, abi::kMost}};
  static constexpr Box kNothing{{abi::kMost, abi::kMost}, {abi::kLeast, abi::kLeast}};
  static HeldHull* make_held(const abi::Hull&);
  static bool is_due(const Part&);
  static void widen(Box&, const Part&);
  void sweep(Part&, std::vector<abi::Id>& dead);
  void keep(std::size_t part, const Value&);
  void find_dead(std::vector<Box>, const std::function<void(const abi::Id&)>& dead);
  void remove(const std::unordered_set<std::uint64_t>& gone);  // by the low halves of ids
  std::vector<Box> held(const Box& within, std::size_t& holds);
  // Of several ranks, the home, when it writes down: what is held here of what there is. Only that may be found dead by
  // the sweep: what is held far ahead of all values, as of steps that are made but have not run, is no part of it.
  std::vector<Box> cut();
  void leave_all();
  void add(HeldHull*);
  void note_way(const HeldHull&);
  void forget(const Horizon& other);

  BiasedMutex mutex_;
  std::vector<Held> held_;  // side by side: there may be as many as there are records
  HeldHull* open_ = nullptr;
  HeldHull* handed_ = nullptr;           // of several ranks: with the lock of all
  std::vector<std::int64_t> handed_to_;  // these have some of this; of several ranks
  Box cut_ = kNothing;                   // around what there was at the last cut; of several ranks, the home
  std::atomic<bool> left_{false};        // there is no holder any more, and will be none
  std::atomic<bool> shared_{false};      // of the first one of a scope: see share()
  std::atomic<int> goes_{0};             // the first index of what is held becomes larger (1), smaller (-1)
  const std::int64_t handle_ = 0;
  Horizons* const all_ = nullptr;  // null: there is one rank
  Horizon* const next_;
  Horizon* const first_ = next_ == nullptr ? this : next_->first_;  // which goes last
  std::array<Part, 4> parts_;
};

}  // namespace tessera::runtime
