// What a policy is told and what it answers. Both sets are closed; times are integers (ns), and
// nothing here knows of MPI, threads or a clock.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "balancer/message.hpp"
#include "balancer/types.hpp"

namespace tessera::balancer {

// ---- events: past tense

// The ready fragments of some groups here are now `ready` (absolute; groups not named are as
// before), and `finished` have completed since the last such event. Also told, be it empty, after an
// Arrived or Shipped, when all is as it was before: what came may have run already; and after a WentBusy.
struct LoadChanged {
  std::vector<GroupLoad> ready;
  std::vector<GroupDone> finished;
};
struct WentIdle {};  // no fragment is ready or running here; told after the LoadChanged that says so
struct WentBusy {};  // the opposite; told just before a LoadChanged, which policies wait for
struct Received {
  Rank from;
  Message message;
};
struct Arrived {  // shipped fragments came in (a LoadChanged that shows them comes after)
  Rank from;
  std::vector<GroupCount> fragments;
  std::uint64_t ticket = 0;  // of the Ship action at `from`
};
// The Ship action with this ticket was carried out, with what really moved. Comes before any
// LoadChanged that shows it.
struct Shipped {
  std::uint64_t ticket;
  Rank to;
  std::vector<GroupCount> fragments;
  std::int64_t bytes;  // of the inputs that were sent along, and of the outputs to be expected
};
struct TimerFired {
  std::uint32_t timer;
};
struct LinkMeasured {  // between this rank and `peer`
  Rank peer;
  Time latency;      // ns, one way
  double bandwidth;  // bytes per second
};
struct RankLeaving {  // `rank` may be this one: it gives all it has away and takes nothing
  Rank rank;
};
struct RankJoined {
  Rank rank;
};
// Tasks of others that compete with this rank for its cores, mean over the last while: 0 means
// that the rank has its cores for itself.
struct OutsideLoad {
  double tasks;
};

// Fragments of series that have run here since the last such event, in the order in which they ended. Told before the
// LoadChanged that counts them, to policies that settle series (PolicyInfo::settles).
struct SeriesRan {
  std::vector<SeriesWork> ran;
};

using Event = std::variant<LoadChanged, WentIdle, WentBusy, Received, Arrived, Shipped, TimerFired, LinkMeasured,
                           RankLeaving, RankJoined, OutsideLoad, SeriesRan>;

// ---- actions: imperative

struct Send {
  Rank to;
  Message message;
};
struct Ship {  // answered by a Shipped event, maybe with fewer or none
  std::uint64_t ticket;
  Rank to;
  std::vector<GroupCount> fragments;
};
struct SetTimer {  // replaces a pending timer of the same number
  std::uint32_t timer;
  Time at;
};
struct CancelTimer {
  std::uint32_t timer;
};
struct Decide {     // for the trace and the summary; has no effect
  std::string why;  // "moved" or why nothing moves: "transfer costs more than it saves", ...
  Rank from{-1};
  Rank to{-1};
  std::vector<GroupCount> fragments;
  Time load_from = 0;
  Time load_to = 0;
};

struct SettleSeries {  // these series belong here: from now on their fragments run there
  std::vector<SeriesPlace> places;
};

using Action = std::variant<Send, Ship, SetTimer, CancelTimer, Decide, SettleSeries>;
using Actions = std::vector<Action>;

}  // namespace tessera::balancer
