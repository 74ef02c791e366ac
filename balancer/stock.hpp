// What is ready on this rank, and which of it may be given to whom.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "balancer/growth.hpp"
#include "balancer/links.hpp"
#include "balancer/ready_view.hpp"
#include "balancer/weights.hpp"

namespace tessera::balancer {

// Stock is one rank's ready fragments with what a giver must know of them: weights, bytes of
// inputs, links, and what is being shipped. It never offers the same fragment twice, nor what this
// rank's own threads are about to take.
//
// Where fragments make others (searches, trees) a fragment weighs what it will make as well: see
// Growth.
//
// With `pays` (the sources know no bytes: they have it off) it keeps fragments whose inputs cost
// more to move than they take to run, and shipments so long that the receiver would starve.
//
//   stock.heard(event);                    // LoadChanged, Arrived, Shipped, WentIdle, ...
//   parts = stock.pick(to, stock.available(to) / 2);
//   stock.send(to, parts, out);            // a Ship action
class Stock {
 public:
  struct Rules {
    bool pays = true;
    double margin = 2;      // a fragment's weight must be this many times its transfer
    Time max_transfer = 0;  // ns of transfer in one shipment
  };
  Stock(const Setup& setup, const Rules& rules);

  void heard(const LoadChanged& e);
  void heard(const Arrived& e) { ready_.arrived(e.fragments); }
  void heard(const WentIdle&) { idle_ = true; }
  void heard(const WentBusy&) { idle_ = false; }
  void heard(const LinkMeasured& e);
  // Returns true when nothing went.
  bool heard(const Shipped& e);

  bool idle() const { return idle_; }
  // Ready here and not being shipped.
  std::int64_t ready() const;
  // The same without what idle threads here are about to take; nobody can get more.
  std::int64_t surplus() const { return ready() - kept(ready()); }
  // ns of weight of what is ready here.
  Time load() const { return ready_.load(weights_); }
  // How many of the surplus may go to `to`.
  std::int64_t available(Rank to) const;
  // Their weight in ns, one thread's.
  Time available_weight(Rank to) const;
  // The mean weight of everything completed here, else a neutral constant.
  Time typical_weight() const { return weights_.fallback(); }
  // The shortest one-way latency measured from here, else a guess.
  Time latency() const { return latency_ > 0 ? latency_ : Link{}.latency; }
  // The longest: whoever waits for all answers waits for that one.
  Time longest_latency() const { return longest_latency_ > 0 ? longest_latency_ : Link{}.latency; }

  // pick chooses at most `count` fragments for `to`, in proportion from every group; fewer or none
  // where moving more does not pay.
  std::vector<GroupCount> pick(Rank to, std::int64_t count) const;
  // pick_weight chooses fragments for `to` that together weigh about `weight` ns, rather less: one
  // that weighs up to twice that only with `last`, for a receiver where nothing runs.
  std::vector<GroupCount> pick_weight(Rank to, Time weight, bool last) const;
  // send appends the Ship action of what was picked and returns its ticket.
  std::uint64_t send(Rank to, std::vector<GroupCount> parts, Actions& out);
  // send_everything ships all that is ready in equal shares, whatever it costs: this rank leaves.
  void send_everything(const std::vector<Rank>& to, Actions& out);

 private:
  struct Candidate {
    Group group;
    std::int64_t count;
    std::int64_t bytes_each;
    Time weight;
    bool measured;
  };
  // What may go to `to`, group by group.
  std::vector<Candidate> candidates(Rank to) const;
  std::int64_t kept(std::int64_t count) const;
  std::int64_t free_count(std::size_t g) const;
  std::vector<GroupCount> paying(Rank to, const std::vector<Candidate>& chosen) const;

  const Rank self_;
  const std::int64_t workers_;
  const Rules rules_;
  const Time ship_cost_;
  std::vector<bool> never_moved_;
  Weights weights_;
  ReadyView ready_;
  Links links_;
  Time latency_ = 0, longest_latency_ = 0;
  bool idle_ = true;  // until told otherwise
  Growth growth_;
  std::uint64_t ticket_ = 0;
  std::map<std::uint64_t, std::vector<GroupCount>> shipping_;
  std::vector<std::int64_t> in_shipment_;  // by group, of shipping_
};

}  // namespace tessera::balancer
