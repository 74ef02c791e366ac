// TraceGraph puts what the workers of all ranks wrote down (trace_buffer.hpp) together: a workload for
// the simulator. Values and CFs have the same names on every rank, so the same program gives the same
// graph on any number of ranks and threads, under any balancer; only the weights differ.
//
// A loop that every rank runs (spread-loops) leaves each of its iterations on every rank: in the graph they are one.
//
// What `>> (y)` and other ends of a scope assign comes from no fragment. A *join* stands for each of
// them that somebody reads: a fragment of no weight, made by who opened the scope, which reads nothing
// of all that ran under it.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "balancer/simulator/times.hpp"
#include "balancer/simulator/workload.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/trace/trace_buffer.hpp"

namespace tessera::runtime {

class TraceGraph {
 public:
  // The parts of one worker in their order, workers and ranks in any.
  void add(Rank from, const TracePart&);
  // There was no room for all: leaves what ran from then on, on the clock of rank 0; before build.
  void since(balancer::Time from);
  // Leaves what was before that time, when a signal ended the run: what was open ends then; before build, and `since`.
  void until(balancer::Time at);
  // The graph. `group`: by block; `join_group`: the group of a join of what began with a fragment of
  // that block's. False: it does not hang together, which is a bug of ours.
  using JoinGroup = std::function<balancer::Group(std::uint32_t block)>;
  bool build(const std::vector<balancer::Group>& group, const JoinGroup& join_group,
             balancer::simulator::Workload& out);
  // Blocks whose loops may be run by every rank; before build.
  void spreads(std::vector<bool> by_block) { spreads_ = std::move(by_block); }

  // A value that came to a rank by a message.
  struct Came {
    Rank rank;
    TraceKey value;
    balancer::Time at;
    friend auto operator<=>(const Came&, const Came&) = default;
  };
  // When and where all ran; after build. `came` is sorted, times count from `zero` on. Gives the memory of the graph
  // up.
  void times(const std::vector<Came>& came, balancer::Time zero, balancer::simulator::Times& out);
  // The fragment that a run's key names; kNone: none.
  std::size_t fragment_of(TraceKey) const;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

 private:
  struct Run {
    TraceKey key;              // of an iteration: its range's
    std::int64_t number = -1;  // of an iteration
    bool iteration = false;
    balancer::Time weight = 0;
    std::int64_t output = 0;
    std::size_t birth = kNone, parent = kNone;
    std::size_t outer = kNone;  // inside which it ran on the spot
    std::size_t first_input = 0, inputs = 0;
    std::uint32_t block = 0;
    std::int32_t rank = 0, worker = 0;
    std::size_t same = kNone;  // as this one before it: an iteration that another rank ran, too
    balancer::Time start = 0, end = 0;
    std::size_t first_number = 0, numbers = 0;
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
    std::uint32_t block = 0;
  };
  struct Used {
    TraceKey value;
    std::int64_t bytes;
    std::size_t from = kNone;
  };
  // What is open of a worker, as far as it has been read.
  struct Stream {
    std::vector<std::size_t> open;
    Run iterated;               // the last iteration that ended
    std::vector<Used> inputs;   // of the last one; parts of other workers may come between
    std::size_t ended = kNone;  // join of the last `ends`, until something is born
    std::uint64_t series = 0;   // of the next born one
  };

  void take(Stream&, TraceWord, std::uint64_t payload, const std::uint64_t* words, const TracePart&);
  void open(Stream&, Run);
  // What ran on the spot has its own weight.
  void weigh();
  void merge_iterations();
  bool in_spread(std::size_t run) const;
  void put_inputs(Stream&);
  void keep_runs(const std::function<bool(Run&)>& stays);
  void born(Stream&, std::uint64_t payload, TraceKey);
  bool find_parents();
  void find_inputs();
  void list_children();
  void number_all();
  void put_joins(balancer::simulator::Workload&, const JoinGroup&) const;
  std::vector<std::size_t> under(const Join&, std::size_t join) const;
  std::size_t place_of(std::size_t run_or_join) const { return place_[run_or_join]; }
  std::size_t first_of(std::size_t run) const { return runs_[run].same == kNone ? run : runs_[run].same; }

  std::vector<Run> runs_;
  std::vector<Birth> births_;
  std::vector<Made> made_;
  std::vector<Used> used_;
  std::vector<Join> joins_;
  std::map<std::pair<Rank, std::int32_t>, Stream> streams_;
  std::vector<std::int64_t> numbers_;
  std::vector<bool> spreads_;
  std::vector<std::pair<TraceKey, std::size_t>> by_key_;  // runs that are no iterations; sorted
  std::vector<std::size_t> roots_;                        // `main`; and, of the end of a run, what was made before
  bool whole_ = true;
  std::size_t fragments_ = 0;  // runs that are not the same as another
  // children_[first_child_[r] .. first_child_[r + 1]): in the order of the program.
  std::vector<std::size_t> first_child_, children_;
  std::vector<std::size_t> place_;  // in the workload, of runs, then of joins; kNone: not there
  std::vector<std::size_t> order_;  // runs and joins by place
};

}  // namespace tessera::runtime
