// The coordinator side of `central`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "balancer/central/central.hpp"
#include "balancer/central/cluster_view.hpp"
#include "balancer/links.hpp"

namespace tessera::balancer {

// Coordinator turns reports into orders. One check:
//
//   loads -> plan -> drop what does not pay -> cut to what the links take now -> orders
//
// A check follows every report and confirmation, at most one per plan_interval; the one that comes
// too early waits for a timer, set only then. Why nothing moves is decided aloud, once per reason
// until something moves again.
class Coordinator {
 public:
  Coordinator(const Setup&, const CentralParameters&, std::int32_t workers);
  void step(Time now, const Event&, Actions& out);

 private:
  void handle(Time, const Received&, Actions&);
  void handle(Time, const TimerFired&, Actions&);
  void handle(Time, const LinkMeasured&, Actions&);
  void handle(Time, const RankLeaving&, Actions&);
  void handle(Time, const RankJoined&, Actions&);
  void handle(Time, const OutsideLoad&, Actions&) {}  // shows in the measured weights
  template <class Other>
  void handle(Time, const Other&, Actions&) {}

  void check_when_due(Time now, Actions&);
  void check(Time now, Actions&);
  bool probe(Time now, const std::vector<Load>&, Actions&);
  bool pays(const std::vector<Load>&, const Move&, Actions&, Time now);
  void cut_to_window(const std::vector<Load>&, Plan&) const;
  void order(Time now, const std::vector<Load>&, const Move&, const char* why, Actions&);
  void refuse(Time now, const char* why, const Move*, Actions&);
  Time min_gain() const;
  bool mark_unworthy(std::vector<Load>&) const;

  const Rank self_;
  const CentralParameters p_;
  ClusterView view_;
  Links links_;
  Link usual_;  // the latest measured
  std::uint64_t ticket_ = 0;
  bool wanted_ = false;  // a check
  Time next_check_ = 0;
  bool timer_set_ = false;
  Time hold_ = 0;                        // told to workers with ReportSeen
  std::map<std::string, Time> refused_;  // reason -> when it was last said
  std::set<std::pair<Group, Rank>> probed_;
};

}  // namespace tessera::balancer
