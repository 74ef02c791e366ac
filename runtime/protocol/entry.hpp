// Entry: what one rank knows of one data fragment, as far as other ranks are concerned.
//
// The *home* of a name is the rank where its scope instance lives. The home decides who gives the value to whom; every
// other rank only knows what it has itself. docs/protocol.md shows every state with every event.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <memory>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::runtime {
struct DfEntry;
}

namespace tessera::protocol {

using balancer::Rank;
inline constexpr Rank kNobody{-1};

enum class State : std::uint8_t {
  none,  // this rank knows nothing of it
  // At its home:
  unassigned,
  here,
  kept,     // another rank, the keeper, has it
  fetched,  // the same, and it has been asked for it
  freed,    // by advice: `delete`, `-->`
  spent,    // by advice: the last read of its req_count
  // Elsewhere:
  absent,     // somebody waits for it, or will
  asked,      // it is to come: asked for, or promised
  evicted,    // it was here: who reads it has to ask, although it was to come unasked
  made,       // assigned here
  copy,       // the cache may evict it
  entrusted,  // kept for a home that has left the run
};
inline constexpr int kStates = 13;

constexpr bool has_value(State s) { return s == State::here || s >= State::made; }
constexpr bool is_freed(State s) { return s == State::freed || s == State::spent; }

// A rank that has the value or is being sent it, and who sends it. What is said to it about that value later goes the
// same way: so it does not come before the value.
struct Holder {
  Rank rank;
  Rank by;
  friend bool operator==(const Holder&, const Holder&) = default;
};

// What an entry needs once other ranks are involved.
struct Others {
  std::vector<Holder> copies;  // home: all; elsewhere: those it went to from here with a shipment
  std::vector<Rank> asking;    // home: those that wait for the assignment; elsewhere: those to be sent it from here
  Rank keeper = kNobody;       // home: who has the value for it
  std::int64_t reads = 0;      // home: told by readers of a name that has a req_count somewhere
  std::int64_t limit = -1;     // home: that req_count; -1: none yet
  std::uint32_t limit_by = 0;  // home: block of the statement that said so
  bool lost = false;           // home: some of `asking` need it although its maker has given it to them
  bool again = false;          // home: it was gone, and its copies are being dropped: no rank is believed to have one

  // Of the table alone: the neighbours on the list of its scope, if it is on it.
  runtime::DfEntry* older = nullptr;
  runtime::DfEntry* newer = nullptr;
  bool linked = false;
};

struct Entry {
  Entry() = default;
  Entry(State s, bool uses_counted) : state(s), counted(uses_counted) {}

  std::unique_ptr<Others> others;      // often null
  std::uint32_t assigned_by : 24 = 0;  // block + 1 of the statement that assigned it; 0: not assigned
  State state : 4 = State::none;
  bool counted : 1 = false;  // home: its uses are; it is freed with the last of them, not with its scope
  bool touched : 1 = false;  // copy: read since the cache last looked
  bool unheard : 1 = false;  // copy, or here: the value came with its readers, and its home may never hear of it
  bool untold : 1 = false;   // made: its home has not been told yet, and need not be if all who read it do so here

  // Of a counted one, or an untold one: the fragments that have still to read it. Less than 0: more have read it than
  // its maker has told of yet.
  std::int32_t uses_left() const { return assert(counted || untold), number_; }
  void set_uses_left(std::int64_t n) { assert(counted || untold), number_ = static_cast<std::int32_t>(n); }
  // Of one that advice has freed: the block of the fragment that did.
  std::uint32_t freed_by() const { return assert(is_freed(state)), static_cast<std::uint32_t>(number_); }
  void set_freed(State how, std::uint32_t block) { state = how, number_ = static_cast<std::int32_t>(block); }

  // More uses than this are not counted.
  static constexpr std::int64_t kMostUses = std::int64_t{1} << 30;

 private:
  std::int32_t number_ = 0;
};

inline bool holds(const std::vector<Holder>& holders, Rank r) {
  return std::any_of(holders.begin(), holders.end(), [r](const Holder& h) { return h.rank == r; });
}
// Puts a rank on a list of those that hold a value, once for each that sends it there; false: it was there already.
inline bool add(std::vector<Holder>& holders, Rank r, Rank by) {
  const bool there = holds(holders, r);
  const Holder h{r, by};
  if (!there || std::find(holders.begin(), holders.end(), h) == holders.end()) holders.push_back(h);
  return !there;
}
// Puts a rank on a list of ranks; false: it was there.
inline bool add(std::vector<Rank>& ranks, Rank r) {
  if (std::find(ranks.begin(), ranks.end(), r) != ranks.end()) return false;
  ranks.push_back(r);
  return true;
}

}  // namespace tessera::protocol
