// ReadyQueue: one worker's ready fragments. The worker pops from it, its siblings and the balancer
// take from it; each operation holds the queue's own lock for a few nanoseconds.
//
// Atomic fragments wait in one list per group (work/ready_atomics.hpp), so the balancer takes n of a group in O(n) and
// the worker runs a loop's fragments in the order of the loop. Structured fragments (subs, ifs, whiles) come next,
// ranges (`for`) last, in an order of their own (work/loops.hpp): depth first, so what the newest body made goes before
// what was there, in the order of that body. Ranges are claimed in chunks, so a loop of any length is one record; they
// stay listed while iterations remain. One that makes more than atomic fragments gives out one iteration at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "balancer/types.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/memory/biased.hpp"
#include "runtime/work/group_stats.hpp"
#include "runtime/work/loops.hpp"
#include "runtime/work/makers.hpp"
#include "runtime/work/ready_atomics.hpp"

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
  class ReadyQueue* tried = nullptr;  // while values pile up: of whom; is what it makes there to be run (has_made)?
};

class ReadyQueue {
 public:
  // Where there is somebody to ship to: the measured weights of the groups, and how many fragments of one are
  // plenty to be shared out; the bytes of inputs are kept per group as well.
  explicit ReadyQueue(std::uint32_t groups, const GroupStats* weights = nullptr, std::int64_t plenty = 0)
      : atomics_(groups, weights, plenty), makers_(groups), listed_(groups), weights_(weights) {}

  Horizons* horizons = nullptr;  // of several ranks
  // As ReadyAtomics has them.
  void set_growing(const Growing& g) { atomics_.growing = &g; }
  void set_others(int n) { atomics_.others = n; }

  // `behind`: also what is structured comes after the loops that its body has made before it.
  void push(Cf*, bool behind = false);
  // A fragment that goes on after all loops.
  void push_last(Cf*);
  // Next thing to do: `first`, so that more fragments become visible to the balancer, else what is ready, else `then`.
  // `chunk`: iterations to claim of a range.
  bool pop(Work&, Making first, Making then, std::int64_t chunk, Running = Running::usual);
  // While values pile up: the next loop, `while` or call whose fragments do not make them grow, but for those that are
  // in vain; what one has made last waits, or may run (Makers).
  bool pop_maker(Work&, Making, std::int64_t chunk, bool here);
  void has_made(const abi::Block& block, bool waits) {
    const std::lock_guard hold(mutex_);
    makers_.has_made(block, waits);
  }
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
  // As ReadyAtomics.
  using Grows = ReadyAtomics::Grows;
  std::optional<Grows> next_that_grows() {
    const std::lock_guard hold(mutex_);
    return atomics_.next_that_grows();
  }
  template <class F>
  bool put_first(F needed) {
    const std::lock_guard hold(mutex_);
    return atomics_.put_first(needed);
  }
  // For another worker.
  bool steal(Work&, Making then, std::int64_t chunk, Running = Running::usual);
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
    return atomics_.count() == 0 && structured_.head == nullptr && loops_.empty();
  }
  // Atomic fragments waiting here; may be stale when read by others.
  std::int64_t atomics() const { return atomics_.count(); }
  // Likewise: `for`s, and what has been pushed behind them.
  std::int64_t loops() const { return __atomic_load_n(&listed_loops_, __ATOMIC_RELAXED); }
  // Anything at all; may be stale.
  bool looks_empty() const { return atomics() == 0 && __atomic_load_n(&others_, __ATOMIC_RELAXED) == 0; }

 private:
  // Of one group: structured ones, and what has been pushed behind loops; those that may have to stay (stays), and
  // others.
  struct Listed {
    struct Count {
      std::int64_t structured = 0, behind = 0;
    };
    Count may_stay, others;
    const abi::Block* staying = nullptr;  // the block of one of the first
  };
  bool pop_expandable(Work&, Making, std::int64_t chunk, bool here, Running);
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
  void add_others(std::int64_t n, bool loop) {
    __atomic_store_n(&others_, others_ + n, __ATOMIC_RELAXED);
    if (loop) __atomic_store_n(&listed_loops_, listed_loops_ + n, __ATOMIC_RELAXED);
  }

  BiasedMutex mutex_;
  ReadyAtomics atomics_;
  Makers makers_;
  std::vector<Listed> listed_;  // by group
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
  std::int64_t others_ = 0;
  std::int64_t listed_loops_ = 0;
  const GroupStats* weights_;
};

}  // namespace tessera::runtime
