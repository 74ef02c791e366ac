// The simulator: whole clusters in virtual time, with the very policy objects that run live.
//
// A rank is a queue of ready fragments, some threads, and a host that tells its policy what the
// live host (runtime/balance/policy_host.cpp) would tell it, as soon and as often.
// docs/simulator.md describes the model and what it leaves out.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "balancer/policy.hpp"
#include "balancer/simulator/fabric.hpp"
#include "balancer/simulator/program.hpp"
#include "balancer/simulator/sojourns.hpp"
#include "balancer/simulator/times.hpp"
#include "balancer/simulator/workload.hpp"

namespace tessera::balancer::simulator {

// How fast one rank reaches another.
struct LinkModel {
  Time latency = 50'000;   // ns
  double bandwidth = 2e9;  // bytes per second
  Time jitter = 0;         // a message waits up to this much longer
};

// What a rank's host needs for its own work, in ns; all of it one thing after the other. While it
// is busy, messages to it wait.
struct Processing {
  Time event = 0;          // for each thing that the policy is told
  Time send = 0;           // for each message and shipment it sends
  Time plan_per_rank = 0;  // times the ranks it has heard from, when it decides about others
  Time ship = 0;           // for each fragment that it ships, and that arrives; policies know (Setup::ship_cost)
  // It sleeps, which is no work:
  Time wake = 0;   // from a change of the load that it may tell at once until it does
  Time timer = 0;  // how much later than set timers go off; also that for the next report of the load
  bool free() const { return event == 0 && send == 0 && plan_per_rank == 0 && ship == 0; }
};

// A change of the cluster while the program runs.
struct Change {
  enum class Kind { outside_load, leave, join };
  Time at = 0;
  Rank rank{0};
  Kind kind = Kind::outside_load;
  double tasks = 0;          // outside_load: tasks of others that compete for the rank's cores
  Time grace = 100'000'000;  // leave: what is still there then, the host gives to a neighbour
};

inline constexpr std::int32_t kMostRanks = 1 << 20;

struct Options {
  std::int32_t ranks = 2;
  std::int32_t threads = 1;         // that run fragments, per rank
  std::vector<std::int32_t> cores;  // by rank; missing: as many as threads
  std::vector<double> speeds;       // by rank; missing: 1
  Time latency = 50'000;            // ns
  Time jitter = 0;                  // each message waits up to this much longer
  double bandwidth = 2e9;           // bytes per second, of each rank's (host's) way out and in
  std::vector<std::int32_t> hosts;  // by rank: its host; empty: a host each
  LinkModel inside_host{1'000, 5e9, 0};
  std::vector<std::int32_t> sites;             // by host; empty: all in one
  LinkModel between_sites{1'000'000, 1e8, 0};  // one line out of, and one into, each site
  std::vector<Tier> tiers;                     // of hosts: the lines between them; not with sites
  Torus torus;                                 // or this
  Processing processing;                       // of every rank ...
  Processing coordinator;                      // ... but of those that execute nothing
  std::vector<Change> changes;
  std::vector<Rank> absent;  // not there at the start
  std::uint64_t seed = 1;
  std::string balancer = "central";
  Settings settings;
  std::int64_t event_limit = 50'000'000;
  std::size_t slices = 0;  // of time, for Outcome::utilisation; at least 2, or 0 for none
  Times* record =
      nullptr;            // of a graph: when and where each fragment ran, and what went on around it; null: nobody asks
  Time watch = 0;         // look this often for ranks that starve while others have plenty; 0: never
  bool run_ahead = true;  // false: every end of an item goes through the queue; same outcome, slower
};

struct Outcome {
  Time finished = 0;   // the last fragment ended
  Time quiet = 0;      // the last event of all
  bool ended = false;  // the events ran out before event_limit
  std::int64_t executed = 0;
  std::int64_t turns = 0;          // of these, iterations of ranges: no fragments to a person
  std::int64_t events = 0;         // taken from the queue, and fragments that ran without one
  std::int64_t messages = 0;       // between policies
  std::int64_t shipments = 0;      // with something in them
  std::int64_t moved = 0;          // fragments
  std::int64_t bytes_moved = 0;    // inputs that travelled with them
  std::int64_t bytes_fetched = 0;  // values and news that fragments waited for
  std::int32_t most_moves = 0;     // of one fragment
  // With Options::watch: the longest that a rank had nothing at all while some rank had more waiting than
  // its threads were about to take, and one each for all that had nothing.
  Time longest_starved = 0;
  Time idle_beside_ready = 0;       // with it, too: thread-time that had nothing while fragments waited on other ranks
  std::int32_t executing = 0;       // ranks that may run fragments
  std::vector<Time> busy;           // by rank: threads x time
  std::vector<Time> ends;           // by rank: when its last fragment ended; 0: it ran none
  std::vector<std::int64_t> items;  // by rank: fragments it ran
  std::vector<std::int64_t> received;  // by rank: policy messages
  std::vector<Time> host_busy;         // by rank: time its host worked for the policy, until `finished`
  // Options::slices numbers per rank: thread-time in each slice of `slice` ns.
  std::vector<Time> utilisation;
  Time slice = 0;
  Time work = 0;           // sum of the weights
  Time critical_path = 0;  // ns on a rank of speed 1
  Time bound = 0;          // no schedule ends before: max(work / power, critical path)
  Sojourns sojourns;       // of items that come while others run: Program::came
  std::string result;      // of the program
  std::map<std::string, std::int64_t> decisions;
  std::vector<std::string> faults;  // what must never happen; empty

  double efficiency() const { return finished > 0 ? static_cast<double>(bound) / static_cast<double>(finished) : 1; }
  // (max - min) / mean of the busy times of the ranks that execute.
  double imbalance() const;
};

// All work together, and any time, must be below this: 126 years.
inline constexpr Time kLatest = 4'000'000'000'000'000'000;

// More work than time can count, for a person.
struct SimulationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// simulate runs the program to its end. Same arguments, same outcome. Options must be sound:
// check_options. Throws SimulationError.
Outcome simulate(const Workload&, const Options&);
Outcome simulate(Program&, const Options&);

// How many ranks of these options execute fragments: all, or all but the coordinators.
std::int32_t executing_ranks(const Options&);
// check_options returns what is wrong, for a person; empty: nothing.
std::vector<std::string> check_options(const Options&);

}  // namespace tessera::balancer::simulator
