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
#include "runtime/journal/format.hpp"
#include "runtime/journal/known.hpp"
#include "runtime/journal/pace.hpp"
#include "runtime/memory/lock.hpp"
#include "runtime/threads/threads.hpp"

namespace tessera::runtime::journal {

class Journal;

// A value that may have to be written: if it is in use when the next sweep comes. Else whoever has read it is written
// down with that, and nobody else will; where it is not known before how many will, it has to be known now.
struct Pending {
  Id id;
  abi::Value* value = nullptr;                              // owned
  enum class Uses : std::uint8_t { known, counted, kept };  // kept: it is written whatever happens
  Uses uses = Uses::kept;
};

// Page: of one worker.
class alignas(64) Page {
 public:
  explicit Page(Journal& journal) : journal_(journal) {}
  ~Page();
  // A fragment assigns this, one that runs: there may be others around it.
  void give(const Output&, abi::Value*);
  std::size_t given() const { return outputs_.size(); }
  // Its kernel has returned: what was given since then is its.
  void done(const Id& key, const InputNames& reads, std::size_t from);
  void forget(std::size_t from);  // what was given since then, unless it is done
  // What the program does depends on this value: it is written.
  void keep(const Id&, abi::Value*);
  void took_back(const TakenBack&);
  void write_now();
  std::uint32_t near = 0;  // where in what is known the last fragment was (Known::recalls)

 private:
  friend class Journal;
  void add_rows(std::size_t more);  // lock held
  void add(Pending);                // likewise
  struct Pile {
    std::vector<Pending> all;
    std::uint64_t bytes = 0, idle = 0;  // of the values, and of those that nobody else holds
  };
  void look(Pile&);  // likewise
  Journal& journal_;
  SpinMutex mutex_;
  std::vector<std::byte> rows_;
  std::vector<std::vector<std::byte>> full_;
  // Some may be unneeded when there are so many, or so many bytes, in a pile. Memory of a large one that is kept for
  // longer than the program needs it is missed in the processor's cache.
  Pile small_, large_;
  std::size_t look_at_ = kFewPending, look_at_large_ = 1;
  std::uint64_t look_bytes_ = kFewBytes;
  // Its worker's:
  std::vector<Output> outputs_;
  std::vector<abi::Value*> values_;  // of these; owned
  std::vector<Id> reads_;
  static constexpr std::size_t kRecent = 1024, kFewPending = 1024;
  static constexpr std::uint64_t kFewBytes = std::uint64_t{256} << 10, kLarge = std::uint64_t{32} << 10;
  std::vector<Id> recent_ = std::vector<Id>(kRecent);  // that were kept
};

struct Settings {
  std::filesystem::path folder;
  Header header;
  double interval = 0;  // s between sweeps; 0: by what they cost
  bool quiet = false;
  std::function<Learned()> learned;  // what the rank knows by now
};

class Journal {
 public:
  Journal(Settings, std::shared_ptr<const Known>, std::size_t workers);
  ~Journal();

  Page& page(std::size_t worker) { return *pages_[worker]; }
  const Known* known() const { return known_.get(); }
  std::int32_t placed() const { return settings_.header.placed; }
  bool on() const { return on_.load(std::memory_order_relaxed); }

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
  void write(std::vector<std::vector<std::byte>>& rows, std::vector<Pending>& values);
  bool wait();  // for the next sweep; false: there is no more time
  double seconds_to_wait();
  void hurry();

  const Settings settings_;
  const std::shared_ptr<const Known> known_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::unique_ptr<File> file_;
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
