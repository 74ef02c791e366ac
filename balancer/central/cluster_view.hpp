// What the coordinator believes of its workers.
#pragma once

#include <map>
#include <vector>

#include "balancer/central/plan.hpp"
#include "balancer/message.hpp"
#include "balancer/weights.hpp"

namespace tessera::balancer {

// ClusterView keeps the workers' reports and the orders under way, and answers with loads for the
// planner.
//
// Invariant: a fragment is counted once. From the order until its Confirm it is taken off the
// source (reports sent before the Confirm still include it: messages of one worker arrive in the
// order sent, and it sends the Confirm before any report without the fragment); from the order
// until the receiver reports the arrival it is work on its way to the receiver.
class ClusterView {
 public:
  ClusterView(const std::vector<GroupInfo>& groups, std::int32_t workers, double weight_memory);

  void report(Time now, Rank from, const Report&);
  void ordered(Time now, std::uint64_t ticket, Rank from, Rank to,
               const std::vector<GroupCount>& fragments, std::int64_t bytes);
  void confirmed(const Confirm&);
  void present(Rank, bool);

  std::int32_t workers() const { return static_cast<std::int32_t>(workers_.size()); }
  bool unconfirmed(Rank from, Rank to) const;
  bool any_unconfirmed() const;
  std::int64_t bytes_under_way(Rank from) const;  // ordered and not yet reported as arrived
  bool starving(Rank) const;                      // idle, and nothing is on its way
  std::int32_t threads(Rank r) const { return workers_[at(r)].threads; }

  // The loads at `now`, all groups movable except those the profile rules out.
  std::vector<Load> loads(Time now) const;

  Time weight(Rank, Group) const;
  // Input bytes that one fragment brings along, `reported` by its rank. A group that only creates
  // others (a sub, a range) has no inputs to speak of but draws those of its children after it: it
  // counts like its body, or like the mean of all groups with inputs where the body is not known.
  std::int64_t bytes_each(Group, double reported) const;
  bool known(Group g) const { return weights_.known(g); }
  const Weights& weights() const { return weights_; }

 private:
  struct Ready {
    std::int64_t count = 0;
    std::int64_t bytes = 0;
  };
  struct Worker {
    std::vector<Ready> ready;  // as reported, less what was confirmed as shipped since
    bool idle = true;
    bool present = true;
    std::int32_t threads = 1;
    Time unmoved = 0;
    Moments completed;  // everything there, any group
    // Measured against what the groups weigh elsewhere, for the speed.
    double actual = 0, expected = 0, variance = 0, samples = 0;
    Time running_weight = 0;  // of what it last completed: what it is likely to be running
    Time completed_at = 0;
    double speed() const;
  };
  struct UnderWay {
    Rank from, to;
    std::vector<GroupCount> fragments;
    std::int64_t bytes = 0;
    bool confirmed = false;
    bool arrived = false;
  };

  static std::size_t at(Rank r) { return static_cast<std::size_t>(index(r)); }
  bool valid(Rank r) const { return index(r) >= 0 && index(r) < workers(); }
  double learned_bytes(Group) const;
  void completed(Time now, Worker&, const std::vector<GroupDone>&);
  Time running(Time now, const Worker&) const;

  std::vector<bool> never_moved_;
  Weights weights_;
  std::vector<std::vector<Group>> body_;  // by group
  std::vector<Moments> bytes_;            // by group: of one fragment, as reported
  std::vector<double> bytes_factor_;      // by group: bytes that really moved / bytes reported
  std::vector<Worker> workers_;
  std::map<std::uint64_t, UnderWay> under_way_;
};

}  // namespace tessera::balancer
