// What a run tells at its end: the text summary on stderr, the JSON file, the profile of groups.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/comm/messages.hpp"
#include "runtime/start/facts.hpp"

namespace tessera::runtime {

class LinkMeter;
class RankEvents;

// What rank 0 knows when a run is over.
struct RunOver {
  const RunFacts& facts;
  const double seconds;
  const std::vector<Totals>& totals;  // by rank
  const LinkMeter& links;
  const RankEvents* events;  // --record; null: not asked for
  std::vector<std::pair<Rank, TracePart>>& trace_parts;
  const bool interrupted = false;  // a signal has ended it
};

struct Summary {
  const abi::Program* program = nullptr;
  std::string balancer;
  std::int32_t worker_ranks = 1;
  double seconds = 0;
  bool interrupted = false;  // by a signal
  std::vector<Totals> ranks;
  std::vector<GroupTotals> groups;  // merged, heaviest first
  std::vector<std::string> hosts;   // by rank, where there are several hosts
  std::vector<double> powers;       // relative speeds by rank, as the balancer was told; missing: 1

  // s: all of the run, unless the rank was a spare, or left.
  double took_part(const Totals&) const;
  // Share of the workers' time spent in kernels, 0..1.
  double efficiency() const;
  // (max - min) / mean of the busy time of the ranks that execute; 0 for one.
  double imbalance() const;
  // Whether that says something: of fewer kernels than ranks, or hardly any work, it does not.
  bool tells_imbalance() const;
  // That other things ran on the workers' cores; empty: not so many.
  std::string crowded() const;
  // How many times longer the fastest rank alone would have been busy, and what that can be at best:
  // the sum of the ranks' powers, the fastest's being 1. Powers count threads.
  double speed_up() const;
  double optimum() const;
  // The rank that took most memory. Of it: the names of data fragments that held most, when they held most together,
  // and about how much; at most three.
  std::size_t most_memory() const;
  std::vector<std::pair<std::string, double>> held() const;
  std::string decision() const;  // the balancer's verdict in one line, may be empty
};

Summary summarise(const RunOver&);
std::string text_of(const Summary&);
std::string json_of(const Summary&);

}  // namespace tessera::runtime
