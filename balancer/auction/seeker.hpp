// The side of an auction that looks for work.
#pragma once

#include <cstdint>
#include <set>
#include <variant>
#include <vector>

#include "balancer/event.hpp"

namespace tessera::balancer {

// Seeker runs this rank's auctions, one at a time: asks all neighbours for their load, then the
// most loaded for work, then the next best; when nobody gives it tells all neighbours that it is
// unloaded and sleeps until one wakes it.
//
// Invariant: told_ are the neighbours that remember this rank as unloaded (or will, once the
// message is there). Whoever of them has surplus later sends a wake-up, so with all of them told it
// is safe to sleep without a timer, and to go back to sleep without asking after work that came by
// itself.
//
//   Resting -> Asking -> Requesting -> Resting (work came)
//                  \_________\________-> Asleep -> Asking (woken), Resting (work came by itself)
class Seeker {
 public:
  static constexpr std::uint32_t kTimer = 1;
  struct Rules {
    std::int64_t attempts = 3;  // answers tried in one auction
    Time backoff = -1;          // ns after a failed auction; doubles up to 16 times; -1: an auction's
  };
  explicit Seeker(const Rules& rules) : rules_(rules) {}

  void set_neighbours(std::vector<Rank> neighbours);
  void answered(Rank from, const AuctionAnswer& answer);
  void refused(Rank from, const AuctionRefusal& refusal);
  void work_came(Rank from);
  void woken(Rank by) { told_.erase(by); }
  void timer_fired() { timer_set_ = false; }
  void left(Rank rank);
  // consider goes on from where the above led. `hungry`: this rank has nothing ready and wants
  // some. `latency`: one way, the longest.
  void consider(Time now, bool hungry, Time latency, Actions& out);

 private:
  struct Answer {
    Rank rank;
    std::int64_t load;
  };
  struct Resting {};
  struct Asking {
    std::set<Rank> awaited;
    std::vector<Answer> answers;
  };
  struct Requesting {
    std::vector<Answer> candidates;  // best last
    std::int64_t tried = 0;
    bool waiting = false;  // for candidates.back()
  };
  struct Asleep {};
  using Mode = std::variant<Resting, Asking, Requesting, Asleep>;

  bool everyone_knows() const { return told_.size() == neighbours_.size(); }
  Mode open(Actions& out);
  Mode close(const Asking& asking) const;
  Mode request(Requesting r, Time now, Actions& out);
  Mode fail(Time now, Actions& out);

  const Rules rules_;
  std::vector<Rank> neighbours_;
  std::set<Rank> told_;
  Mode mode_ = Resting{};
  std::uint64_t number_ = 0;  // of the running auction
  int failures_ = 0;          // in a row
  Time auction_ = 0;          // ns from its first question to the work
  Time not_before_ = 0;       // the next auction
  bool timer_set_ = false;
};

}  // namespace tessera::balancer
