// Journal: what a rank writes down while it runs, so that a later run goes on from it (docs/recovery.md). Workers put
// what they have done on pages of their own; a thread writes them away every now and then (a sweep). Nobody waits for
// the disk: what it can't take in time is not written, which costs a later run time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/fragment/input_names.hpp"
#include "runtime/journal/captured.hpp"
#include "runtime/journal/format.hpp"
#include "runtime/journal/known.hpp"
#include "runtime/journal/pace.hpp"
#include "runtime/memory/lock.hpp"
#include "runtime/threads/threads.hpp"

namespace tessera::runtime::journal {

class Journal;

// A value that may have to be written: if anybody can still read it when the next sweep comes. Else whoever has read it
// is written down with that, and nobody else will.
struct Fresh {
  Id id, maker;
  abi::Value* value = nullptr;  // owned
};
// One that is written. When nobody can read it any more, that is written down as well.
struct Standing {
  Id id;
  abi::Value* value = nullptr;  // owned
};

// Page: of one worker.
class alignas(64) Page {
 public:
  explicit Page(Journal&);
  ~Page();
  // A loop begins to make fragments, or one that repeats begins its turns.
  void loop(const Id&);
  // A fragment assigns this, one that runs: there may be others around it.
  void give(const Output& output, abi::Value* v) { given_.push_back({output, abi::retain(v)}); }
  std::size_t given() const { return given_.size(); }
  // Its kernel has returned: what was given since then is its.
  void ran(const Id& key, std::uint32_t group, std::size_t from);
  // The same, and all of it is written down: it is recalled though its sweep may not be whole.
  void done(const Id& key, const InputNames& reads, std::size_t from);
  void forget(std::size_t from);  // what was given since then, unless it is done
  void took_back(const TakenBack&);
  void write_now();
  Journal& journal() const { return journal_; }
  Known::Near near;  // where in what is known the last fragment was

 private:
  friend class Journal;
  // All with its lock held.
  void add_rows(std::size_t more);
  void add(Fresh);
  void add_given(const Id& key, std::size_t from);
  struct Pile {
    std::vector<Fresh> fresh;
    std::vector<Standing> standing;
    std::uint64_t bytes = 0, idle = 0;  // of the fresh values, and of those that nobody else holds
  };
  void look(Pile&);
  void look_at_all();
  void gather_ran();
  // What a sweep takes from it.
  struct Taken {
    std::vector<Fresh> small, large;
    std::vector<std::vector<std::byte>> rows;
    std::vector<Id> gone;
    Ranges ranges;
    bool lost = false;
  };
  Taken take();
  void stand(std::vector<Fresh>& written, Pile&);

  Journal& journal_;
  SpinMutex mutex_;
  std::vector<std::byte> rows_;
  std::vector<std::vector<std::byte>> full_;
  struct Ran {
    Id key;
    std::uint32_t group;
  };
  std::vector<Ran> ran_;  // not in ranges_ yet
  Ranges ranges_;
  // Some may be unneeded when there are so many, or so many bytes, in a pile. Memory of a large one that is kept for
  // longer than the program needs it is missed in the processor's cache.
  Pile small_, large_;
  std::vector<Id> gone_;
  bool lost_ = false;  // the disk was too slow: the next sweep is not whole
  std::size_t look_at_ = kFewPending, look_at_large_ = 1;
  std::uint64_t look_bytes_ = kFewBytes;
  // Its worker's:
  struct Given {
    Output output;
    abi::Value* value;  // owned
  };
  std::vector<Given> given_;
  std::vector<Output> outputs_;
  std::vector<Id> reads_;
  Id last_loop_;
  static constexpr std::size_t kFewPending = 1024, kMostRan = 1024;
  static constexpr std::uint64_t kFewBytes = std::uint64_t{256} << 10, kLarge = std::uint64_t{32} << 10;
};

struct Settings {
  std::filesystem::path folder;
  Header header;
  double interval = 0;  // s between sweeps; 0: by what they cost
  bool quiet = false;
  bool flows = false;                // Journal::flows
  std::function<Learned()> learned;  // what the rank knows by now
  std::uint64_t stream = 0;          // of what it prints
  bool marked = false;               // `tessera` notes what it has passed on; else nobody does
};

class Journal {
 public:
  Journal(Settings, std::shared_ptr<const Known>, std::size_t workers);
  ~Journal();

  Page& page(std::size_t worker) { return *pages_[worker]; }
  const Known* known() const { return known_.get(); }
  std::int32_t placed() const { return settings_.header.placed; }
  // What is recalled goes the way that it went: it is made, waits for its inputs, and gives memos where nobody needs a
  // value. So it is where the program says when names are freed: that must not come before others who read them, and
  // have to run again. Else it waits for nothing, or is not even made.
  bool flows() const { return settings_.flows; }
  bool on() const { return on_.load(std::memory_order_relaxed); }
  // In a simulation: what was printed by now was by this rank.
  void printed_by_now() {
    if (captured_ != nullptr) captured_->printed_by_now();
  }

  void start();
  void stop(bool last_sweep);
  // Returns when all that is on the pages by now is on the disk, or will never be.
  void write_now();
  // The process is about to end: what those of all its ranks have is written.
  static void write_all();

 private:
  friend class Page;
  void write_loop();
  Pace::Amount sweep();  // how much it was
  Pace::Amount amount();
  void write(std::vector<Page::Taken>&);
  void write(const Page::Taken&);
  void capture();
  void print_again();
  void write_text();
  bool wait();  // for the next sweep; false: there is no more time
  double seconds_to_wait();
  void hurry();

  const Settings settings_;
  const std::shared_ptr<const Known> known_;
  Loops loops_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::unique_ptr<File> file_;
  std::shared_ptr<Captured> captured_;  // null: it prints to the user
  std::uint64_t sweeps_ = 0;
  std::uint32_t files_ = 0;
  Pace pace_;
  Clock::time_point began_{}, swept_{};
  std::atomic<bool> on_{true}, stopping_{false}, hurried_{false}, last_sweep_{true};
  std::mutex mutex_;
  std::condition_variable changed_, wrote_;
  std::uint64_t asked_ = 0, answered_ = 0;  // by write_now
  std::mutex ending_;                       // whoever stops it
  Thread thread_;
};

}  // namespace tessera::runtime::journal
