// The stealing protocol of LuNA's own balancer, as published:
//
//   queue empty      -> request to `steal_ranks` others
//   stealable ready,
//   request pending  -> ship one fragment to the first requester
//   work arrived     -> revoke the other requests
//
// A fragment that still waits is not shipped: a request stays pending until one is "about to run", and
// the thief, who would wait for the same inputs, gets that one.
//
// Two faults of the public implementation are there when asked for: requests go to a fixed run of ranks that starts
// with the asker (`fixed_run`), else round all ranks in turn; and what was shipped goes home (`goes_home`, the host's
// part), else it stays. A rank keeps its last ready fragment: with two empty ranks holding each other's requests it
// would travel for ever.
#include <algorithm>
#include <map>
#include <vector>

#include "balancer/ready_view.hpp"
#include "balancer/settings.hpp"
#include "balancer/steal/steal.hpp"

namespace tessera::balancer {
namespace {

constexpr std::uint32_t kBackoffTimer = 1;

class FaithfulStealer : public Policy {
 public:
  explicit FaithfulStealer(const Setup& setup)
      : self_(setup.rank),
        ranks_(setup.ranks),
        groups_(setup.groups),
        ready_(setup.groups.size()),
        present_(static_cast<std::size_t>(setup.ranks), true),
        next_victim_((index(setup.rank) + 1) % std::max(1, setup.ranks)) {
    const SettingsReader read(steal_info(), setup.settings);
    at_once_ = static_cast<std::int32_t>(read.integer("steal_ranks"));
    all_ = at_once_ == 0 || at_once_ > ranks_ - 1;
    if (all_) at_once_ = ranks_ - 1;
    backoff_ = read.duration("backoff");
    fixed_run_ = read.boolean("fixed_run");
  }

  void step(Time now, const Event& event, Actions& out) override {
    if (ranks_ < 2) return;
    std::visit([&](const auto& e) { handle(now, e, out); }, event);
    if (std::holds_alternative<WentBusy>(event)) return;  // the LoadChanged that follows says with what
    serve(out);
    if (ready_.total() == 0) ask(now, out);
  }

 private:
  void handle(Time, const LoadChanged& e, Actions&) { ready_.told(e); }
  void handle(Time, const WentIdle&, Actions&) {}
  void handle(Time, const WentBusy&, Actions&) {}
  void handle(Time, const LinkMeasured&, Actions&) {}
  void handle(Time, const Received& r, Actions&) {
    if (std::holds_alternative<StealRequest>(r.message)) {
      if (std::find(requests_.begin(), requests_.end(), r.from) == requests_.end()) {
        requests_.push_back(r.from);
      }
    } else if (std::holds_alternative<StealRevoke>(r.message)) {
      std::erase(requests_, r.from);
    }
  }
  void handle(Time, const Arrived& e, Actions& out) {
    ready_.arrived(e.fragments);
    for (const Rank v : asked_) {
      if (v != e.from) out.push_back(Send{v, StealRevoke{number_}});
    }
    asked_.clear();
    if (waiting_) out.push_back(CancelTimer{kBackoffTimer});
    waiting_ = false;
  }
  void handle(Time, const Shipped& e, Actions&) {
    const auto asked = shipping_.find(e.ticket);
    if (asked == shipping_.end()) return;
    ready_.shipped(asked->second, e.fragments);
    // Nothing went: the request still stands, and is the oldest.
    if (e.fragments.empty()) requests_.insert(requests_.begin(), e.to);
    shipping_.erase(asked);
  }
  void handle(Time now, const TimerFired&, Actions& out) {
    waiting_ = false;
    if (ready_.total() == 0) ask_more(now, out);
  }
  void handle(Time, const RankLeaving& e, Actions&) {
    present_[static_cast<std::size_t>(index(e.rank))] = false;
    std::erase(requests_, e.rank);
    std::erase(asked_, e.rank);
  }
  void handle(Time, const SeriesRan&, Actions&) {}
  void handle(Time, const OutsideLoad&, Actions&) {}
  void handle(Time, const RankJoined& e, Actions&) {
    if (index(e.rank) < ranks_) present_[static_cast<std::size_t>(index(e.rank))] = true;
  }

  // serve ships one stealable fragment per pending request, oldest request first.
  void serve(Actions& out) {
    while (!requests_.empty() && ready_.total() > 1) {
      std::size_t g = 0;
      while (g < ready_.size() && !(g < groups_.size() && groups_[g].stealable && ready_[g].count() > in_shipment(g))) {
        ++g;
      }
      if (g == ready_.size()) return;
      std::vector<GroupCount> one = {{Group{static_cast<std::uint32_t>(g)}, 1}};
      const Rank to = requests_.front();
      requests_.erase(requests_.begin());
      out.push_back(Ship{++ticket_, to, one});
      out.push_back(Decide{"stolen", self_, to, one, 0, 0});
      shipping_[ticket_] = std::move(one);
    }
  }
  std::int64_t in_shipment(std::size_t g) const {
    std::int64_t n = 0;
    for (const auto& [ticket, fragments] : shipping_) n += index(fragments[0].group) == g;
    return n;
  }

  // ask sends the requests of one empty queue, once; ask_more goes on to ranks not asked yet.
  void ask(Time now, Actions& out) {
    if (!asked_.empty() || waiting_) return;
    rounds_ = 0;
    ++number_;
    fixed_run_ ? ask_run(out) : ask_more(now, out);
  }
  // The first of the run is the asker, which has nothing and sends itself nothing.
  void ask_run(Actions& out) {
    for (std::int32_t i = 1; i < (all_ ? ranks_ : at_once_); ++i) {
      const Rank v{(index(self_) + i) % ranks_};
      if (!present_[static_cast<std::size_t>(index(v))]) continue;
      asked_.push_back(v);
      out.push_back(Send{v, StealRequest{number_, true}});
    }
  }
  void ask_more(Time now, Actions& out) {
    std::int32_t sent = 0;
    for (std::int32_t tried = 0; tried < ranks_ && sent < at_once_; ++tried) {
      const Rank v{next_victim_};
      next_victim_ = (next_victim_ + 1) % ranks_;
      if (v == self_ || !present_[static_cast<std::size_t>(index(v))] ||
          std::find(asked_.begin(), asked_.end(), v) != asked_.end()) {
        continue;
      }
      asked_.push_back(v);
      out.push_back(Send{v, StealRequest{number_, true}});
      ++sent;
    }
    // Requests stay pending at their victims, so once all have one there is nothing left to do.
    if (sent > 0 && static_cast<std::int32_t>(asked_.size()) < ranks_ - 1) {
      out.push_back(SetTimer{kBackoffTimer, now + (backoff_ << std::min(rounds_++, 4))});
      waiting_ = true;
    }
  }

  const Rank self_;
  const std::int32_t ranks_;
  const std::vector<GroupInfo> groups_;
  ReadyView ready_;
  std::int32_t at_once_ = 1;
  bool all_ = false;        // ranks, at once
  bool fixed_run_ = false;  // those that follow this one
  Time backoff_ = 0;
  std::vector<bool> present_;

  // as a thief
  std::vector<Rank> asked_;  // hold a request of ours
  std::int32_t next_victim_ = 0;
  std::uint64_t number_ = 0;
  int rounds_ = 0;
  bool waiting_ = false;  // the back-off timer is set

  // as a victim
  std::vector<Rank> requests_;  // oldest first
  std::uint64_t ticket_ = 0;
  std::map<std::uint64_t, std::vector<GroupCount>> shipping_;
};

}  // namespace

std::unique_ptr<Policy> make_faithful_stealer(const Setup& setup) { return std::make_unique<FaithfulStealer>(setup); }

}  // namespace tessera::balancer
