// Loops: the loops (`for`s) of one worker's queue, and what is structured and is to come behind them, in the order in
// which more is made by them. They stand in two lists; what is due (kDue) goes before the others, which are ahead of
// it.
//
// Depth first: what the newest body has made goes before what was there, in the order of that body. But the loops of a
// `while`'s turn go behind those of its earlier turns, whatever of the turn has made them, and so do those of a sub
// that calls itself: what is made beside the way from turn to turn would have its turn when the `while` has ended.
//
// When nothing can run another one may be put first, or all may take turns: what is missing may be made by any. Then
// it is remembered where each would stand, so that they can be put in the program's order again.
//
// Not locked: its queue is. Explored in all orders by tests/runtime/loops_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "runtime/fragment/cf.hpp"

namespace tessera::runtime {

// What a worker may make fragments by: nothing, subs, also loops of which few iterations are left, or instead of those
// loops that are due (kDue), also those whose fragments have no place (abi::kStays), or all.
enum class Making { nothing, subs, few, due, movable, all };

inline std::int64_t iterations_left(const Cf* range) { return abi::frame_int(range, 1) - abi::frame_int(range, 0) + 1; }

class Loops {
 public:
  Loops() = default;
  Loops(const Loops&) = delete;
  // Where one stands, until another is listed or removed. Without one: none is to be made by.
  struct Place {
    Cf* cf = nullptr;
    Cf* before = nullptr;
    bool due = false;
  };

  bool empty() const { return due_.head == nullptr && ahead_.head == nullptr; }
  void push(Cf*);
  // Behind all others.
  void push_last(Cf*);
  // Before all others of its list.
  void push_first(Cf*);
  void remove(const Place&);
  // Calls f for each, which may remove that one; until f says false.
  template <class F>
  void for_each(F f);
  template <class F>
  void for_each(F f) const;

  // The worker of the queue begins another body, and may make fragments by what is `making`.
  void begin_body(Making making);
  // Which one is next.
  Place next(Making) const;
  // More is made by the next one, or one that it waits for. If `here`, the worker of the queue runs the body: what that
  // makes comes before what is left of the loop, wherever it stands.
  Place make_by_next(Making, bool here);
  Place make_by(Place, bool here);

  // Another loop than the first one comes first: that which has been listed longest, but for those around others, of
  // its parts the one with the lowest indices; or, if these are calls, all of them. Where something is due, once what
  // is ahead comes first, until who pops may make only what is due, once not. True: it makes few fragments.
  bool another_first();
  // That one of which f(block) is true; null: there is none.
  template <class F>
  const abi::Block* first_of(F f);
  // They come in the order again in which they would have stood had none been put first.
  void in_order();
  bool are_out_of_order() const { return __atomic_load_n(&out_of_order_, __ATOMIC_RELAXED); }  // may be stale
  // From now on they take turns: each is made by once, in their order, what is made meanwhile in the next round. What
  // is due still goes first, or, with even numbers, what is ahead. 0: no longer.
  void take_turns(std::uint32_t number);
  std::uint32_t turns() const { return __atomic_load_n(&turns_, __ATOMIC_RELAXED); }  // may be stale

  // For tests: what it remembers of places is so.
  bool is_sound() const;

 private:
  // Of two families that would have the same place in a list one is forgotten.
  static constexpr std::size_t kFamilies = 64;
  struct List {
    Cf* head = nullptr;
    Cf* tail = nullptr;
    Cf* last = nullptr;                     // the last one that the body has made, or what that would stand behind
    Cf* came = nullptr;                     // the last one from another rank
    Cf* turn = nullptr;                     // while they take turns: whose it is; null: the first one's
    Cf* before_turn = nullptr;              // what it stands behind
    std::array<Cf*, kFamilies> families{};  // the last loop of each
  };
  static void append(List&, Cf*);
  List& list_of(const Place& p) { return p.due ? due_ : ahead_; }
  Place next_of_few() const;
  Place next_ahead(Making) const;
  static Place most_behind(const Place&);
  static const abi::Block* another_block(const Cf* head);
  void put_first(List&, const abi::Block*);
  static std::size_t place_in_families(unsigned flags) { return (flags & kFamily) / (kFamily & -kFamily) % kFamilies; }
  static Cf* last_of_family(const List&, unsigned flags);
  static Cf** place_of(List&, const Cf*);
  static bool is_sound(const List&);
  // What a loop makes stands before what is left of it.
  struct Placed {
    Cf* cf;
    bool due;  // in that list
  };
  using Order = std::list<Placed>;
  void note_order();
  void note_place(Cf*, bool due, Order::iterator before);
  void forget_place(const Cf*);

  List due_, ahead_;
  std::size_t listed_ = 0;
  std::size_t asked_ = 0;  // another first, and was none, for many are listed
  bool ahead_first_ = false;
  std::uint32_t turns_ = 0;
  // While some have been put first: as all would stand, where each is there, and before whom stands what is made next.
  Order order_;
  std::unordered_map<const Cf*, Order::iterator> places_;
  Order::iterator made_before_ = order_.end();
  bool out_of_order_ = false;
};

template <class F>
const abi::Block* Loops::first_of(F f) {
  for (List* list : {&due_, &ahead_}) {
    for (Cf* c = list->head; c != nullptr; c = c->next) {
      if (!f(*c->block)) continue;
      ahead_first_ = list == &ahead_ && due_.head != nullptr;
      const abi::Block* const block = c->block;
      put_first(*list, block);
      return block;
    }
  }
  return nullptr;
}

template <class F>
void Loops::for_each(F f) {
  for (List* list : {&due_, &ahead_}) {
    for (Cf *before = nullptr, *c = list->head; c != nullptr;) {
      Cf* const next = c->next;
      if (!f(Place{c, before, list == &due_})) return;
      if ((before == nullptr ? list->head : before->next) == c) before = c;
      c = next;
    }
  }
}

template <class F>
void Loops::for_each(F f) const {
  for (const List* list : {&due_, &ahead_}) {
    for (const Cf* c = list->head; c != nullptr; c = c->next) {
      if (!f(c)) return;
    }
  }
}

}  // namespace tessera::runtime
