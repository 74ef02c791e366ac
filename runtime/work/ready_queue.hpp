// ReadyQueue: one worker's ready fragments. The worker pops from it, its siblings and the balancer
// take from it; each operation holds the queue's own lock for a few nanoseconds.
//
// Atomic fragments wait in one first-in-first-out list per group, so the balancer takes n of a group
// in O(n) and the worker runs a loop's fragments in the order of the loop. Of several groups the
// one that became non-empty last goes first: consumers run before more producers do, which keeps
// data short-lived. But where there is a balancer, what is much lighter goes before: it may be what
// others wait for, until there is something for every rank, or its inputs take much memory.
// Structured fragments (subs, ifs, whiles) come next, ranges (`for`) last: depth first, so what the
// newest body made goes before what was there, in the order of that body. But the loops of a `while`'s turn go behind
// those of its earlier turns, whatever of the turn has made them, and so do those of a sub that calls itself: what is
// made beside the way from turn to turn would have its turn when the `while` has ended. Ranges are claimed in chunks,
// so a loop of any length is one record; they stay listed while iterations remain. One that makes more than atomic
// fragments gives out one iteration at a time.
//
// Loops wait in two lists, and what is due (kDue) goes before the others, which are ahead of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "balancer/types.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/memory/lock.hpp"
#include "runtime/work/group_stats.hpp"

namespace tessera::runtime {

struct HeldHull;
class Growing;
class Horizons;

// What a worker got to do: a fragment, or iterations first..last of a range.
struct Work {
  Cf* cf = nullptr;
  std::int64_t first = 0;
  std::int64_t last = -1;
  bool stolen = false;       // from another worker's queue
  HeldHull* hold = nullptr;  // iterations: what they may still read of swept names
};

// What a worker may make fragments by: nothing, subs, also loops of which few iterations are left, or instead of those
// loops that are due (kDue), also those whose fragments have no place (abi::kStays), or all.
enum class Making { nothing, subs, few, due, movable, all };

// Which atomic fragments: in the usual order; or, while values pile up, none of a group that makes them grow
// (work/growing.hpp), or of the group of which most are ready: what they read is what piles up.
enum class Running { usual, no_growing, most_ready };

inline std::int64_t iterations_left(const Cf* range) { return abi::frame_int(range, 1) - abi::frame_int(range, 0) + 1; }

class ReadyQueue {
 public:
  // Where there is somebody to ship to: the measured weights of the groups, and how many fragments of one are
  // plenty to be shared out; the bytes of inputs are kept per group as well.
  explicit ReadyQueue(std::uint32_t groups, const GroupStats* weights = nullptr, std::int64_t plenty = 0)
      : groups_(groups), weights_(weights), plenty_(plenty) {}

  Horizons* horizons = nullptr;      // of several ranks
  const Growing* growing = nullptr;  // null: nothing makes values grow
  int others = 1;                    // so many ranks may be shipped to, of 63 at most

  // `behind`: also what is structured comes after the loops that its body has made before it.
  void push(Cf*, bool behind = false);
  // A fragment that goes on after all loops.
  void push_last(Cf*);
  // Next thing to do: `first`, so that more fragments become visible to the balancer, else what is ready, else `then`.
  // `chunk`: iterations to claim of a range.
  bool pop(Work&, Making first, Making then, std::int64_t chunk, Running = Running::usual);
  // Another loop than the first one comes first: that which has been listed longest, but for those around others, of
  // its parts the one with the lowest indices; or, if these are calls, all of them. Where something is due, once what
  // is ahead comes first, until who pops may make only what is due, once not. True: it makes few fragments.
  bool another_loop_first();
  // Loops come in the order again in which they would have stood had none been put first.
  void in_order();
  // From now on loops take turns: each is made by once, in their order, what is made meanwhile in the next round. What
  // is due still goes first, or, with even numbers, what is ahead. 0: no longer.
  void take_turns(std::uint32_t number);
  // Whether pop(.., then, .., running) would find something.
  bool has(Making then, Running = Running::usual);
  // For another worker.
  bool steal(Work&, Making then, std::int64_t chunk, Running = Running::usual);
  // Takes up to n fragments of a group for rank `to`: of atomic ones with large inputs those whose inputs
  // it lacks least and no third rank has, else in their order. Iterations are split off into new range fragments (one
  // per range). Ranges that thereby ran out are appended to `exhausted` when no chunk of them runs. With
  // `Making::subs`: nothing that is made behind loops.
  std::int64_t take(std::uint32_t group, std::int64_t n, balancer::Rank to, std::vector<Cf*>& out,
                    std::vector<Cf*>& exhausted, Making = Making::all);
  // All of them, when nothing runs any more.
  std::vector<Cf*> take_all();
  // A chunk claimed by pop has been run. True: the range is finished.
  static bool chunk_done(Cf* range);

  // Adds this queue's fragments to `ready[group]` and `bytes[group]`: those that are ready to run, and of the loops
  // those by which more may be made. But with `Making::all` nothing of loops of which most waits for what other
  // iterations make, nor of a `while` that is the only one, before it has been so for a millisecond: whoever gave it
  // away would soon have nothing, and the values of its turns belong here.
  void count(std::vector<std::int64_t>& ready, std::vector<std::int64_t>& bytes, Making);
  // It should be counted again after a while.
  bool counts_later() const { return __atomic_load_n(&alone_, __ATOMIC_RELAXED) != nullptr; }
  bool empty() {
    const std::lock_guard hold(mutex_);
    return atomics_ == 0 && structured_.head == nullptr && due_.head == nullptr && ahead_.head == nullptr;
  }
  // Atomic fragments waiting here; may be stale when read by others.
  std::int64_t atomics() const { return __atomic_load_n(&atomics_, __ATOMIC_RELAXED); }
  // Likewise: `for`s, and what has been pushed behind them.
  std::int64_t loops() const { return __atomic_load_n(&loops_, __ATOMIC_RELAXED); }
  // Anything at all; may be stale.
  bool looks_empty() const { return atomics() == 0 && __atomic_load_n(&others_, __ATOMIC_RELAXED) == 0; }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct GroupList {
    Cf* head = nullptr;
    Cf* tail = nullptr;
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    std::uint32_t newer = kNone, older = kNone;  // neighbours among non-empty groups
  };
  std::uint32_t first_group(Running) const;
  Cf* pop_atomic(Running = Running::usual);
  Cf* pop_front(std::uint32_t group);
  std::uint32_t next_group() const;
  static void put_nearest_first(GroupList&, std::int64_t n, balancer::Rank to);
  // Of two families that would have the same place in a list one is forgotten.
  static constexpr std::size_t kFamilies = 64;
  struct List {
    Cf* head = nullptr;
    // The last one pushed since the worker popped something: what comes next belongs to the same body and goes behind.
    Cf* last = nullptr;
  };
  struct Loops : List {                     // and structured ones that are to come behind them
    std::array<Cf*, kFamilies> families{};  // the last loop of each
    Cf* came = nullptr;                     // the last one from another rank
    Cf* tail = nullptr;                     // the last one of all
    Cf* turn = nullptr;                     // while they take turns: whose it is; null: the first one's
    Cf* before_turn = nullptr;              // what it stands behind
  };
  // Which loop is next, and in what list; null: none.
  struct Next {
    Cf* cf = nullptr;
    Cf* before = nullptr;
    bool due = false;
  };
  static bool makes_few(const Cf*);
  bool pop_expandable(Work&, Making, std::int64_t chunk);
  bool may_make(Making) const;
  Next next_loop(Making) const;
  Next next_of_few() const;
  Next next_ahead(Making) const;
  static Cf* most_behind(Cf* range, Cf*& before);
  static const abi::Block* another_block(const Cf* head);
  static std::size_t place_in_families(unsigned flags) { return (flags & kFamily) / (kFamily & -kFamily) % kFamilies; }
  static Cf* last_of_family(const Loops&, unsigned flags);
  static Cf** place_of(Loops&, const Cf*);
  static Cf** end_of(Loops&);
  std::int64_t take_of_loops(Loops&, std::uint32_t group, std::int64_t n, std::vector<Cf*>& out,
                             std::vector<Cf*>& exhausted, Making);
  bool stays(const Cf*, Making) const;
  void look_for_alone(Making);
  bool is_offered(const Cf* range, Making) const;
  void push_loop(Cf*);
  void push_structured(Cf*);
  void note_places();
  std::vector<Cf*> ordered(const Loops&) const;
  static void pass_turn(Loops&, const Next&);
  void append(Loops&, Cf*);
  void unlink_loop(Loops&, Cf* c, Cf* before);
  void unlink_structured(Cf* c, Cf* before);
  void add_atomics(std::int64_t n) { __atomic_store_n(&atomics_, atomics_ + n, __ATOMIC_RELAXED); }
  void add_others(std::int64_t n, bool loop) {
    __atomic_store_n(&others_, others_ + n, __ATOMIC_RELAXED);
    if (loop) __atomic_store_n(&loops_, loops_ + n, __ATOMIC_RELAXED);
  }

  SpinMutex mutex_;
  std::vector<GroupList> groups_;
  std::uint32_t newest_ = kNone;
  List structured_;
  Loops due_, ahead_;
  bool ahead_first_ = false;
  const Cf* alone_ = nullptr;      // the only `while`, when last counted,
  std::uint64_t alone_since_ = 0;  // in ticks
  // Where they would stand, while some have been put first; what a loop makes, where that stands. Else empty.
  std::unordered_map<const Cf*, std::int64_t> places_;
  bool out_of_order_ = false;
  bool places_differ_ = false;                         // each has its own
  std::int64_t place_of_latest_ = 0, last_place_ = 0;  // of the loop that was popped last; of the last one in the order
  std::uint32_t takes_turns_ = 0;
  std::int64_t atomics_ = 0;
  std::int64_t others_ = 0;
  std::int64_t loops_ = 0;
  const GroupStats* weights_;
  std::int64_t plenty_;
};

}  // namespace tessera::runtime
