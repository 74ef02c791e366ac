// The coordinator side of `central`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "balancer/central/central.hpp"
#include "balancer/central/cluster_view.hpp"
#include "balancer/links.hpp"
#include "balancer/price.hpp"

namespace tessera::balancer {

// Turnover is what a worker gets and gives by all moves of a plan, in ns of its own time.
struct Turnover {
  double comes = 0, goes = 0;
};

// Coordinator turns reports into orders. One check:
//
//   loads -> plan -> drop what does not pay -> cut to what the links take now -> orders
//
// A check follows every report and confirmation, at most one per plan_interval; the one that comes
// too early waits for a timer, set only then. Why nothing moves is decided aloud, once per reason
// until something moves again.
//
// Its members are all ranks that execute (`central`) or a group of them (`hierarchical`, whose
// leaves also send to and receive from other groups: tickets are then unique across coordinators).
class Coordinator {
 public:
  Coordinator(const Setup&, const CentralParameters&, Members);
  void step(Time now, const Event&, Actions& out);

  ClusterView& view() { return view_; }
  // The members' loads as a plan may count on them: what costs more to move than to run, or was
  // never seen to run, is not movable.
  std::vector<Load> loads(Time now) const;
  // What a source may still put on its way out, in bytes (ship_window).
  std::int64_t bytes_of(const Load& from, Rank to, const std::vector<GroupCount>&) const;
  std::int64_t window_left(Time now, Rank from, Rank to) const;
  // order sends an order for fragments of `load`, the load of `from`; returns its ticket.
  std::uint64_t order(Time now, Rank from, const Load& load, Rank to, const std::vector<GroupCount>& fragments,
                      const char* why, Time load_to, Actions&);
  // The next check comes soon: the loads have changed by other means than reports.
  void look_again() { wanted_ = true; }
  Time min_gain() const;

 private:
  struct Probing {  // of one group
    Time since;
    Time spent;            // of lines, if as much comes back as may be
    std::set<Rank> ranks;  // that have got one
  };

  void handle(Time, const Received&, Actions&);
  void handle(Time, const TimerFired&, Actions&);
  void handle(Time, const LinkMeasured&, Actions&);
  void handle(Time, const RankLeaving&, Actions&);
  void handle(Time, const RankJoined&, Actions&);
  void handle(Time, const OutsideLoad&, Actions&) {}  // shows in the measured weights
  template <class Other>
  void handle(Time, const Other&, Actions&) {}

  void usual(const Link&);
  void check_when_due(Time now, Actions&);
  void check(Time now, Actions&);
  bool probe(Time now, const std::vector<Load>&, Actions&);
  Time probe_after(const Probing&, const Link&, std::int64_t bytes) const;
  bool pays(const std::vector<Load>&, const std::vector<Turnover>&, const Move&, Actions&, Time now);
  void take_line(Time now, Rank from, const Load&, Rank to, const std::vector<GroupCount>&);
  void look_again_when_free(Time now, const Plan&, Actions&);
  void cut_to_window(Time now, const std::vector<Load>&, Plan&) const;
  void order(Time now, const std::vector<Load>&, const Move&, const char* why, Actions&);
  void refuse(Time now, const char* why, const Move*, Actions&);
  bool mark_unworthy(std::vector<Load>&) const;
  std::int64_t line(Rank from, Rank to) const;
  void cut_to_price(Time now, const std::vector<Load>&, Plan&) const;
  bool unworthy(const GroupWork&, const Link&) const;
  bool too_busy(const GroupWork&, const Link&) const;

  const Rank self_;
  const Members members_;
  const CentralParameters p_;
  const Time ship_cost_;
  ClusterView view_;
  Links links_;
  Link usual_ = kNotMeasured;                // the latest measured
  std::map<std::int64_t, LineClock> lines_;  // with what was ordered from there, and what of it comes back
  std::uint64_t ticket_ = 0;
  bool wanted_ = false;       // a check
  bool awaits_link_ = false;  // the latest check knew no link: some work may have stayed for that
  Time next_check_ = 0;
  bool timer_set_ = false;
  Time hold_ = 0;                        // told to workers with ReportSeen
  std::map<std::string, Time> refused_;  // reason -> when it was last said
  std::map<Group, Probing> probing_;
};

}  // namespace tessera::balancer
