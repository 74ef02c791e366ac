// Node: everything one rank is made of. One object per rank; with the in-process transport several
// live in one process and share nothing but the transport's queues.
//
// Threads: W workers run fragments. One thread at a time holds the communication role: it moves the
// transport on, handles arriving messages, drives the policy and the end of the run; comments call
// it the communication thread. It is a thread of its own while the workers are busy, and an idle
// worker otherwise, so that a message that makes a short fragment ready is answered without waking
// anybody (node/role.hpp).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/comm/communicator.hpp"
#include "runtime/cores/share.hpp"
#include "runtime/data/data_fragments.hpp"
#include "runtime/data/holds.hpp"
#include "runtime/data/scopes.hpp"
#include "runtime/memory/held.hpp"
#include "runtime/node/backlogs.hpp"
#include "runtime/node/needs.hpp"
#include "runtime/node/retained.hpp"
#include "runtime/node/role.hpp"
#include "runtime/start/facts.hpp"
#include "runtime/start/members.hpp"
#include "runtime/threads/threads.hpp"
#include "runtime/work/crew.hpp"
#include "runtime/work/pileup.hpp"

namespace tessera::runtime {
class Node;
class PolicyHost;
class EndOfRun;
class Evacuation;
class Horizons;
class Membership;
class Observing;
class Sweeping;
class LinkMeter;
class OutsideLoad;
namespace journal {
class Journal;
}  // namespace journal
}  // namespace tessera::runtime

namespace tessera::runtime {

// What abi::ranks() says; all ranks of a process are of one run.
void set_placed_ranks(std::int32_t n);

class Node final : public Surroundings {
 public:
  Node(const abi::Program& program, const RunOptions& options, Transport& transport,
       std::vector<std::string> arguments);
  ~Node();

  // Before run().
  void keep_journal(std::unique_ptr<journal::Journal>);

  // Runs the program to its end; every rank of the run calls it. Returns the exit code.
  int run();

  // ---- fragments (node/execute.cpp); worker threads
  void submit(Worker&, Cf*);  // new fragment: place it, gather its inputs, run or queue it
  void ready(Worker&, Cf*, bool may_run_now);
  void enroll(Cf*) final;
  void leave_scope(Worker&, ScopeRecord*, std::int64_t count = 1) final;
  // Fragments move (node/moving.cpp): one, by its locator; it leaves with depart(). `brought`: it has come here, and
  // what came with it goes on.
  void place(Worker&, Cf*, Rank to, bool brought = false);
  static void let_go(Cf*);  // of what it may still read of swept names (fragment/horizon.hpp; node/hulls.cpp)

  void fail(const std::string& text, int exit_code) final;  // any thread, first one wins
  void wake_communication();

  std::int32_t ranks() const { return facts.ranks; }
  Rank self() const { return scopes.self(); }

  // The rooms, from below.
  RunFacts facts;
  Transport& transport;
  Members members;  // which of these take part
  Communicator comm;
  std::unique_ptr<Horizons> horizons;  // of several ranks
  Scopes scopes;
  DataFragments data;
  Holds holds;
  const std::shared_ptr<Held> held = std::make_shared<Held>(facts.program.block_count);
  Backlogs backlogs;
  Pileup pileup;
  const cores::Share share;  // of the host's cores
  Crew crew;
  Needs needs;
  Retained retained;  // series that belong here and run elsewhere
  std::unique_ptr<PolicyHost> policy;
  std::unique_ptr<LinkMeter> links;
  std::unique_ptr<Observing> observing;
  std::unique_ptr<EndOfRun> end;
  std::unique_ptr<Evacuation> evacuation;
  std::unique_ptr<Sweeping> sweeping;  // of several ranks
  std::unique_ptr<Membership> membership;
  std::unique_ptr<journal::Journal> journal;
  // Set before run().
  std::vector<std::pair<Rank, Parcel>> early;  // came before this rank knew that the run begins
  std::atomic<bool> stopping{false};
  std::atomic<bool> failed{false};

 private:
  // ---- fragments (node/execute.cpp); worker threads
  // Without asking its locator; of DataFragments::gather.
  void start(Worker&, Cf*, std::uint64_t promised = 0);
  void start_here(Worker&, Cf*, std::uint64_t promised);  // one that has come from another rank
  void execute(Worker&, Cf*);                             // a ready fragment, to its end or until it waits again
  void run_chunk(Worker&, const Work&);
  // Waiting fragments become ready; any thread.
  void arrived(Worker&, Cf*) final;
  void asked(Worker&, const abi::Name&, const Cf* by, bool request, std::uint64_t began) final;
  Presence presence() final;
  void hold_hulls(Cf*);                           // what it may still read, as it is now
  void hold_next(Cf*, const abi::Block& before);  // the same, when it has moved on
  // ---- moving fragments (node/moving.cpp)
  void depart(Worker&);
  bool spread(Worker&, Cf* range);  // every rank is to run it; false: not this one
  // Balancer: takes what there is of these and ships it; returns what really went.
  std::vector<balancer::GroupCount> ship(Rank to, const std::vector<balancer::GroupCount>&, std::uint64_t ticket,
                                         std::int64_t& bytes);
  void on_ship(Rank from, Ship&&);
  // Fragments of a series (retained.hpp): the policy moves one; where one that is ready here is to run.
  void resettle(const Cf*, Rank to);
  Rank settled(const Cf*) const;
  bool too_light_to_settle(std::uint32_t group) const;
  // ---- failure; any thread, first one wins
  void fail_in(const Cf*, abi::Pos, const std::string& text) final;
  void fail_in(const Cf*, abi::Pos, const std::string& text, int exit_code);
  [[gnu::cold]] void fail_by_exception(const Cf*) final;

  void wake_worker();          // after a push: somebody idle, if anybody is
  void tell_of_rank(Totals&);  // what is observed of the rank itself
  Rank place_of(Cf*) const;    // by its locator; who has none is freed
  [[gnu::cold]] static void abandon(Cf*, const abi::Block& reached);
  void start_main();
  void worker_loop(Worker&);
  // Who shares what it makes with others makes fragments until balancer::kVisible are ready before it runs any: the
  // balancer is to see them, and a value whose readers wait where it is assigned stays there. So many where nobody
  // knows yet how large what they make is. Unless `most_ahead` of the rank wait for inputs already; of loops whose
  // fragments have a place not as many (Lead). Nor while it runs light ones, which nobody wants one by one.
  static constexpr std::int64_t kVisibleUnknown = 256;
  // How long a worker that has nothing to do looks on before it sleeps, in ticks (about 20 us): what waking it costs
  // the others is more than that. Stealing what is done sooner than kWorthStealing costs more than it saves: the next
  // theft has to wait as long.
  static constexpr std::uint64_t kLook = 50'000, kWorthStealing = 1000;
  bool find_work(Worker&, Work&, std::int64_t chunk);
  bool makes_in_vain(Worker&, const WaitCounts::Seen&);
  Making may_make(const Worker&) const;  // when nothing is ready
  Running may_run(const Worker&) const;
  std::int64_t visible_of(const Worker&, const abi::Block& loop) const;
  bool find_while_piled(Worker&, Work&);
  void leave_to_others(Worker&);
  void look_at_outer(Worker&, const WaitCounts::Seen&, std::uint64_t now);
  bool find_maker(Worker&, Work&);
  void run_tried(Worker&, Work);
  bool find_earlier(Worker&, Work&);
  static bool runs_on(Worker&);                 // what it has found, while values pile up: true
  bool steal(Worker&, Work&, Making, Running);  // from the other workers of this rank
  void run_work(Worker&, const Work&);
  void run_and_keep(Worker&, const Work&);
  void wake_sender(Worker&);
  // The communication role (node/communication.cpp, node/role.hpp).
  bool turn(bool busy);  // one round of all that communication does, or what is due if there is work; role held
  Clock::time_point next_turn(Clock::time_point now, Clock::time_point until);  // when one is due, though nothing comes
  void wait_for_traffic(bool idle, Clock::time_point latest = Clock::time_point::max());
  bool sleep_without_role();  // communication thread; whether it has the role again
  void look_at_workers(Clock::time_point now);
  bool is_busy(Clock::time_point now);
  bool drive(Worker&, Work&);  // by an idle worker: until there is work worth leaving for
  void communication_loop();
  bool brief(const Worker&, const Work&) const;
  void handle(Rank from, Message&&);
  void receive(Rank from, Parcel&&);  // the same of a message as it comes, and it is recorded
  bool in_place(const Worker&, const Cf*) const;
  bool far_ahead(const Worker&) const;
  bool enough_ready(const Worker&) const;
  bool leaves_to_others(Worker&, Cf*);
  // Bytes that values of this rank hold, here and on others.
  static constexpr std::int64_t kPiledChunk = 16;  // iterations to claim of a range while values pile up
  std::int64_t piled() const { return held->now() + comm.outstanding.bytes(); }
  bool look_at_pile(Worker&, std::uint64_t now);  // true: they do
  bool readers_turn(const Worker&) const;
  bool is_to_be_seen(const Worker&, const Cf*) const;
  bool goes_on(Worker&, Cf*, const abi::Block& before, bool behind);
  bool goes_on_holding(Worker&, Cf*, const abi::Block& before);
  bool overdue(const Worker&) const;
  static bool is_time_to_tell(const Worker&, const abi::Block& next);
  bool work_in_sight(const Worker&) const;
  bool stays_away(const Worker&) const;
  // The only worker of the only rank, or the others stay away.
  bool alone() const { return !several_ && works_alone(); }
  // ... of this rank.
  bool works_alone() const { return alone_ || (keeps_company_ && crew.one_works()); }
  bool look_on(const Worker&) const;
  int finish(int exit_code);
  bool all_workers_left() const;

  std::unique_ptr<OutsideLoad> outside_load_;  // where there is a policy
  // Each fragment reads these; what is written meanwhile is on other lines.
  const bool several_;          // ranks
  const bool looks_on_;         // there is a core for each worker of this host
  const bool alone_;            // one worker
  bool biased_ = false;         // to which all BiasedMutexes are, alone in the process
  const bool keeps_company_;    // Company decides how many workers work
  const bool bounded_;          // there are several workers, of one rank or several: Lead
  const bool looks_ahead_;      // ... and a core for each worker of this host: it begins early
  const std::int64_t visible_;  // fragments to have ready before running any, per worker, at most
  const std::int64_t unfolds_;  // with so many waiting, `while`s and recursions go behind the loops
  Role role_;
  std::uint64_t next_chores_ = 0;  // ticks; role held
  Clock::time_point next_look_{};  // likewise
  static constexpr Clock::duration kBusyFor = std::chrono::milliseconds(2);
  Clock::time_point busy_at_{};  // likewise
  std::uint64_t busy_seen_ = 0;  // by transitions of sleepers
  Clock::duration look_every_ = std::chrono::milliseconds(1);
  std::atomic<bool> driver_idle_{false};  // the driver is an idle worker: wake it by the transport
  std::atomic<std::int32_t> left_{0};     // workers whose loop has ended
};

}  // namespace tessera::runtime
