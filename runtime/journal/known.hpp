// Known: what the journal of earlier runs says of a program, as the run that goes on from it uses it.
//
// A fragment is *recalled* when it is in a whole sweep; or when its record says what it read and assigned, and each of
// its outputs is either there as a value, or is read by nobody but recalled fragments with such records. Its kernel is
// not called, and it waits for nothing. Who has assigned what somebody may still need *gives* it: that value is read
// from the journal. The others are *skipped*: they are not even made, where that can be seen in time.
//
// Whatever frames are missing, each input of a kernel that is called, and of whatever decides what the program does, is
// a value: either a fragment gives it, or the one that assigns it is not recalled.
// - Its maker is in a whole sweep: then the value is in that sweep (it was alive, or had left the rank, or decides), or
//   all who read it are in there as well.
// - Its maker is recalled for itself: then it is there, or somebody has counted that all who read it are recalled.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/journal/format.hpp"
#include "runtime/journal/ids.hpp"
#include "runtime/journal/printed.hpp"
#include "runtime/journal/skips.hpp"

namespace tessera::runtime::journal {

enum class Recall : std::uint8_t { no, skipped, gives };

class Known {
 public:
  // Of the files written by attempts before this one that are of a program translated to `blocks`. Of others' sweeps
  // and uses nothing is relied on.
  Known(const std::filesystem::path& folder, std::uint64_t attempt, std::uint64_t blocks);

  ~Known();
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;

  // One for each worker: fragments come in about the order in which they were written down.
  struct Near {
    std::uint32_t number = 0;
    Skips::Near skips;
  };
  Recall recall(const Id& key, std::uint32_t group, Near& near) const {
    if (!skips_.empty() && skips_.has(key, group, near.skips)) return Recall::skipped;
    const std::uint32_t number = done_.find(key, near.number);
    if (number == Ids::kNone) return Recall::no;
    near.number = number;
    return recalls_[number];
  }
  const Skips& skips() const { return skips_; }
  // An output of a recalled fragment; null: nobody needs it. Throws std::runtime_error when it can't be read any more.
  abi::Value* output(const Id& name) const;

  // For compaction: the value is needed; the fragment is recalled for a whole sweep.
  bool needs(const Id& name) const { return values_.find(name) != Ids::kNone; }
  bool in_sweep(const Id& key) const;
  template <class F>
  void for_each_in_sweep(F f) const {
    for (std::uint32_t k = 0; k < in_sweep_.size(); ++k) {
      if (in_sweep_[k]) f(done_[k]);
    }
  }

  // What was found.
  std::uint64_t fragments = 0, recalled = 0, damaged = 0;  // damaged: bytes
  std::uint64_t values = 0, bytes = 0;                     // that recalled fragments give
  std::int32_t ranks = 0;                                  // of the last run
  std::int32_t placed = 0;                                 // what `ranks` says in the program; 0: there was no run
  std::int64_t began = 0, written = 0;                     // when that was: seconds since 1970
  PrintedText printed;                                     // by the runs before
  Learned learned;                                         // of groups, by all ranks of all runs together
  std::map<std::pair<std::int32_t, std::int32_t>, SeriesPlaces> places;  // by how many ranks there were, and rank
  std::map<std::pair<std::string, std::string>, HostLink> links;         // by hosts
  std::uint64_t digest = 0;       // of what is recalled: all ranks must see the same
  std::uint64_t read_digest = 0;  // of all that could be read

 private:
  struct Place {
    std::uint32_t file = 0;
    abi::Type type = abi::Type::none;
    std::uint64_t at = 0, bytes = 0;
    std::uint64_t small = 0;  // the value, if it is a number
  };
  struct Open {
    std::filesystem::path path;
    int file = -1;
  };
  friend class Loading;
  std::string read(const Place&, void* to) const;  // why it can't, or nothing
  std::vector<Open> files_;
  Skips skips_;
  Ids done_;                     // the fragments that have a record of their own, or give something ...
  std::vector<Recall> recalls_;  // ... and what becomes of them
  std::vector<bool> in_sweep_;
  Ids values_;                 // that are needed
  std::vector<Place> places_;  // of these
};

}  // namespace tessera::runtime::journal
