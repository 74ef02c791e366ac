// Evacuation: how a rank gives away what it has when it leaves the run, and what it is afterwards.
//
//   begin()  workers take no more fragments; a fragment that is being run ends first. Ready fragments go at once to the
//            ranks that stay, in equal shares.
//   swept    when the last worker is at rest, waiting fragments follow, and all values: those kept for a home elsewhere
//            go to that home, those whose home is here to other keepers.
//   after    the process sleeps, and still: passes on fragments that are sent to it; answers for the names whose home
//   it
//            is (docs/nodes.md), which hold small values only (protocol::Limits::stays); pays what its scopes owe; runs
//            its part of the policy.
//   end()    the rank takes part again.
//
// Why nothing runs during the sweep: workers look at `parked` after they have said that they are
// not idle, and the sweep waits until all of them say that they are; both are sequentially
// consistent.
//
// Communication thread, except parked(), swept() and ever().
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/comm/messages.hpp"

namespace tessera::runtime {

class Node;

class Evacuation {
 public:
  explicit Evacuation(Node& node) : node_(node) {}

  // Any thread: this rank takes no part, or is about to take none.
  bool parked() const { return parked_.load(); }
  // Nothing is left here but what may stay.
  bool swept() const { return swept_.load(std::memory_order_relaxed); }
  // There was a time when this rank took no part.
  bool ever() const { return ever_.load(std::memory_order_relaxed); }

  // Before the run: this rank is a spare.
  void rest();
  void begin();
  void end();
  // Does what can be done now; in each turn of the communication thread.
  void turn();

  // Passes a shipment on; this rank takes no part.
  void forward(Rank from, Ship&&);
  // A rank that takes part, another one each time.
  Rank next_target();

  // For the summary: s this rank took part until now.
  double seconds_here() const;
  std::int64_t moved() const { return moved_; }

 private:
  void ship_ready();
  void sweep();

  Node& node_;
  std::atomic<bool> parked_{false};
  std::atomic<bool> swept_{false};
  std::atomic<bool> ever_{false};
  std::size_t turn_of_ = 0;
  std::int64_t moved_ = 0;                  // fragments, by all evacuations
  std::int64_t moved_before_ = 0;           // by those before this one
  Clock::time_point since_ = Clock::now();  // parked or not
  Clock::duration here_{};                  // in the states before that
};

}  // namespace tessera::runtime
