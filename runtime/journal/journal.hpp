// Journal: what a rank writes down while it runs, so that a later run goes on from it (docs/recovery.md). Workers put
// what they have done on pages of their own; a thread writes them away every now and then (a sweep). Nobody waits for
// the disk: what it can't take in time is not written, which costs a later run time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/journal/format.hpp"
#include "runtime/journal/id_map.hpp"
#include "runtime/journal/known.hpp"
#include "runtime/memory/lock.hpp"
#include "runtime/threads/threads.hpp"

namespace tessera::runtime::journal {

class Journal;

// A value that may have to be written. Unless it is `certain`, only while it is in use when the next sweep comes: who
// has read it is written down with that, and nobody else will.
struct Pending {
  Id id;
  abi::Value* value = nullptr;  // owned
  bool certain = true;
};

// Page: of one worker.
class alignas(64) Page {
 public:
  explicit Page(Journal& journal) : journal_(journal) {}
  ~Page();
  // A fragment's kernel has returned. Takes the references of the values.
  void done(const Done&, std::vector<Pending>& values);
  // What the program does depends on this value: it is written.
  void keep(const Id&, abi::Value*);
  void took_back(const TakenBack&);

 private:
  friend class Journal;
  void add_rows(std::size_t more);  // lock held
  void add(Pending);                // likewise
  Journal& journal_;
  SpinMutex mutex_;
  std::vector<std::byte> rows_;
  std::vector<std::vector<std::byte>> full_;
  std::vector<Pending> pending_;
  std::uint64_t bytes_ = 0;  // of the values
  static constexpr std::size_t kRecent = 1024;
  std::vector<Id> recent_ = std::vector<Id>(kRecent);  // that were kept
};

struct Settings {
  std::filesystem::path folder;
  Header header;
  double interval = 0;  // s between sweeps; 0: by what they cost
  bool quiet = false;
};

class Journal {
 public:
  Journal(Settings, std::shared_ptr<const Known>, std::size_t workers);
  ~Journal();

  Page& page(std::size_t worker) { return *pages_[worker]; }
  const Known* known() const { return known_.get(); }
  bool on() const { return on_.load(std::memory_order_relaxed); }

  void start();
  void stop();  // with a last sweep

 private:
  friend class Page;
  void write_loop();
  void sweep();
  void write(std::vector<std::vector<std::byte>>& rows, std::vector<Pending>& values);
  bool wait();  // for the next sweep; false: it is the last one
  void hurry();

  const Settings settings_;
  const std::shared_ptr<const Known> known_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::unique_ptr<File> file_;
  std::uint32_t files_ = 0;
  Clock::duration pause_{};
  std::atomic<bool> on_{true}, stopping_{false}, hurried_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  Thread thread_;
};

}  // namespace tessera::runtime::journal
