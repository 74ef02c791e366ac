// Journal: what a rank writes down while it runs, so that a later run goes on from it (docs/recovery.md). Workers put
// what they have done on pages of their own (page.hpp); a thread writes them away every now and then (a sweep). Nobody
// waits for the disk: what it can't take in time is not written, which costs a later run time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/journal/captured.hpp"
#include "runtime/journal/format.hpp"
#include "runtime/journal/known.hpp"
#include "runtime/journal/pace.hpp"
#include "runtime/journal/page.hpp"
#include "runtime/threads/threads.hpp"

namespace tessera::runtime::journal {

struct Settings {
  std::filesystem::path folder;
  Header header;
  double interval = 0;  // s between sweeps; 0: by what they cost
  bool quiet = false;
  bool flows = false;                // Journal::flows
  std::function<Learned()> learned;  // what the rank knows by now
  std::function<SeriesPlaces()> places;
  std::function<HostLinks()> links;
  std::uint64_t stream = 0;  // of what it prints
  bool marked = false;       // `tessera` notes what it has passed on; else nobody does
};

class Journal {
 public:
  Journal(Settings, std::shared_ptr<const Known>, std::size_t workers);
  ~Journal();

  Page& page(std::size_t worker) { return *pages_[worker]; }
  const Known* known() const { return known_.get(); }
  std::int32_t placed() const { return settings_.header.placed; }
  std::uint64_t attempt() const { return settings_.header.attempt; }
  // What is recalled goes the way that it went: it is made, waits for its inputs, and gives memos where nobody needs a
  // value. So it is where the program says when names are freed: that must not come before others who read them, and
  // have to run again. Else it waits for nothing, or is not even made.
  bool flows() const { return settings_.flows; }
  bool on() const { return on_.load(std::memory_order_relaxed); }
  // Sweeps of which all is taken.
  std::uint64_t swept_so_far() const { return taken_.load(std::memory_order_relaxed); }
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
  void let_others_run() const;
  Pace::Amount amount();
  void write(const std::vector<Page::Taken>&);
  void write(const Page::Taken&);
  void capture();
  void print_again();
  void write_text();
  void write_learned();
  bool wait();  // for the next sweep; false: there is no more time
  double seconds_to_wait();
  void hurry();

  const Settings settings_;
  const std::shared_ptr<const Known> known_;
  Loops loops_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::unique_ptr<File> file_;
  std::shared_ptr<Captured> captured_;  // null: it prints to the user
  SeriesPlaces places_;                 // as they are written
  HostLinks links_;
  std::uint64_t sweeps_ = 0;
  std::atomic<std::uint64_t> taken_{0};
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
