// Known: what the journal of earlier runs says of a program, as the run that goes on from it uses it.
//
// A fragment is *recalled* when its record is there and each of its outputs is either there as a value, or is read by
// nobody but fragments that are recalled. Its kernel is not called then. An output that nobody needs becomes a memo: it
// goes the way the value went, so that all else (order, counted uses, deletes, scopes) is as in any other run.
// Whatever records are missing, each input of a kernel that is called, and of whatever decides what the program does,
// is a value: either it is there, or the fragment that assigns it is not recalled.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/journal/format.hpp"
#include "runtime/journal/ids.hpp"

namespace tessera::runtime::journal {

class Known {
 public:
  // Of the files written by attempts before this one that are of a program translated to `blocks`. Others' uses are not
  // relied on.
  Known(const std::filesystem::path& folder, std::uint64_t attempt, std::uint64_t blocks);

  ~Known();
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;

  // `near` is one for each worker: fragments come in about the order in which they were written down.
  bool recalls(const Id& key, std::uint32_t& near) const {
    const std::uint32_t number = done_.find(key, near);
    if (number == Ids::kNone) return false;
    near = number;
    return recalled_[number];
  }
  // The value is there, needed or not.
  bool has(const Id& name) const { return values_.find(name) != Ids::kNone; }
  // The value is there, and nobody will need it.
  bool spare(const Id& name) const {
    const std::uint32_t number = values_.find(name);
    return number != Ids::kNone && places_[number].spare;
  }
  // An output of a recalled fragment. Throws std::runtime_error when it can't be read any more.
  abi::Value* output(const Id& name) const;

  // What was found.
  std::uint64_t fragments = 0, recalled = 0, damaged = 0;  // damaged: bytes
  std::uint64_t values = 0, bytes = 0;                     // that recalled fragments give
  std::int32_t ranks = 0;                                  // of the last run
  std::int32_t placed = 0;                                 // what `ranks` says in the program; 0: there was no run
  std::int64_t began = 0, written = 0;                     // when that was: seconds since 1970
  Learned learned;                                         // of groups, by all ranks of all runs together
  std::uint64_t digest = 0;                                // of what is recalled: all ranks must see the same

 private:
  struct Place {
    std::uint32_t file = 0;
    abi::Type type = abi::Type::none;
    bool needed = false, spare = false;
    std::uint64_t at = 0, bytes = 0;
  };
  struct Open {
    std::filesystem::path path;
    int file = -1;
  };
  friend class Loading;
  std::string read(const Place&, void* to) const;  // why it can't, or nothing
  std::vector<Open> files_;
  Ids done_;                    // the fragments that have a record ...
  std::vector<bool> recalled_;  // ... and are recalled
  Ids values_;
  std::vector<Place> places_;  // of these
};

}  // namespace tessera::runtime::journal
