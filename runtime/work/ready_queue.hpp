// ReadyQueue: one worker's ready fragments. The worker pops from it, its siblings and the balancer
// take from it; each operation holds the queue's own lock for a few nanoseconds.
//
// Atomic fragments wait in one first-in-first-out list per group, so the balancer takes n of a group
// in O(n) and the worker runs a loop's fragments in the order of the loop. Of several groups the
// one that became non-empty last goes first: consumers run before more producers do, which keeps
// data short-lived. But where there is a balancer, what is much lighter goes before: it may be what
// others wait for, until there is something for every rank, or its inputs take much memory.
// Structured fragments (subs, ifs, whiles) come next, ranges (`for`) last, in an order of their own (work/loops.hpp):
// depth first, so what the newest body made goes before what was there, in the order of that body. Ranges are claimed
// in chunks, so a loop of any length is one record; they stay listed while iterations remain. One that makes more than
// atomic fragments gives out one iteration at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "balancer/types.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/memory/biased.hpp"
#include "runtime/work/group_stats.hpp"
#include "runtime/work/loops.hpp"

namespace tessera::runtime {

struct HeldHull;
class Growing;
class Horizons;

// What a worker got to do: a fragment, or iterations first..last of a range.
struct Work {
  Cf* cf = nullptr;
  std::int64_t first = 0;
  std::int64_t last = -1;
  bool stolen = false;                // from another worker's queue
  HeldHull* hold = nullptr;           // iterations: what they may still read of swept names
  class ReadyQueue* tried = nullptr;  // while values pile up: of whom; is what it makes there to be run (in_vain)?
};

// Which atomic fragments: in the usual order; or, while values pile up, none of a group that makes them grow
// (work/growing.hpp), or these after all others. Of the others first those that let values go, then those that stand
// last in the program: so what has come far is finished before more sets out.
enum class Running { usual, no_growing, last_first };

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
  // While values pile up: the next loop, `while` or call whose fragments do not make them grow (Growing::makes), but
  // for those that are in vain.
  bool pop_maker(Work&, Making, std::int64_t chunk, bool here);
  // What those of the group have made last only waits: it is for what makes values grow to go on.
  void in_vain(std::uint32_t group);
  // As Loops has them.
  bool another_loop_first();
  // Are loops made by the one that comes next?
  bool is_around_others_next();
  // One by which some of these groups may be made.
  void loop_first_of(const std::vector<std::uint32_t>& groups);
  void in_order();
  void take_turns(std::uint32_t number);
  // Whether pop(.., then, .., running) would find something.
  bool has(Making then, Running = Running::usual);
  // Of what is popped next with `Running::last_first`, if that makes values grow and is not tiny: its group and first
  // counter.
  struct Grows {
    std::uint32_t group = 0;
    std::int64_t counter = 0;
  };
  std::optional<Grows> next_that_grows();
  // For another worker.
  bool steal(Work&, Making then, std::int64_t chunk, Running = Running::usual);
  // Those for which `needed` is true are popped before all others, and stay here. Looks at the first kLookedAt of each
  // group. True: there are any.
  template <class F>
  bool put_first(F needed);
  // Takes up to n fragments of a group for rank `to`: of atomic ones with large inputs those whose inputs
  // it lacks least and no third rank has, else in their order. Iterations are split off into new range fragments (one
  // per range). Ranges that thereby ran out are appended to `exhausted` when no chunk of them runs. With
  // `Making::subs`: nothing that is made behind loops.
  std::int64_t take(std::uint32_t group, std::int64_t n, balancer::Rank to, std::vector<Cf*>& out,
                    std::vector<Cf*>& exhausted, Making = Making::all);
  // All of them go to another queue, the loops before what that has.
  void hand_over(ReadyQueue& to);
  // All of them, when nothing runs any more.
  std::vector<Cf*> take_all();
  // A chunk claimed by pop has been run. True: the range is finished.
  static bool chunk_done(Cf* range);

  // Adds this queue's fragments to `ready[group]` and `bytes[group]`: those that are ready to run, and of the loops
  // those by which more may be made. But, unless it is `Making::all`, nothing of loops of which most waits for what
  // other iterations make, nor of a `while` that is the only one, before it has been so for a millisecond: whoever gave
  // it away would soon have nothing, and the values of its turns belong here.
  void count(std::vector<std::int64_t>& ready, std::vector<std::int64_t>& bytes, Making);
  // It should be counted again after a while.
  bool counts_later() const { return __atomic_load_n(&only_while_, __ATOMIC_RELAXED) != nullptr; }
  bool empty() {
    const std::lock_guard hold(mutex_);
    return atomics_ == 0 && structured_.head == nullptr && loops_.empty();
  }
  // Atomic fragments waiting here; may be stale when read by others.
  std::int64_t atomics() const { return __atomic_load_n(&atomics_, __ATOMIC_RELAXED); }
  // Likewise: `for`s, and what has been pushed behind them.
  std::int64_t loops() const { return __atomic_load_n(&listed_loops_, __ATOMIC_RELAXED); }
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
    // Structured ones, and what has been pushed behind loops: those that may have to stay (stays), and others.
    struct Listed {
      std::int64_t structured = 0, behind = 0;
    };
    Listed may_stay, others;
    std::uint64_t vain = 0;               // in this round
    const abi::Block* staying = nullptr;  // the block of one of the first
  };
  static constexpr std::int64_t kLookedAt = 4096;
  std::uint32_t first_group(Running) const;
  std::uint32_t nearest_to_end(bool growing_too) const;
  void unlink(std::uint32_t group, Cf* c, Cf* before);
  Cf* pop_first();
  void none_first();
  void append(Cf*);
  void put_first(std::uint32_t group, Cf* c, Cf* before);
  Cf* pop_atomic(Running = Running::usual);
  Cf* pop_front(std::uint32_t group);
  std::uint32_t next_group() const;
  static void put_nearest_first(GroupList&, std::int64_t n, balancer::Rank to);
  bool pop_expandable(Work&, Making, std::int64_t chunk, bool here, Running);
  Loops::Place next_maker(Making, bool growing_too);
  bool claim(Work&, const Loops::Place&, std::int64_t chunk);
  bool may_make(Making) const;
  std::int64_t most_of_loop(const abi::Block& range) const;
  std::int64_t take_of_loop(const Loops::Place&, std::int64_t n, std::vector<Cf*>& out, std::vector<Cf*>& exhausted,
                            Making);
  bool stays(const abi::Block&, Making) const;
  bool is_only_while(const Cf*) const;
  void note_listed(const Cf*, std::int64_t by, bool behind);
  void look_for_only_while(Making);
  bool is_offered(const Cf* range, Making) const;
  void push_loop(Cf*);
  void push_structured(Cf*);
  void remove_loop(const Loops::Place&);
  void unlink_structured(Cf* c, Cf* before);
  void add_atomics(std::int64_t n) { __atomic_store_n(&atomics_, atomics_ + n, __ATOMIC_RELAXED); }
  void add_others(std::int64_t n, bool loop) {
    __atomic_store_n(&others_, others_ + n, __ATOMIC_RELAXED);
    if (loop) __atomic_store_n(&listed_loops_, listed_loops_ + n, __ATOMIC_RELAXED);
  }

  BiasedMutex mutex_;
  std::vector<GroupList> groups_;
  std::uint32_t newest_ = kNone;
  // A round ends when a loop is made by that may make values grow, or so many fragments are popped that may.
  static constexpr int kInRound = 16;
  std::uint64_t round_ = 1;
  int grown_ = 0;
  Cf *first_ = nullptr, *last_of_first_ = nullptr;  // put_first
  struct {
    Cf* head = nullptr;
    // The last one pushed since the worker popped something: what comes next belongs to the same body and goes behind.
    Cf* last = nullptr;
  } structured_;
  Loops loops_;
  std::int64_t whiles_ = 0;         // listed,
  std::uintptr_t any_while_ = 0;    // and their addresses, combined: of one its own
  const Cf* only_while_ = nullptr;  // the only `while`, when last counted,
  std::uint64_t only_since_ = 0;    // in ticks
  std::int64_t atomics_ = 0;
  std::int64_t others_ = 0;
  std::int64_t listed_loops_ = 0;
  const GroupStats* weights_;
  std::int64_t plenty_;
};

template <class F>
bool ReadyQueue::put_first(F needed) {
  const std::lock_guard hold(mutex_);
  for (std::uint32_t g = newest_, older = kNone; g != kNone; g = older) {
    older = groups_[g].older;
    std::int64_t seen = 0;
    Cf* before = nullptr;
    for (Cf *c = groups_[g].head, *next = nullptr; c != nullptr && ++seen <= kLookedAt; c = next) {
      next = c->next;
      needed(c) ? put_first(g, c, before) : void(before = c);
    }
  }
  return first_ != nullptr;
}

}  // namespace tessera::runtime
