// The coordinator above the groups in `hierarchical`.
#pragma once

#include <map>
#include <vector>

#include "balancer/central/plan.hpp"
#include "balancer/hierarchical/hierarchical.hpp"
#include "balancer/hierarchical/layout.hpp"
#include "balancer/links.hpp"

namespace tessera::balancer {

// Root knows one load per group, and plans between groups as a coordinator plans between workers;
// which fragments move and who runs them is up to the leaves.
//
// Invariant: from its invitation a transfer counts at the receiving group until that group's report
// includes it, and is taken off the giving group until that group's report does.
class Root {
 public:
  Root(const HierarchicalParameters&, const Layout&);
  void step(Time now, const Event&, Actions& out);

 private:
  struct Group {
    GroupReport last;  // at first: no load
    // A giver that could give nothing is left alone for a while, longer each time.
    Time rest_until = 0;
    Time rest = 0;
  };
  struct Transfer {
    std::size_t from, to;
    std::int64_t count;
    Time weight;
    bool seen_from = false, seen_to = false;
  };

  void report(Time now, std::size_t group, const GroupReport&);
  void plan(Time now, Actions& out);
  std::vector<Load> loads(Time now) const;

  const HierarchicalParameters p_;
  const Layout layout_;
  std::vector<Group> groups_;
  std::map<std::uint64_t, Transfer> transfers_;
  std::uint64_t number_ = 0;
  Time latency_ = Link{}.latency;
  bool wanted_ = false;
  bool timer_set_ = false;
  Time next_plan_ = 0;
};

}  // namespace tessera::balancer
