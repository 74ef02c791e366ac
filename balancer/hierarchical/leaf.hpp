// The coordinator of one group in `hierarchical`.
#pragma once

#include <map>
#include <vector>

#include "balancer/central/coordinator.hpp"
#include "balancer/hierarchical/hierarchical.hpp"
#include "balancer/hierarchical/layout.hpp"

namespace tessera::balancer {

// Leaf is a Coordinator of its members, tells the root about the group as a whole, and takes part
// in transfers between groups:
//
//   root -> receiving leaf   GroupInvite   so many are to come from that group
//   receiving -> giving leaf GroupNeed     these members of mine take so many each
//   giving leaf -> workers   Order         ship to that rank of the other group
//   giving -> receiving leaf GroupSent     an order was carried out with this; the last one ends it
//
// Invariant: from the invitation until the GroupSent of it a fragment counts at the receiving
// member as work to be expected, from then until the member reports it as work on its way; at the
// giving group it counts until it is ordered.
class Leaf {
 public:
  Leaf(const Setup&, const HierarchicalParameters&, const Layout&, std::int32_t group);
  void step(Time now, const Event&, Actions& out);

 private:
  // Fragments another group sends us.
  struct Incoming {
    std::map<Rank, Time> expected;  // by member, ns
  };
  // An order to a rank of another group.
  struct Outgoing {
    std::uint64_t transfer;
    Rank leaf;
    Rank from, to;
  };

  void handle(Time, const Received&, Actions&);
  void handle(Time, const TimerFired&, Actions&);
  void handle(Time, const RankLeaving&, Actions&);
  template <class Other>
  void handle(Time, const Other&, Actions&) {}

  void invited(Time, const GroupInvite&, Actions&);
  void needed(Time, Rank leaf, const GroupNeed&, Actions&);
  void came(const GroupSent&);
  void carried_out(const Confirm&, Actions&);
  void send_sent(std::map<std::uint64_t, Outgoing>::iterator, const Confirm*, Actions&);
  void report_when_due(Time, Actions&);
  GroupReport totals(Time) const;

  const HierarchicalParameters p_;
  const Layout layout_;
  const Members members_;
  Coordinator coordinator_;

  std::map<std::uint64_t, Incoming> incoming_;    // by transfer
  std::map<std::uint64_t, Outgoing> outgoing_;    // by ticket of the order
  std::map<std::uint64_t, std::int32_t> orders_;  // by transfer: of ours, not confirmed
  std::vector<TransferSeen> seen_;                // not reported yet
  bool dirty_ = true;                             // that the group is there is news
  bool in_flight_ = false;
  bool timer_set_ = false;
  Time next_report_ = 0;
  GroupReport told_;
};

}  // namespace tessera::balancer
