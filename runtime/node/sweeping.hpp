// Sweeping: this rank's part in the sweeps of several ranks (protocol/sweeping.hpp says how, docs/protocol.md why).
// Communication thread, but for want(), ships(), leaves() and stay(). Who wants a sweep of names that are this rank's
// own makes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "runtime/comm/messages.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/horizons.hpp"
#include "runtime/memory/lock.hpp"
#include "runtime/protocol/sweeping.hpp"

namespace tessera::runtime {

class Node;

class Sweeping {
 public:
  explicit Sweeping(Node&);

  // The values of these names that are at home here have doubled. Any thread.
  void want(Horizons::Whose);
  // The first fragment is to board a shipment; none is let go of before: its mark. Any thread.
  std::uint64_t ships(Rank to);
  // This one is to leave, and is not let go of yet: the names that it may read are not this rank's own any more.
  void leaves(const Cf*);
  // One has come, and is not looked at yet.
  void came(const Ship&);
  // Who makes these holds them as long as their names live; any thread.
  void stay(const abi::Hulls&, std::int64_t until);
  void turn();

  void on(Rank from, SweepWanted&&);
  void on(Rank, SweepCut&&);
  void on(Rank, SweepHasCut&&);
  void on(Rank, SweepExpect&&);
  void on(Rank, SweepTold&&);
  void on(Rank home, SweepFound&&);
  void on(Rank, SweepAwaited&&);
  void on(Rank, SweepHeard&&);
  void on(Rank, HullsStay&&);

 private:
  template <class M>
  void say(Rank to, M m);  // also to itself
  template <class M>
  void say_all(const M& m);
  void sweep_own();
  void free(std::vector<Horizons::Dead>&, const std::unordered_set<std::uint64_t>& awaited, Horizons::Whose);
  void begin();
  void tell();
  void done_with_home();
  void add(const PackedCf&);
  bool is_asked(std::int32_t home) const;

  Node& node_;
  std::atomic<bool> wanted_{false};
  SpinMutex mutex_;  // of rank_
  protocol::SweepRank rank_;
  std::mutex one_;  // writes down at a time, for names of this rank or a wave: of homes_left_ and what is remembered
  std::vector<std::int32_t> homes_;  // of the sweep that is on
  Horizons::Boxes written_;          // of their names
  // That have not asked yet what is awaited here; itself: that has not freed yet.
  std::size_t homes_left_ = 0;
  std::size_t told_ = 0;                       // a home: by so many ranks
  Horizons::Boxes around_;                     // what
  std::vector<Horizons::Dead> found_;          // nobody holds these
  std::unordered_set<std::uint64_t> awaited_;  // of these; the low halves of ids: one more that stays does no harm
  std::size_t answered_ = 0;                   // by so many ranks
  protocol::SweepLead lead_;                   // rank 0
};

}  // namespace tessera::runtime
