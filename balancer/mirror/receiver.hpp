// The side of `mirror` that ran dry.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "balancer/event.hpp"
#include "balancer/mirror/table.hpp"

namespace tessera::balancer {

// Receiver asks one rank after the other, in the order of the table, until one gives. When none
// did it sleeps until an announcement shows work, and not for ever shorter: failures in a row back
// off.
//
//   Resting -> Searching -> Resting (work came) | Asleep -> Searching (work announced)
class Receiver {
 public:
  static constexpr std::uint32_t kTimer = 3;
  Receiver(Rank self, Time backoff, bool asks_empty, StateTable& table)
      : self_(self), backoff_(backoff), asks_empty_(asks_empty), table_(table) {}

  void refused(Rank from, const MirrorRefusal& refusal);
  void work_came(Rank from);
  void work_announced() { news_ = true; }
  void timer_fired() { timer_set_ = false; }
  void left(Rank rank);
  // What this rank wants, and is.
  struct Need {
    bool hungry;
    bool idle;
    Time worth;  // units: the least work to ask for
    double speed;
    double tasks;
    Time done;  // units that were run here
  };
  // consider goes on from where the above led.
  void consider(Time now, const Need& need, Actions& out);

 private:
  struct Resting {};
  struct Searching {
    std::vector<Rank> order;  // the next one last
    bool asked = false;       // somebody, at all
    bool waiting = false;     // for order.back() ...
    bool idle = false;        // ... asked with nothing running here
  };
  struct Asleep {};
  using Mode = std::variant<Resting, Searching, Asleep>;

  Mode search(Searching s, Time now, const Need& need, Actions& out);

  const Rank self_;
  const Time backoff_;
  const bool asks_empty_;  // the source: ranks without work in the table are asked as well
  StateTable& table_;
  Mode mode_ = Resting{};
  std::uint64_t number_ = 0;
  int failures_ = 0;  // in a row
  Time not_before_ = 0;
  bool news_ = false;  // since the last search began
  bool timer_set_ = false;
};

}  // namespace tessera::balancer
