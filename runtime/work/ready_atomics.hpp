// ReadyAtomics: the atomic fragments of one worker's queue that are ready to run, in one first-in-first-out list per
// group.
//
// Of several groups the one that became non-empty last goes first: consumers run before more producers do, which keeps
// data short-lived. But where there is a balancer, what is much lighter goes before: it may be what others wait for,
// until there is something for every rank, or its inputs take much memory. Before all of these goes what somebody waits
// for (put_first).
//
// Not locked: its queue is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "balancer/types.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/work/group_stats.hpp"

namespace tessera::runtime {

class Growing;

// Which of them: in the usual order; or, while values pile up, none of a group that makes them grow (work/growing.hpp),
// or these after all others. Of the others first those that let values go, then those that stand last in the program:
// so what has come far is finished before more sets out.
enum class Running { usual, no_growing, last_first };

class ReadyAtomics {
 public:
  // As ReadyQueue.
  ReadyAtomics(std::uint32_t groups, const GroupStats* weights, std::int64_t plenty)
      : groups_(groups), weights_(weights), plenty_(plenty) {}

  const Growing* growing = nullptr;  // null: nothing makes values grow
  int others = 1;                    // so many ranks may be shipped to, of 63 at most

  void push(Cf*);
  bool has(Running running) const { return first_ != nullptr || first_group(running) != kNone; }
  Cf* pop(Running = Running::usual);  // null: there is none
  // May be stale when read by others.
  std::int64_t count() const { return __atomic_load_n(&count_, __ATOMIC_RELAXED); }
  // Of what is popped next with `Running::last_first`, if that makes values grow and is not tiny: its group and first
  // counter.
  struct Grows {
    std::uint32_t group = 0;
    std::int64_t counter = 0;
  };
  std::optional<Grows> next_that_grows() const;

  // Those for which `needed` is true are popped before all others, and stay here. Looks at the first kLookedAt of each
  // group. True: there are any.
  template <class F>
  bool put_first(F needed);
  // All may be taken: they are listed again.
  void none_first();
  // Somebody waits for what these make: of groups that make values grow they come first, while such come last.
  void need(const std::vector<std::uint32_t>& groups) { needed_ = groups; }

  // Takes up to n of a group for rank `to`: of those with large inputs the ones whose inputs it lacks least and no
  // third rank has, else in their order.
  std::int64_t take(std::uint32_t group, std::int64_t n, balancer::Rank to, std::vector<Cf*>& out);
  // The block of one of the group; null: there is none.
  const abi::Block* block_of(std::uint32_t group) const {
    return groups_[group].head == nullptr ? nullptr : groups_[group].head->block;
  }
  // Calls f(group, how many, the bytes of their inputs) for each group that has any, but for those that are put first.
  template <class F>
  void for_each_group(F f) const {
    for (std::uint32_t g = newest_; g != kNone; g = groups_[g].older) f(g, groups_[g].count, groups_[g].bytes);
  }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  static constexpr std::int64_t kLookedAt = 4096;
  struct List {
    Cf* head = nullptr;
    Cf* tail = nullptr;
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    std::uint32_t newer = kNone, older = kNone;  // neighbours among non-empty groups
  };
  void append(Cf*);
  void unlink(std::uint32_t group, Cf* c, Cf* before);
  Cf* pop_front(std::uint32_t group);
  Cf* pop_first();
  void put_first(std::uint32_t group, Cf* c, Cf* before);
  std::uint32_t first_group(Running) const;
  std::uint32_t nearest_to_end(bool growing_too) const;
  std::uint32_t next_group() const;
  static void put_nearest_first(List&, std::int64_t n, balancer::Rank to);
  void add(std::int64_t n) { __atomic_store_n(&count_, count_ + n, __ATOMIC_RELAXED); }

  std::vector<List> groups_;
  std::uint32_t newest_ = kNone;
  Cf *first_ = nullptr, *last_of_first_ = nullptr;  // put_first
  std::vector<std::uint32_t> needed_;
  std::int64_t count_ = 0;
  const GroupStats* weights_;
  std::int64_t plenty_;
};

template <class F>
bool ReadyAtomics::put_first(F needed) {
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
