// When a rank tells the others its row of the state table.
#pragma once

#include <cstdint>

#include "balancer/event.hpp"
#include "balancer/mirror/table.hpp"

namespace tessera::balancer {

// Announcer broadcasts every `period` while there is work here, and after work was given or taken.
// Unless `always` (the source) it is silent while the others' table is right enough, and lets a few
// changes pass in one message: with n ranks every announcement costs n-1 messages.
//
// Invariant: when this rank has work to give that the others do not know of, an announcement goes
// out now or a timer for it is set. So nobody sleeps on a table that is wrong for long.
class Announcer {
 public:
  static constexpr std::uint32_t kPeriodTimer = 1;
  static constexpr std::uint32_t kSoonTimer = 2;
  struct Rules {
    bool always = false;
    Time period = 0;  // ns
    Time gap = 0;     // ns between two announcements at least
  };
  Announcer(Rank self, StateTable& table) : self_(self), table_(table) {}

  void assignment_changed() { changed_ = true; }
  // A rank joined that has not heard of us.
  void unheard() { unheard_ = true; }
  // Somebody was refused with `units` here, and takes that for nothing.
  void refused(Time units) { refused_at_ = std::max(refused_at_, units); }
  void timer_fired(std::uint32_t timer);
  // consider announces `own` to all others when it is time. `worth` is the least work that is
  // given.
  void consider(Time now, const MirrorState& own, Time worth, const Rules& rules, std::int32_t ranks, Actions& out);

 private:
  void announce(Time now, const MirrorState& own, std::int32_t ranks, Actions& out);
  bool off(Time believed, const MirrorState& own, Time worth) const;

  const Rank self_;
  StateTable& table_;  // our own row is what the others have
  Time last_ = -1;     // announcement; -1: none
  bool changed_ = false;
  bool unheard_ = false;
  Time refused_at_ = -1;  // units; -1: nobody since the last announcement
  double told_tasks_ = 1;
  bool period_set_ = false;
  bool period_over_ = false;
  bool soon_set_ = false;
};

}  // namespace tessera::balancer
