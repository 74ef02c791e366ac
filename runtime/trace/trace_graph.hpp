// TraceGraph puts what the workers of all ranks wrote down (trace_buffer.hpp) together: a workload for
// the simulator. Values and CFs have the same names on every rank, so the same program gives the same
// graph on any number of ranks and threads, under any balancer; only the weights differ.
//
// What `>> (y)` and other ends of a scope assign comes from no fragment. A *join* stands for each of
// them that somebody reads: a fragment of no weight, made by who opened the scope, which reads nothing
// of all that ran under it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "balancer/simulator/workload.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/trace/trace_buffer.hpp"

namespace tessera::runtime {

class TraceGraph {
 public:
  // The parts of one worker in their order, workers and ranks in any.
  void add(Rank from, const TracePart&);
  // The graph. `group`: by block; `join_group`: the group of a join of what began with a fragment of
  // that block's. False: it does not hang together, which is a bug of ours.
  using JoinGroup = std::function<balancer::Group(std::uint32_t block)>;
  bool build(const std::vector<balancer::Group>& group, const JoinGroup& join_group,
             balancer::simulator::Workload& out);

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Run {
    TraceKey key;              // of an iteration: its range's
    std::int64_t number = -1;  // of an iteration
    balancer::Time weight = 0;
    std::int64_t output = 0;
    std::size_t birth = kNone, parent = kNone;
    std::size_t first_input = 0, inputs = 0;
    std::uint32_t group = 0;
  };
  struct Birth {
    TraceKey key;
    std::size_t by;
    std::int64_t home;
    std::uint64_t series = 0;  // 0: of none
    std::size_t join = kNone;
  };
  struct Made {
    TraceKey value;
    std::size_t by;  // a run; or join number by - runs
    friend bool operator<(const Made& a, const Made& b) { return a.value < b.value; }
  };
  struct Join {
    std::size_t by;
    std::vector<TraceKey> values;
    bool read = false;
    std::uint32_t group = 0;
  };
  struct Used {
    TraceKey value;
    std::int64_t bytes;
    std::size_t from = kNone;
  };
  // What is open of a worker, as far as it has been read.
  struct Stream {
    std::vector<std::size_t> open;
    std::vector<Used> inputs;   // of the last one; parts of other workers may come between
    std::size_t ended = kNone;  // join of the last `ends`, until something is born
    std::uint64_t series = 0;   // of the next born one
  };

  void take(Stream&, TraceWord, std::uint64_t payload, const std::uint64_t* words, double ns);
  void put_inputs(Stream&);
  void born(Stream&, std::uint64_t payload, TraceKey);
  bool find_parents();
  void find_inputs();
  void list_children();
  void number_all();
  void put_joins(balancer::simulator::Workload&, const JoinGroup&) const;
  std::vector<std::size_t> under(const Join&, std::size_t join) const;
  std::size_t place_of(std::size_t run_or_join) const { return place_[run_or_join]; }

  std::vector<Run> runs_;
  std::vector<Birth> births_;
  std::vector<Made> made_;
  std::vector<Used> used_;
  std::vector<Join> joins_;
  std::map<std::pair<Rank, std::int32_t>, Stream> streams_;
  std::size_t root_ = kNone;
  // children_[first_child_[r] .. first_child_[r + 1]): in the order of the program.
  std::vector<std::size_t> first_child_, children_;
  std::vector<std::size_t> place_;  // in the workload, of runs, then of joins; kNone: not there
  std::vector<std::size_t> order_;  // runs and joins by place
};

}  // namespace tessera::runtime
