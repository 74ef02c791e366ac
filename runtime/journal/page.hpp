// Page: what one worker puts down for the journal. A fragment of a few microseconds costs it a *note*, which nobody
// locks: whoever has read a value notes that before he lets go of it. So who holds the page's lock, and finds that
// nobody else holds a value, knows that the notes of all who have read it are there.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/fragment/input_names.hpp"
#include "runtime/journal/format.hpp"
#include "runtime/journal/known.hpp"
#include "runtime/journal/ranges.hpp"
#include "runtime/memory/lock.hpp"
#include "runtime/threads/clock.hpp"

namespace tessera::runtime {
class Surroundings;
}

namespace tessera::runtime::journal {

class Journal;
class Brief;
class Doing;

// A value that may have to be written: if anybody can still read it when the next sweep comes. Else whoever has read it
// is written down with that, and nobody else will.
struct Fresh {
  Id id, maker;
  abi::Value* value = nullptr;  // owned
};
inline std::uint64_t bytes_of(const Fresh& p) { return p.value->size + sizeof p; }
// One that is written. When nobody can read it any more, that is written down as well.
struct Standing {
  Id id;
  abi::Value* value = nullptr;  // owned
};

template <class T>
void release_all(std::vector<T>& list) {
  for (const T& p : list) abi::release(p.value);
  list.clear();
}

// A page with values of so many bytes is written at once; one with more takes no further ones.
inline constexpr std::uint64_t kPageFull = std::uint64_t{32} << 20, kPageMost = std::uint64_t{256} << 20;

// In a simulation, in which whoever has a page locked may be interrupted, the others wait on its time.
class PageMutex {
 public:
  void lock() {
    while (simulation != nullptr && !mutex_.try_lock())
      simulation->wait(this, Clock::now() + std::chrono::microseconds(1));
    if (simulation == nullptr) mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  SpinMutex mutex_;
};

class alignas(64) Page {
 public:
  explicit Page(Journal&);
  ~Page();
  // A loop begins to make fragments, or one that repeats begins its turns.
  void loop(const Id&);
  // A kernel's fragment begins, and its worker has let go of what the one before has read. Large values that nobody
  // else reads are freed now: so its outputs get memory that is in the processor's cache, as without a journal.
  void begins() {
    if (!large_read_.empty()) drop_read();
  }
  // It reads this, as the last of this worker, perhaps.
  void reads(const abi::Value* v) {
    if (is_large(v)) large_read_.push_back(v);
  }
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
  std::uint64_t bytes_kept();  // of values that may have to be written
  Journal& journal() const { return journal_; }
  const bool waits;  // what is recalled waits for its inputs (Journal::flows)
  Known::Near near;  // where in what is known the last fragment was

  // What its worker goes through, of which each iteration makes nothing but kernels' fragments of different groups: so
  // of those that run there and then, `depth` deep, it is known which iteration has made them. 0: nothing of that sort.
  struct Part {
    std::uint32_t number = 0;
    int depth = 0;
    std::int64_t index = 0;
  };
  Part part;
  Part begin_part(const abi::Cf* loop, int depth);  // returns what it was in

  // A fragment of which only that is noted begins, and has returned. `made_by`: the part that it is known of.
  static constexpr std::uint32_t kMostOutputs = 8;
  void begin_note(const Id& key, std::uint32_t group, std::uint32_t made_by) {
    if (noted_.load(std::memory_order_relaxed) > kNotes - kMostOutputs) [[unlikely]]
      gather_notes();
    Note* const n = out_ = &notes_[noted_.load(std::memory_order_relaxed)];
    n->key = key;
    n->group = group;
    n->part = made_by;
    n->index = part.index;
    n->value = nullptr;
  }
  void note(const Id& name, abi::Value* v) {
    Note* const n = out_++;
    n->name = name;
    n->value = v;
    // Whoever has the only reference may make another as he likes.
    if (__atomic_load_n(&v->refs, __ATOMIC_ACQUIRE) == 1) {
      __atomic_store_n(&v->refs, 2u, __ATOMIC_RELAXED);
    } else {
      abi::retain(v);
    }
  }
  void end_note() {
    const std::uint32_t at = noted_.load(std::memory_order_relaxed);
    Note* const first = &notes_[at];
    for (Note* n = first + 1; n < out_; ++n) {
      n->key = first->key;
      n->group = kNoGroup;
    }
    noted_.store(at + (out_ > first + 1 ? static_cast<std::uint32_t>(out_ - first) : 1), std::memory_order_release);
  }
  void forget_note();  // it will not return

  // The last fragment of this block that was looked at is of those that are noted, and that was not long ago. (What
  // computes the arguments of a kernel is of its group, and none of them.)
  bool notes(const abi::Block* b) const { return noted_blocks_[b->group % kBlocks] == b; }
  void now_notes(const abi::Block* b) { noted_blocks_[b->group % kBlocks] = b; }

  // The one that is noted, while it runs: nobody but the journal asks what it does; or others do, too.
  abi::Cf* alone = nullptr;
  Brief* brief = nullptr;
  std::unique_ptr<Doing> durable;  // of the former, which asks for more
  Surroundings* rank = nullptr;    // where that is

 private:
  friend class Journal;
  // All with its lock held.
  void add_rows(std::size_t more);
  void add(Fresh);
  void look_if_many();
  void add_given(const Id& key, std::size_t from);
  void keep(const Fresh& p, bool large);
  struct Pile {
    std::vector<Fresh> fresh;
    std::vector<Standing> standing;
    std::uint64_t bytes = 0, idle = 0;  // of the fresh values, and of those that nobody else holds
  };
  void look(Pile&);
  void drop_read();
  void remove_large(std::size_t at);
  bool is_large(const abi::Value* v) const { return v->size >= large_from_; }
  void look_at_all();
  enum class Values : std::uint8_t { all, alive, wanted };
  void gather(Values);
  // What a sweep takes from it.
  struct Taken {
    std::vector<Fresh> small, large;
    std::vector<std::vector<std::byte>> rows;
    std::vector<Id> gone;
    Ranges ranges;
    bool lost = false;
  };
  Taken take();
  void taken();  // all pages are: a sweep ends here
  void stand(std::vector<Fresh>& written, Pile&);
  void gather_notes();  // by its worker: there is room again

  static constexpr std::uint32_t kNotes = 256, kNoGroup = ~std::uint32_t{0}, kBlocks = 16;
  struct Note {
    Id name;
    abi::Value* value;  // owned; null: none
    Id key;
    std::uint32_t group, part;
    std::int64_t index;
    std::uint64_t unused;  // in a power of two it is found sooner
  };
  Journal& journal_;
  // Its worker writes these, and says so by `noted_`; they are overwritten with the lock held.
  std::unique_ptr<Note[]> notes_ = std::make_unique<Note[]>(kNotes);
  std::atomic<std::uint32_t> noted_{0};
  Note* out_ = nullptr;  // where the next output of the one that runs is noted: behind these
  std::uint32_t parts_ = 0;
  std::array<const abi::Block*, kBlocks> noted_blocks_{};

  PageMutex mutex_;
  std::uint32_t gathered_ = 0;  // notes
  bool spans_ = false;          // the next one may have given values before the last sweep ended
  std::vector<std::byte> rows_;
  std::vector<std::vector<std::byte>> full_;
  Ranges ranges_;
  // Some may be unneeded when there are so many, or so many bytes, in a pile. Memory of a large one that is kept for
  // longer than the program needs it is missed in the processor's cache.
  Pile small_, large_;
  std::unordered_map<const abi::Value*, std::size_t> large_at_;  // where in large_.fresh; of several names the first
  std::vector<Id> gone_;
  bool lost_ = false;  // the disk was too slow: the next sweep is not whole
  std::size_t look_at_ = kFewPending, look_at_large_ = 1;
  std::uint64_t look_bytes_ = kFewBytes;
  // Its worker's:
  struct Given {
    Output output;
    abi::Value* value;     // owned
    std::uint64_t sweeps;  // that had ended by then
  };
  // Small journals of a simulation should come this way, too.
  const std::uint64_t large_from_ = simulation == nullptr ? kLarge : kLargeSimulated;
  std::vector<const abi::Value*> large_read_;  // by the last one that began; some may be gone
  std::vector<Given> given_;
  std::vector<Output> outputs_given_;
  std::vector<Id> reads_;
  Id last_loop_;
  static constexpr std::size_t kFewPending = 1024;
  static constexpr std::uint64_t kFewBytes = std::uint64_t{256} << 10, kLarge = std::uint64_t{32} << 10;
  static constexpr std::uint64_t kLargeSimulated = 8;
};

}  // namespace tessera::runtime::journal
