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

#include "balancer/simulator/trace.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/trace/trace_buffer.hpp"

namespace tessera::runtime {

class TraceGraph {
 public:
  // Makes room for what these will become; before the first `add`. Else more is taken than is needed.
  void expect(const std::vector<std::pair<Rank, TracePart>>& parts);
  // The parts of one worker in their order, workers and ranks in any.
  void add(Rank from, const TracePart&);
  // There was no room for all: leaves what ran from then on, on the clock of rank 0; before build.
  void since(balancer::Time from);
  bool nothing_left() const { return runs_.empty(); }
  // Leaves what was before that time, when a signal ended the run: what was open ends then; before build, and `since`.
  void until(balancer::Time at);
  // Puts it together. `group`: by block; `join_group`: the group of a join of what began with a fragment of
  // that block's. False: it does not hang together, which is a bug of ours.
  using JoinGroup = std::function<balancer::Group(std::uint32_t block)>;
  bool build(std::vector<balancer::Group> group, const JoinGroup& join_group);
  // Blocks whose loops may be run by every rank; before build.
  void spreads(std::vector<bool> by_block) { spreads_ = std::move(by_block); }

  // Before build: turns of it were skipped, since an earlier run has had them; what comes after these has no parent.
  void goes_on() { whole_ = false; }

  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);
  // A value that came to a rank by a message.
  struct Came {
    Rank rank;
    TraceKey value;
    balancer::Time at;
    bool along = false;         // with a fragment that reads it, also where it was already
    balancer::Time asked = -1;  // when that rank first asked for it; -1: it did not
    std::uint32_t by = kNone;   // a fragment: it ran there then, or had just come there; kNone: none, or not known
    friend auto operator<=>(const Came&, const Came&) = default;
  };
  // A rank asked another one for a value.
  struct Question {
    Rank rank;
    TraceKey value;
    balancer::Time at;
    std::uint32_t by = kNone;  // as in Came
    bool request = false;      // by that message
    friend auto operator<=>(const Question&, const Question&) = default;
  };
  // After build: those that workers asked, and whether a rank made a value itself.
  std::vector<Question> questions() const;
  bool made_on(Rank, TraceKey value) const;

  // After build: the graph; when and where all ran. `came` is sorted, times count from `zero` on.
  void put_fragments(const balancer::simulator::TracePieces::PutFragment&) const;
  void put_bars(const std::vector<Came>& came, balancer::Time zero,
                const balancer::simulator::TracePieces::PutBar&) const;
  // LastInput: which of a fragment's inputs was the last one on a rank, and since when; -1: it has none, or that is not
  // known.
  struct LastInput {
    balancer::Time since = -1;
    std::int32_t input = -1;
    balancer::Time asked = -1;  // as in Came
    std::uint32_t by = kNone;
  };
  // On that rank, which the fragment left then.
  LastInput inputs_on(std::uint32_t fragment, Rank, balancer::Time left, const std::vector<Came>&) const;
  // The fragment that a run's key names; kNone: none. Those of a range's iterations from `first` to `last`.
  std::uint32_t fragment_of(TraceKey);
  void iterations_of(TraceKey range, std::int64_t first, std::int64_t last,
                     const std::function<void(std::uint32_t fragment)>&);

 private:
  using Index = std::uint32_t;
  struct Run {
    TraceKey key;             // of an iteration: its range's
    std::int64_t number = 0;  // of an iteration; else where in numbers_ its numbers begin
    balancer::Time start = 0, end = 0, weight = 0;
    std::int64_t output = 0;
    Index birth = kNone;
    Index outer = kNone;  // inside which it ran on the spot
    Index same = kNone;   // as this one before it: an iteration that another rank ran, too
    Index first_input = 0, inputs = 0;
    std::uint32_t numbers = 0;
    std::uint32_t block : 31 = 0, iteration : 1 = 0;
    std::int32_t rank = 0, worker = 0;
  };
  struct Birth {
    TraceKey key;
    Index by;
    std::int32_t home;
    Index series = 0;  // in series_; 0: of none
    Index join = kNone;
  };
  struct Made {
    TraceKey value;
    Index by;  // a run; or join number by - runs
    friend bool operator<(const Made& a, const Made& b) { return a.value < b.value; }
  };
  struct Join {
    Index by;
    std::vector<TraceKey> values;
    bool read = false;
    std::uint32_t block = 0;
    balancer::Group group{0};
  };
  struct Used {
    TraceKey value;
    std::int64_t bytes;
    Index from = kNone;
  };
  struct Asked {
    TraceKey value;
    balancer::Time at;
    Index by;  // a run, or kNone
    std::int32_t rank;
    bool request;
  };
  // What is open of a worker, as far as it has been read.
  struct Stream {
    std::vector<Index> open;
    Run iterated{};              // the last iteration that ended
    std::vector<Used> inputs;    // of the last one; parts of other workers may come between
    Index ended = kNone;         // join of the last `ends`, until something is born
    Index series = 0;            // of the next born one
    std::uint64_t last_end = 0;  // ticks
  };

  static const Came* came_to(const std::vector<Came>&, Rank, TraceKey value, balancer::Time before);
  void take(Stream&, TraceWord, std::uint64_t payload, const std::uint64_t* words, const TracePart&);
  void open(Stream&, Run);
  void open_next(Stream&);  // the next iteration of what was iterated last
  void end(Stream&, std::uint64_t ticks, balancer::Time);
  // What ran on the spot has its own weight.
  void weigh();
  void merge_iterations();
  bool in_spread(Index run) const;
  void put_inputs(Stream&);
  void keep_runs(const std::function<bool(Run&)>& stays);
  void born(Stream&, std::uint64_t payload, TraceKey);
  bool find_parents();
  void find_inputs();
  void list_children();
  void number_all();
  void put_joins(const balancer::simulator::TracePieces::PutFragment&) const;
  std::vector<Index> under(const Join&, Index join) const;
  Index place_of(Index run_or_join) const { return place_[run_or_join]; }
  Index first_of(Index run) const { return runs_[run].same == kNone ? run : runs_[run].same; }
  Index parent_of(Index run) const { return runs_[run].birth == kNone ? kNone : births_[runs_[run].birth].by; }
  // Of runs that are (no) iterations; sorted.
  std::vector<Index> those(bool iterations) const;

  std::vector<Run> runs_;
  TraceKey fresh_ = 0;  // of the last one that ran right after its birth; those of others are spread over all numbers
  std::vector<Birth> births_;
  std::vector<Made> made_;
  std::vector<Used> used_;
  std::vector<Asked> asked_;
  std::vector<Join> joins_;
  std::map<std::pair<Rank, std::int32_t>, Stream> streams_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::uint64_t> series_{0};
  std::map<std::uint64_t, Index> series_of_;
  std::vector<bool> spreads_;
  std::vector<Index> by_key_, by_number_;  // when somebody asks
  std::vector<Index> roots_;               // `main`; and, of the end of a run, what was made before
  std::vector<balancer::Group> group_;     // by block
  bool whole_ = true;
  Index fragments_ = 0;  // runs that are not the same as another
  // children_[first_child_[r] .. first_child_[r + 1]): in the order of the program.
  std::vector<Index> first_child_, children_;
  std::vector<Index> place_;  // in the graph, of runs, then of joins; kNone: not there
  std::vector<Index> order_;  // runs and joins by place
};

}  // namespace tessera::runtime
