// The worker side of `central`.
#pragma once

#include <map>
#include <vector>

#include "balancer/central/central.hpp"
#include "balancer/growth.hpp"
#include "balancer/links.hpp"
#include "balancer/ready_view.hpp"

namespace tessera::balancer {

// CentralWorker tells the coordinator what is ready, what was completed and what arrived, and
// carries out its orders.
//
// Reports: at most one in flight (answered by ReportSeen), at most one per report_interval. A
// report goes at once when the rank runs dry or idle, when a shipment came in (the coordinator
// sends the next part then), or when the load changed by report_change; other changes wait for
// report_delay and go together, and so does the first report of a rank that stole what it has: soon
// it may hear that fragments make others, and then reports once per growing_interval. The first
// completion of a group, where orders bring fragments, waits for nothing: the coordinator may have
// sent it to be measured.
class CentralWorker {
 public:
  CentralWorker(const Setup&, const CentralParameters&, Rank coordinator);
  void step(Time now, const Event&, Actions& out);

 private:
  struct Taken {
    Time until;  // who orders did not know of it
    Rank by;
    std::vector<GroupCount> fragments;
  };
  struct Sent {
    std::int64_t ready = 0;
    std::int64_t bytes = 0;
    friend bool operator==(const Sent&, const Sent&) = default;
  };

  void handle(Time, const LoadChanged&, Actions&);
  void handle(Time, const WentIdle&, Actions&);
  void handle(Time, const WentBusy&, Actions&);
  void handle(Time, const Received&, Actions&);
  void handle(Time, const Arrived&, Actions&);
  void handle(Time, const Shipped&, Actions&);
  void handle(Time, const TimerFired&, Actions&);
  void handle(Time, const LinkMeasured&, Actions&);
  void handle(Time, const RankLeaving&, Actions&) {}
  void handle(Time, const RankJoined&, Actions&) {}
  void handle(Time, const SeriesRan&, Actions&) {}
  void handle(Time, const OutsideLoad&, Actions&) {}

  void less_what_was_taken(Time now, Rank to, std::vector<GroupCount>& fragments);
  void changed(Time now);
  bool urgent() const;
  Time growing_interval() const;
  // What has arrived is told of before WentBusy.
  bool idle() const { return idle_ && ready_.total() == 0; }
  void report_when_due(Time now, Actions& out);
  Report make_report();
  bool silent(std::size_t g) const { return g < never_moved_.size() && never_moved_[g]; }

  const Rank coordinator_;
  const std::int32_t workers_;
  const CentralParameters p_;
  std::vector<bool> never_moved_;  // the profile says: not worth reporting
  Weights weights_;
  Growth growth_;
  ReadyView ready_;
  LinkDigest links_, near_;  // near_: of this host, where others are known
  const Hosts hosts_;
  const Rank self_;
  Time latency_ = Link{}.latency;  // of the slowest link measured

  bool idle_ = true;
  bool sent_idle_ = true;
  Time sent_load_ = 0;
  Time sent_unmoved_ = 0;
  std::vector<Sent> sent_;              // as the coordinator knows it
  std::vector<GroupDone> finished_;     // by group, not reported yet
  std::vector<std::uint64_t> arrived_;  // not reported yet
  bool ordered_ = false;                // some of them by an order
  std::vector<Taken> taken_;            // lately, by thieves
  bool probed_ = false;                 // an order has brought fragments
  bool stolen_ = false;                 // something else has (`auto`)
  bool first_ = false;                  // among finished_: the first of its group
  bool dirty_ = false;
  Time dirty_since_ = 0;
  bool in_flight_ = false;
  bool reported_ = false;  // ever
  Time sent_at_ = 0;
  Time hold_until_ = 0;
  Time timer_at_ = -1;                                       // -1: not set
  std::map<std::uint64_t, std::vector<GroupCount>> orders_;  // being carried out
};

}  // namespace tessera::balancer
