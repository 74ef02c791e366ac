// What the coordinator believes of its workers.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "balancer/central/plan.hpp"
#include "balancer/message.hpp"
#include "balancer/weights.hpp"

namespace tessera::balancer {

// Members are the ranks that one coordinator looks after: first .. first + count - 1.
struct Members {
  Rank first{0};
  std::int32_t count = 0;
  bool has(Rank r) const { return index(r) >= index(first) && index(r) < index(first) + count; }
  Rank rank(std::size_t i) const { return Rank{index(first) + static_cast<std::int32_t>(i)}; }
  std::size_t at(Rank r) const { return static_cast<std::size_t>(index(r) - index(first)); }
};

// ClusterView keeps the members' reports and the orders under way, and answers with loads for the
// planner. An order may lead from or to a rank that is no member (`hierarchical`).
//
// Invariant: a fragment is counted once. From the order until its Confirm it is taken off the
// source (reports sent before the Confirm still include it: messages of one worker arrive in the
// order sent, and it sends the Confirm before any report without the fragment); from the order
// until the receiver reports the arrival it is work on its way to the receiver.
class ClusterView {
 public:
  // `powers`: relative speed by rank, as far as it is known beforehand.
  ClusterView(Weights, const std::vector<GroupInfo>& groups, Members, const std::vector<double>& powers = {});

  void report(Time now, Rank from, const Report&);
  void ordered(std::uint64_t ticket, Rank from, Rank to, const std::vector<GroupCount>& fragments, std::int64_t bytes);
  void confirmed(const Confirm&);
  // Fragments that no order of this coordinator sends are on their way to member `to`.
  void coming(std::uint64_t ticket, Rank from, Rank to, const std::vector<GroupCount>& fragments, std::int64_t bytes);
  // A thief has taken these from member `from`, by no order.
  void stolen(Rank from, const Confirm&);
  // `work` (ns) will come to member `to`: it counts as busy with that. Negative: no longer.
  void expect(Rank to, Time work);
  void present(Rank, bool);

  const Members& members() const { return members_; }
  bool unconfirmed(Rank from, Rank to) const;
  bool any_unconfirmed() const;
  std::int64_t bytes_under_way(Rank from) const;  // ordered and not yet reported as arrived
  bool starving(Rank) const;                      // idle, and nothing is on its way
  bool present(Rank r) const { return workers_[at(r)].present; }
  std::int32_t threads(Rank r) const { return workers_[at(r)].threads; }

  // The loads at `now`, all groups movable except those the profile rules out.
  std::vector<Load> loads(Time now) const;
  // settle makes immovable what came by an order: it would else be passed on whenever loads waver.
  // A load then has two entries for such a group, the movable one first. Where workers starve and
  // there are fewer others than those, everything stays movable.
  void settle(std::vector<Load>&) const;

  Time weight(Rank, Group) const;
  // Input bytes that one fragment brings along, `reported` by its rank. A group that only creates
  // others (a sub, a range) has no inputs to speak of but draws those of its children after it: it
  // counts like its body, or like the mean of all groups with inputs where the body is not known.
  std::int64_t bytes_each(Group, double reported) const;
  // What so many of a load take along to this rank. What an iteration reads is where it has gone before, and nowhere
  // else: as many as went there last take what those took, others what the first took to any rank.
  std::int64_t bytes_to(Rank to, const GroupWork&, std::int64_t count) const;
  std::int64_t usual_count(Rank to, Group) const;
  // What all that is not done yet will produce, in bytes.
  double outputs_to_come() const;
  bool known(Group g) const { return weights_.known(g); }
  const Weights& weights() const { return weights_; }

 private:
  struct Ready {
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    std::int64_t settled = 0;  // of count: came here by an order, or by a theft
    void take(std::int64_t n) {
      const std::int64_t left = count > n ? count - n : 0;
      bytes = count > 0 ? bytes / count * left : 0;
      count = left;
    }
  };
  // Bytes that really moved / bytes reported.
  struct Factor {
    double value = 1;
    bool known = false;
    std::int64_t count = 0;  // that went last
    void learn(double seen, std::int64_t count);
  };
  struct Worker {
    std::vector<Ready> ready;          // as reported, less what was confirmed as shipped since
    std::vector<Factor> bytes_factor;  // by group: of what comes here
    bool idle = true;
    bool present = true;
    std::int32_t threads = 1;
    double power = 1;  // speed until measurements say otherwise; the fastest rank has 1
    Time unmoved = 0;
    Moments completed;  // everything there, any group
    // Measured against what the groups weigh elsewhere, for the speed.
    double actual = 0, expected = 0, variance = 0, samples = 0;
    Time running_weight = 0;  // of what it last completed: what it is likely to be running
    Time completed_at = 0;
    Time expected_work = 0;      // not ordered yet, see expect
    std::int32_t inbound = 0;    // orders on their way to it
    std::int64_t bytes_out = 0;  // of orders on their way from it
    double speed() const;
  };
  struct UnderWay {
    Rank from, to;
    std::vector<GroupCount> fragments;
    std::int64_t bytes = 0;
    bool confirmed = false;
    bool arrived = false;
    std::vector<double> factors{};  // bytes_factor of `fragments` when they were ordered
  };

  using Orders = std::map<std::uint64_t, UnderWay>;

  std::size_t at(Rank r) const { return members_.at(r); }
  bool valid(Rank r) const { return members_.has(r); }
  void add(std::uint64_t ticket, UnderWay);
  void set_confirmed(UnderWay&);
  Orders::iterator remove(Orders::iterator);
  double bytes_factor(Group) const;
  Factor bytes_factor(Rank to, Group) const;
  double factor_of(Rank to, Group, std::int64_t count) const;
  void learn(Rank to, std::size_t group, double factor, std::int64_t count);
  double produced(Group) const;
  double learned_bytes(Group) const;
  static void settled(Worker&, const std::vector<GroupCount>&);
  void completed(Time now, Worker&, const std::vector<GroupDone>&);
  Time running(Time now, const Worker&) const;

  const Members members_;
  std::vector<bool> never_moved_;
  Weights weights_;
  std::vector<std::vector<Group>> body_;  // by group
  std::vector<Moments> bytes_;            // by group: of one fragment, as reported
  std::vector<Moments> produced_;         // by group: by one fragment
  std::vector<Factor> bytes_factor_;      // by group, wherever to
  std::vector<Factor> first_factor_;      // by group: of the first order to each rank
  std::vector<Worker> workers_;
  Orders under_way_;
  std::map<std::pair<Rank, Rank>, std::int32_t> unconfirmed_;  // orders, by from and to
  bool foreign_tickets_ = false;                               // fragments of other coordinators come here
  std::set<std::uint64_t> early_;                              // theirs: arrived, and not known yet to be coming
};

}  // namespace tessera::balancer
