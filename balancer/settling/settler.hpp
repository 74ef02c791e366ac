// Where series run: a plan for all steps to come.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "balancer/central/plan.hpp"
#include "balancer/links.hpp"
#include "balancer/settling/messages.hpp"

namespace tessera::balancer {

// Settler knows what every series takes and where it runs. Once a step has shown that, it plans where each is to run
// from then on (with the planner of `central`, a series being a fragment of its own weight), so that fragments begin
// where they belong and nothing has to be balanced within a step. Then the plan stands: it is corrected when weights
// have changed so much that it pays, and falls when what steps take is nothing that lasts.
//
// A plan pays when what it saves in as many steps as there have been is more than moving the data takes; what a series
// produces visits the rank that it belongs to in each step.
class Settler {
 public:
  Settler(std::int32_t ranks, std::int32_t threads, const std::vector<double>& powers, Time ship_cost);

  void report(Rank from, const SeriesReport&);
  void present(Rank r, bool here);
  void link(const Link& l);  // one that was measured

  struct Answer {
    std::map<Rank, std::vector<SeriesPlace>> places;  // by the rank that they belong to
    bool planned = false;                             // all are to be told of the plan
    double before = 0, after = 0;                     // latest finish, ns
    std::int64_t moved = 0;
  };
  // What is to be done now, a moment after a report.
  Answer decide();
  // The plan does not work: it stands no longer. False: it has not.
  bool fall();
  // The latest plan, and the groups for which it stands.
  SeriesStand standing() const { return {plan_, standing_}; }

 private:
  struct Series {
    SeriesWork work;
    Rank at{0};
    Rank seen{0};      // there its weight was
    double speed = 1;  // of that rank
  };
  struct Member {
    bool present = true;
    bool reports = false;
    std::uint64_t plan = 0;   // that its latest report knows the effect of
    std::int64_t series = 0;  // that it is to run by the latest plan
    double speed = 1;
    std::int64_t steps = 0;
    double doubt = 0;
  };
  Member& member(Rank r) { return members_[static_cast<std::size_t>(index(r))]; }
  std::vector<Load> loads(std::vector<Series*>& all);
  bool pays(const std::vector<Load>&, const Plan&, double gain) const;
  std::int64_t steps() const;  // of the rank that has had most
  static double least(const std::vector<Load>&);
  void learn_speed(Member& m, Rank here, const std::vector<SeriesWork>& ran) const;

  std::vector<Member> members_;
  const double threads_;
  const Time ship_cost_;
  Link link_;
  std::map<std::uint64_t, Series> series_;
  std::vector<Group> standing_;
  std::uint64_t plan_ = 0;
  double changed_ = 0;            // of weights, since the latest look; ns
  std::int64_t rests_until_ = 0;  // steps
  int falls_ = 0;
};

}  // namespace tessera::balancer
