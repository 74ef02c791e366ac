// Page: what one worker puts down for the journal. Of a fragment of a few microseconds it is noted only that it has
// returned, in a range, and what it has assigned, in slots. Whoever has read a value notes that before he lets go of
// it. So when the gate is closed, all who have read a value that is gone are on the pages.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/fragment/input_names.hpp"
#include "runtime/journal/format.hpp"
#include "runtime/journal/gate.hpp"
#include "runtime/journal/known.hpp"
#include "runtime/journal/pace.hpp"
#include "runtime/journal/ranges.hpp"
#include "runtime/journal/slots.hpp"

namespace tessera::runtime::journal {

class Journal;
class Doing;

// A page that has kept so many bytes of values for the next sweep has it come at once; one with more keeps no further
// ones.
inline constexpr std::uint64_t kPageFull = std::uint64_t{16} << 20, kPageMost = std::uint64_t{256} << 20;

class alignas(64) Page {
 public:
  explicit Page(Journal&);
  ~Page();
  // A loop begins to make fragments, or one that repeats begins its turns.
  void loop(const Id&);
  // A fragment assigns this, one that runs: there may be others around it.
  void give(const Output& output, abi::Value* v);
  std::size_t given() const { return given_.size(); }
  // Its kernel has returned: what was given since then is its.
  void ran(const Id& key, std::uint32_t group, std::size_t from);
  // The same, and all of it is written down: it is recalled though its sweep may not be whole.
  void done(const Id& key, const InputNames& reads, std::size_t from);
  void forget(std::size_t from);  // what was given since then, unless it is done
  void took_back(const TakenBack&);
  void write_now();
  std::uint64_t bytes_kept();  // of values that may have to be written; not by its worker
  Journal& journal() const { return journal_; }
  const bool goes_on;  // from earlier runs
  const bool waits;    // what is recalled waits for its inputs (Journal::flows)
  Known::Near near;    // where in what is known the last fragment was

  // What its worker goes through, of which each iteration makes nothing but kernels' fragments of different groups: so
  // of those that run there and then, `depth` deep, it is known which iteration has made them. 0: nothing of that sort.
  struct Part {
    std::uint32_t number = 0;
    int depth = 0;
    std::int64_t index = 0;
  };
  Part part;
  Part begin_part(const abi::Cf* loop, int depth);  // returns what it was in

  // A fragment of which only that is noted begins; it assigns; and has returned. `key` stays where it is meanwhile.
  void begin_note(const Id& key) { key_ = &key; }
  void note(const Id& name, abi::Value* v) {
    Slot* s = slots_.take();
    if (s == nullptr) [[unlikely]]
      s = more_slots();
    s->name = name;
    s->maker = *key_;
    s->turn = turn_.load(std::memory_order_relaxed);
    join(v, s);
    s->value.store(v, std::memory_order_release);
  }
  // It is the next of what its worker goes through, or of that part of it.
  void end_note(std::uint32_t group, std::uint32_t made_by) {
    const Passing here(inside_);
    ranges_.add(*key_, group, made_by, part.index);
    next_turn();
  }
  void forget_note();  // it will not return

  // A noted value has lost its last reference, by the worker with this page; or by another thread. True: it is freed.
  static bool lets_go(abi::Value* v, Page& mine) {
    Gate::enter(mine.inside_);
    auto* const s = static_cast<Slot*>(v->noted);
    // Mostly it is fresh, and its maker has ended.
    if (s->page != &mine || s->next != nullptr || s->turn >= mine.turn_.load(std::memory_order_relaxed) || is_wanted(v))
        [[unlikely]]
      return lets_go_and_leave(v, mine);
    s->value.store(nullptr, std::memory_order_relaxed);
    mine.slots_.put(s);
    Gate::leave(mine.inside_);
    return true;
  }
  [[gnu::noinline]] static bool lets_go_elsewhere(abi::Value*);

  // The last fragment of this block that was looked at is of those that are noted, and that was not long ago. (What
  // computes the arguments of a kernel is of its group, and none of them.)
  struct Like {
    const abi::Block* block = nullptr;
    Ranges::Group* group = nullptr;
  };
  const Like& last_like(const abi::Block* b) const { return notes_[b->group % kBlocks]; }
  void now_notes(const abi::Block*);
  // Such a one, `depth` deep.
  void end_note(const Like& like, int depth) {
    const Passing here(inside_);
    if (part.depth != depth || !like.group->count(part.number, part.index)) [[unlikely]]
      add_to_ranges(like.block->group, depth);
    next_turn();
  }

  // Nothing is written any more.
  bool off() const { return off_.load(std::memory_order_relaxed); }

  // One that is noted runs; and nobody but the journal asks what it does.
  bool noting = false, alone = false;
  std::unique_ptr<Doing> durable;  // of that one, which asks for more

 private:
  friend class Journal;
  // By its worker inside the gate.
  [[gnu::noinline]] void add_to_ranges(std::uint32_t group, int depth) {
    ranges_.add(*key_, group, part.depth == depth ? part.number : 0, part.index);
  }
  void add_rows(std::size_t more);
  void add_given(const Id& key, std::size_t from);
  void look();
  Slot* next_slot();
  Slot* more_slots();  // outside of it
  static bool lets_go_of_slots(abi::Value*, Page* mine);
  [[gnu::noinline]] static bool lets_go_and_leave(abi::Value*, Page& mine);
  bool keeps(const Slot&, const abi::Value*, bool wanted);
  bool has_ended(const Slot& s) const { return s.turn != turn_.load(std::memory_order_acquire); }
  void next_turn() {
    const std::uint64_t turn = turn_.load(std::memory_order_relaxed) + 1;
    turn_.store(turn, std::memory_order_release);
    if (turn % kLookEvery == 0) [[unlikely]]
      look();
  }
  // With the gate closed.
  Pace::Amount amount();  // about
  // What a sweep takes from it. The values stay where they are until they are written.
  struct Taken {
    std::vector<Slot*> slots;
    std::vector<std::vector<std::byte>> rows;
    std::vector<Id> gone;
    Ranges ranges;
    bool lost = false;
  };
  Taken take();
  void written(const Taken&);
  void stop();  // nothing is written any more

  static constexpr std::uint32_t kNoGroup = ~std::uint32_t{0}, kBlocks = 16;
  static constexpr std::uint64_t kLookEvery = 256;
  Inside inside_{0};
  std::atomic<std::uint64_t> turn_{1};  // of the fragment that is noted, or the next one
  Slots slots_{*this};
  const Id* key_ = nullptr;
  Ranges ranges_;
  std::uint32_t parts_ = 0;
  std::array<Like, kBlocks> notes_{};

  Journal& journal_;
  std::vector<std::byte> rows_;
  std::vector<std::vector<std::byte>> full_;
  std::vector<Id> gone_;
  std::atomic<std::uint64_t> kept_{0};  // bytes of values that are the next sweep's only
  std::atomic<bool> lost_{false};       // the disk was too slow: the next sweep is not whole
  std::atomic<bool> off_{false};
  // Its worker's:
  struct Given {
    Output output;
    abi::Value* value;     // owned
    std::uint64_t sweeps;  // that had ended by then
  };
  std::vector<Given> given_;
  std::vector<Output> outputs_given_;
  std::vector<Id> reads_;
  Id last_loop_;
};

}  // namespace tessera::runtime::journal
