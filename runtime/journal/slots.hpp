// Slots: the values that a worker has noted and that somebody may still read. A slot holds no reference: whoever lets
// go of the last one finds the value's slots in it, and frees these with it, in memory that is warm; or keeps it for
// the next sweep. A sweep looks through them while the gate is closed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/memory/value.hpp"

namespace tessera::runtime::journal {

using abi::Id;
class Page;

struct Slot {
  // What becomes of it, in the highest bits of `turn`.
  enum State : std::uint64_t {
    kFresh = 0,     // its value is to be written, if it is there when a sweep comes
    kWriting = 1,   // it is being written
    kStanding = 2,  // it is written; when nobody can read it any more, that is written down as well
    kUnneeded = 3,  // who assigned it has failed, or nothing is written any more
  };
  static constexpr unsigned kStates = 62;

  Id name, maker;
  std::atomic<abi::Value*> value{nullptr};  // null: there is none
  Slot* next = nullptr;                     // of those that are free; or that have the same value; or kept()
  Page* page = nullptr;                     // null: there is none any more
  std::uint64_t turn = 0;                   // of its page, in which it was assigned; 0: that has ended

  State state() const { return static_cast<State>(turn >> kStates); }
  void set(State s) { turn = std::uint64_t{s} << kStates; }  // by then it has ended
  // Its value has lost its last reference, and is kept for a sweep.
  static Slot* kept();
  bool is_kept() const { return next == kept(); }
};
static_assert(sizeof(Slot) == 64);

// A row of them, where it is found from each.
struct alignas(4096) SlotRow {
  static constexpr std::size_t kSlots = 63;
  std::atomic<std::size_t> left{0};  // when the page has gone
  alignas(64) Slot slots[kSlots];
};
static_assert(sizeof(SlotRow) == alignof(SlotRow));

class Slots {
 public:
  explicit Slots(Page& page) : page_(page) {}
  // By its worker.
  Slot* take() {
    Slot* const s = free_;
    if (s == nullptr) return nullptr;
    free_ = s->next;
    return s;
  }
  void put(Slot* s) {
    s->next = free_;
    free_ = s;
  }
  // By anybody: one of whose value somebody else has let go. `gone`: that is to be written down.
  void put_back(Slot* s, bool gone) {
    s->turn = gone ? 1 : 0;
    s->next = back_.load(std::memory_order_relaxed);
    while (!back_.compare_exchange_weak(s->next, s, std::memory_order_release, std::memory_order_relaxed)) {}
  }
  // What others have put back is free again; the names of those whose values are gone. By its worker inside the gate:
  void collect(std::vector<Id>& gone);
  // ... and with the gate closed, when its worker may be taking one.
  void look_back(std::vector<Id>& gone);
  // By its worker inside the gate.
  void more();
  // With the gate closed.
  template <class F>
  void for_each(F f) {
    for (std::size_t k = 0; k < rows_.size(); ++k) for_row(k, f);
  }
  // The same for one row of so many, which is returned: with many values workers wait for no more than a moment.
  template <class F>
  std::size_t for_some(F f) {
    const std::size_t every = 1 + rows_.size() / kSome;
    for (std::size_t k = 0; k < rows_.size(); k += every) for_row(k, f);
    return every;
  }
  // Its page goes: what is left stays where it is, and goes with its values.
  void leave();
  static void left(Slot*);  // one of these has gone

 private:
  template <class F>
  void for_row(std::size_t k, F f) {
    for (Slot& s : rows_[k]->slots) {
      if (s.value.load(std::memory_order_acquire) != nullptr) f(s);
    }
  }

  static constexpr std::size_t kSome = 1024;
  Page& page_;
  Slot* free_ = nullptr;
  std::atomic<Slot*> back_{nullptr};
  std::vector<std::unique_ptr<SlotRow>> rows_;
};

// The value, of which the caller has a reference, gets this slot.
// Others may have one, too, and it may have slots by now.
void join_others(abi::Value*, Slot*);
inline void join(abi::Value* v, Slot* s) {
  if (__atomic_load_n(&v->refs, __ATOMIC_ACQUIRE) != 1 || is_noted(v)) return join_others(v, s);
  s->next = nullptr;
  v->noted = s;
  v->pool |= abi::kNoted;
}

}  // namespace tessera::runtime::journal
