// Host: what drives the policy of one rank, in the live runtime and in the simulator. Pure, as policies are.
//
// A rank tells its host what happens; the host makes events of it, in the order on which policies rely, and has the
// rank carry out the answers. The order, an example: a rank that gets work hears WentBusy, then a LoadChanged, and
// WentIdle after the LoadChanged that says why. What an action causes (Shipped) is told when the step that it came from
// is over.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "balancer/policy.hpp"
#include "balancer/timers.hpp"

namespace tessera::balancer {

// Ordinary changes are reported at most this often.
inline constexpr Time kReportInterval = 500'000;
// A queue that ran dry, since a fragment ended, at most this often.
inline constexpr Time kUrgentInterval = 50'000;

// HostedRank: what a host asks of its rank, and has it do.
class HostedRank {
 public:
  virtual ~HostedRank() = default;
  virtual Time now() const = 0;
  // No fragment is ready or running.
  virtual bool idle() const = 0;
  // Fragments have come, and none of them runs yet.
  virtual bool beginning() const { return false; }
  // Appends what is ready of each group (groups that are left out are as before), and what has finished since the last
  // call.
  virtual void look(std::vector<GroupLoad>& ready, std::vector<GroupDone>& finished) = 0;
  // The policy has been told `event` at `at`; these actions are carried out next.
  virtual void answered(Time at, const Event& event, const Actions& actions) = 0;
  virtual void send(Rank to, const Message&) = 0;  // to another rank
  virtual Shipped ship(const Ship&) = 0;
  virtual void timer_set(const Timer&) {}
  // Appends the fragments of series that have run since the last call.
  virtual void look(std::vector<SeriesWork>&) {}
  virtual void settle(const SettleSeries&) {}
  virtual void decide(const Decide&) = 0;
};

class Host {
 public:
  // `groups`: how many there are. No report is due before `first_report`. The rank outlives the host.
  Host(std::unique_ptr<Policy> policy, Rank self, std::size_t groups, Time first_report, HostedRank& rank);

  // tell has the policy take the event: at once, or after the step that is under way.
  void tell(Event);

  // Something has changed since the last report: is it time to report it? Not before report_due; and not while what has
  // come to an idle rank is about to begin: policies would take it for something that waits, offer it to others, and
  // not ask for more.
  bool time_to_report(Time now, bool urgent);
  Time report_due(bool urgent) const;
  // Tells the policy what has changed since the last report.
  void report(Time now);

  // take says whether a timer is still set, and that it is no longer; its TimerFired may be told later.
  bool take(const Timer& timer) { return timers_.take(timer); }
  // Tells of all timers up to now.
  void fire_until(Time now);
  const Timers& timers() const { return timers_; }

 private:
  void carry_out(const Action&);
  bool report_load(bool went_busy);  // whether the rank was idle then

  std::unique_ptr<Policy> policy_;
  HostedRank& rank_;
  Rank self_;
  bool told_idle_ = true;
  bool moved_ = false;  // fragments came or went since the policy last heard of the load
  bool telling_ = false;
  Time last_report_;
  std::optional<Time> begins_by_;  // then what has come is told of, begun or not
  std::vector<GroupLoad> told_;    // by group
  std::vector<Event> caused_;      // to be told next
  Timers timers_;
};

}  // namespace tessera::balancer
