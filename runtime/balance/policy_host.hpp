// PolicyHost: one rank of the live runtime, as the host of its policy (balancer/host.hpp) sees it: the load that its
// workers have, and the hands that carry the policy's actions out. Communication thread only, except changed() and
// urgent().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "balancer/host.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/start/facts.hpp"
#include "runtime/start/members.hpp"
#include "runtime/work/crew.hpp"

namespace tessera::runtime {

class RankEvents;
class PolicyLog;

// What the host knows of the program's groups, as a policy wants it.
std::vector<balancer::GroupInfo> group_infos(const abi::Program&);

class PolicyHost final : balancer::HostedRank {
 public:
  // What of a rank it looks at, and by what its actions are carried out.
  struct Parts {
    const RunFacts& facts;
    Communicator& comm;
    Transport& transport;
    const Members& members;
    Crew& crew;
    RankEvents* events;  // null: nothing is recorded
    // Takes what there is of these and ships it; what really went, and its bytes.
    std::function<std::vector<balancer::GroupCount>(Rank to, const std::vector<balancer::GroupCount>&,
                                                    std::uint64_t ticket, std::int64_t& bytes)>
        ship;
    // This series, which belongs here, runs there from now on.
    std::function<void(std::uint64_t series, Rank to)> settle;
  };
  PolicyHost(const Parts&, const balancer::Setup&);
  ~PolicyHost() override;

  // Any thread: the load here has changed / is about to run out.
  void changed();
  void changed_here() {
    dirty_.store(true, std::memory_order_relaxed);
  }  // the same, by who drives: nobody is to be woken
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
  // HostedRank
  balancer::Time now() const override { return (Clock::now() - start_).count(); }
  bool idle() const override;
  bool beginning() const override;
  void look(std::vector<balancer::GroupLoad>& ready, std::vector<balancer::GroupDone>& finished) override;
  void look(std::vector<balancer::SeriesWork>& ran) override;
  void settle(const balancer::SettleSeries&) override;
  void answered(balancer::Time, const balancer::Event&, const balancer::Actions&) override;
  void send(balancer::Rank to, const balancer::Message&) override;
  balancer::Shipped ship(const balancer::Ship&) override;
  void decide(const balancer::Decide&) override;

  GroupStats::Snapshot stats(std::uint32_t group) const;  // of all workers

  const Parts of_;
  Clock::time_point start_;
  balancer::Host host_;
  std::unique_ptr<PolicyLog> log_;  // --record-policy
  std::atomic<bool> dirty_{true};
  std::atomic<bool> urgent_{false};
  std::vector<std::int64_t> ready_, bytes_;  // by group
  struct Done {
    std::int64_t count = 0;
    double weight = 0, squares = 0;
  };
  std::vector<Done> last_done_;
  std::map<std::string, std::int64_t> decisions_;
};

}  // namespace tessera::runtime
