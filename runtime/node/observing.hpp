// Observing: what a rank measures, tells and writes down of itself while it runs: how far it is (progress, status),
// what runs for long, who is silent, what `--record` keeps; on rank 0 also what the others tell. Communication thread,
// but for what workers count and write down.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/comm/messages.hpp"
#include "runtime/report/summary.hpp"
#include "runtime/report/totals.hpp"
#include "runtime/threads/threads.hpp"
#include "runtime/trace/rank_events.hpp"

namespace tessera::runtime {

class Communicator;
class Crew;
class DataFragments;
class Held;
class Members;
class Progress;
class RunningNow;
class StatusBoard;
class TraceBuffer;
class Transport;
class Watch;
struct RunFacts;

// What went from rank to rank.
struct Moves {
  explicit Moves(std::size_t groups) : by_group(groups), followed(groups) {}
  std::atomic<std::int64_t> in{0}, out{0}, shipments{0};
  std::vector<std::int64_t> by_group;               // away; communication thread
  std::vector<std::atomic<std::int64_t>> followed;  // ran where the policy had moved those before them (settled)
};

class Observing {
 public:
  struct Parts {
    const RunFacts& facts;
    const Members& members;
    Communicator& comm;
    Transport& transport;
    Crew& crew;
    DataFragments& data;
    const Held& held;
  };
  // `complete`: adds what only the rank knows of itself. `stopped`: the rank has heard that the run ends; nobody is
  // answered from then on.
  Observing(const Parts&, std::function<void(Totals&)> complete, std::function<bool()> stopped);
  ~Observing();

  void prepare();                         // before the policy
  void begin(Clock::time_point started);  // before the first fragment
  void turn(Clock::time_point now);
  Clock::time_point next(Clock::time_point now, Clock::time_point until) const;  // `until`, or sooner
  Totals own(bool final, const AskTotals& asked = {});

  void on(Rank from, Totals&&);
  void on(Rank from, const AskTotals&);
  void on(Rank from, Beat&&);
  void on(Rank from, TracePart&&);
  template <class M>
  requires requires(RankEvents& e, const M& m) { e.on(Rank{}, m); }
  void on(Rank from, const M& m) {
    if (events_ != nullptr && !stopped_()) events_->on(from, m);
  }

  // A worker has ended, this thread: what its processor did for it.
  void worker_ended();
  // A worker wants what another rank has. It asks in the middle of what it runs: so it is known who held that up.
  void asked(const abi::Worker&, const abi::Name&, const abi::Cf* by, bool request, std::uint64_t began);
  RankEvents* events() const { return events_.get(); }   // null: nothing is recorded
  StatusBoard* status() const { return status_.get(); }  // null: nobody can ask

  // ---- the run is over
  void ended(Clock::time_point started);
  void clear_line();
  void give(Totals own);        // to rank 0
  void give_trace(bool whole);  // likewise; the workers have ended, or are sealed
  bool watches() const { return watch_ != nullptr; }
  const TotalsOfAll& totals() const { return *totals_; }
  // Rank 0, when all have come.
  RunOver over(const std::vector<Totals>& by_rank, const LinkMeter&, bool signalled);

  Moves moves;

 private:
  const Parts of_;
  const std::function<void(Totals&)> complete_;
  const std::function<bool()> stopped_;
  std::unique_ptr<TotalsOfAll> totals_;
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<StatusBoard> status_;  // rank 0
  std::unique_ptr<RunningNow> running_;
  std::unique_ptr<Watch> watch_;                      // of several processes
  std::shared_ptr<RecordRoom> room_;                  // --record
  std::vector<std::unique_ptr<TraceBuffer>> traces_;  // by worker
  std::unique_ptr<RankEvents> events_;
  std::vector<std::pair<Rank, TracePart>> trace_parts_;  // rank 0
  double cpu_before_ = 0;                                // s, of this process: it may have compiled the program
  double elapsed_ = 0;                                   // s, of the finished run
  std::atomic<std::int64_t> worker_cpu_ns_{0};           // of workers that have ended
  std::atomic<std::int64_t> worker_no_core_ns_{0};       // ... in which they could have run and had no core
};

}  // namespace tessera::runtime
