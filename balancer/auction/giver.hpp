// The side of an auction that has work.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "balancer/event.hpp"
#include "balancer/stock.hpp"

namespace tessera::balancer {

// Giver answers questions with the load index, shares what is ready among those whose requests wait
// together, and remembers who sleeps.
//
// Requests wait together for a moment when others have just asked for the load here: of r
// requests each gets 1/(r+1), where one after the other would get 1/2, 1/4, 1/8, ...
//
// Sleepers are woken when there is something to give, whatever brought it; not more at once than
// there are fragments to give, and again after a while if that was not enough. A sleeper is one
// that can be given something exactly if can_give says so, so nobody is woken to be refused by
// rule.
class Giver {
 public:
  static constexpr std::uint32_t kCollectTimer = 2;
  static constexpr std::uint32_t kWakeTimer = 3;
  struct Rules {
    std::int64_t divisor = 2;  // one request alone gets this part of the load
    Time collect = -1;         // ns; -1: four times the latency of a message
    Time wake_gap = -1;        // ns between two rounds of wake-ups; -1: likewise
    bool wake_all = false;     // the source: everybody at once
    bool plain = false;        // the source: the load index is told even if nothing may be given
  };
  Giver(Rank self, const Rules& rules, Stock& stock) : self_(self), rules_(rules), stock_(stock) {}

  void asked(Time now, Rank from, const AuctionQuestion& question, Actions& out);
  void requested(Time now, Rank from, const AuctionRequest& request);
  void unloaded(Rank from);
  void shipped(const Shipped& e, Actions& out);
  void timer_fired(std::uint32_t timer) { (timer == kWakeTimer ? wake_timer_ : collect_timer_) = false; }
  void left(Rank rank);
  // serve answers the requests that have waited long enough.
  void serve(Time now, Actions& out);
  void wake(Time now, Actions& out);
  // refuse_all answers all requests; this rank leaves.
  void refuse_all(Actions& out);

 private:
  struct Request {
    Rank from;
    std::uint64_t number;
  };
  bool can_give(Rank to) const { return !stock_.pick(to, stock_.available(to) / rules_.divisor).empty(); }
  Time collect() const { return rules_.collect >= 0 ? rules_.collect : 4 * stock_.latency(); }
  Time wake_gap() const { return rules_.wake_gap >= 0 ? rules_.wake_gap : 4 * stock_.longest_latency(); }
  bool others_about_to_ask(Time now);

  const Rank self_;
  const Rules rules_;
  Stock& stock_;
  std::map<Rank, Time> asked_;    // for the load, when; and sent no request since
  std::vector<Request> waiting_;  // in the order they came
  Time deadline_ = 0;             // of waiting_, while it is not empty
  bool collect_timer_ = false;
  std::map<std::uint64_t, Request> given_;  // by ticket, not carried out yet
  std::vector<Rank> sleepers_;              // in the order they fell asleep
  bool wake_timer_ = false;
};

}  // namespace tessera::balancer
