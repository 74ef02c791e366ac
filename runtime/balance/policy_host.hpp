// PolicyHost: the live driver of one rank's policy (balancer/policy.hpp). It turns what happens on
// the rank into events, coalesced, and carries the actions out. Communication thread only, except
// changed() and urgent().
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "balancer/policy.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/work/group_stats.hpp"

namespace tessera::runtime {

class Node;
class PolicyLog;

// What the host knows of the program's groups, as a policy wants it.
std::vector<balancer::GroupInfo> group_infos(const abi::Program&);

class PolicyHost {
 public:
  PolicyHost(Node& node, const balancer::PolicyInfo& info, balancer::Setup setup);
  ~PolicyHost();

  // Any thread: the load here has changed / is about to run out.
  void changed();
  void changed_here() { dirty_.store(true, std::memory_order_relaxed); }  // the same, by who drives: nobody is to be woken
  void urgent();

  // Tells the policy what has changed, when it is time; fires due timers.
  void pump(Clock::time_point now);
  // When pump wants to be called again.
  Clock::time_point next(Clock::time_point now) const;

  void on(Rank from, PolicyMessage&&);
  void arrived(Rank from, std::vector<balancer::GroupCount>, std::uint64_t ticket);
  void member(Rank, bool joins);
  void outside_load(double tasks);
  void measured(Rank peer, balancer::Time latency, double bandwidth);

  // The run has ended: nothing is told any more. Finishes the log; returns what is wrong with it, for a
  // person.
  std::string close();

  // Reasons of decisions and how often each was given: "moved", "too little left", ...
  const std::map<std::string, std::int64_t>& decisions() const { return decisions_; }

 private:
  void tell(const balancer::Event&);
  void carry_out(const balancer::Action&);
  bool about_to_begin(Clock::time_point now);
  void report_load(bool went_busy);
  GroupStats::Snapshot stats(std::uint32_t group) const;  // of all workers

  Node& node_;
  std::unique_ptr<balancer::Policy> policy_;
  std::unique_ptr<PolicyLog> log_;  // --record-policy
  Clock::time_point start_;
  Clock::time_point last_pump_;
  std::atomic<bool> dirty_{true};
  std::atomic<bool> urgent_{false};
  bool moved_ = false;  // fragments came or went since the policy last heard of the load
  bool idle_ = true;
  std::optional<Clock::time_point> begins_by_;  // what came while nothing ran; then it is told anyway
  std::vector<std::int64_t> ready_, bytes_, last_ready_, last_bytes_;
  struct Done {
    std::int64_t count = 0;
    double weight = 0, squares = 0;
  };
  std::vector<Done> last_done_;
  std::map<std::uint32_t, balancer::Time> timers_;
  std::map<std::string, std::int64_t> decisions_;
  std::vector<balancer::Event> queue_;  // events caused while one is being told
  bool telling_ = false;
};

}  // namespace tessera::runtime
