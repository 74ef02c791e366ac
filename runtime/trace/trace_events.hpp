// TraceEvents: what the ranks wrote down beside their workers' runs (rank_events.hpp), as times of a trace. Rank 0, at
// the end.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "balancer/simulator/times.hpp"
#include "runtime/trace/trace_graph.hpp"

namespace tessera::runtime {

class TraceEvents {
 public:
  // `zero`: when the run began, on the clock of rank 0.
  explicit TraceEvents(balancer::Time zero) : zero_(zero) {}
  balancer::Time zero() const { return zero_; }
  using GroupOf = std::function<balancer::Group(std::uint32_t block)>;
  void add(Rank from, const TracePart&, const GroupOf&, balancer::simulator::Times&);
  // The values that came to ranks, and when these had asked; sorted, and for once. After the graph is built.
  std::vector<TraceGraph::Came> came(TraceGraph&);
  // Of a run that is whole: questions of which came() has found no answer, and Requests that nobody has noted. There
  // are none, or the record is wrong.
  std::int64_t unattached() const { return unattached_; }
  // Fragments that came to ranks, when the graph knows which they are.
  void moves(TraceGraph&, const std::vector<TraceGraph::Came>&, balancer::simulator::Times&) const;

 private:
  struct Arrived {
    TraceKey key;
    balancer::Time at;
    Rank from, to;
    bool by_policy;
    bool part = false;  // of a range: these of its iterations
    std::int64_t first = 0, last = 0;
  };
  const balancer::Time zero_;
  struct Asked {
    Rank rank;
    TraceKey value, by;
    balancer::Time at;
    bool request;
  };
  std::vector<TraceGraph::Came> came_;
  std::vector<Asked> asked_;
  std::map<Rank, std::int64_t> requests_;  // that came, by who sent them
  std::int64_t unattached_ = 0;
  std::vector<Arrived> arrived_;
};

}  // namespace tessera::runtime
