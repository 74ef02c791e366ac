#include "runtime/node/node.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "balancer/ready_order.hpp"
#include "runtime/balance/link_meter.hpp"
#include "runtime/balance/outside_load.hpp"
#include "runtime/balance/policy_host.hpp"
#include "runtime/cores/share.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/journal/journal.hpp"
#include "runtime/node/arguments.hpp"
#include "runtime/node/end_of_run.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/membership.hpp"
#include "runtime/node/moving.hpp"
#include "runtime/node/watch.hpp"
#include "runtime/report/crash.hpp"
#include "runtime/report/forks.hpp"
#include "runtime/report/progress.hpp"
#include "runtime/report/running.hpp"
#include "runtime/report/status_board.hpp"
#include "runtime/report/summary.hpp"
#include "runtime/report/totals.hpp"
#include "runtime/report/unread.hpp"
#include "runtime/start/agreement.hpp"
#include "runtime/trace/rank_events.hpp"
#include "runtime/trace/trace_report.hpp"
#include "runtime/transport/flush_output.hpp"

namespace tessera::runtime {
namespace {

// On several ranks each worker makes fragments until balancer::kVisible are ready before it runs any: the balancer is
// to see them, and a value whose readers wait where it is assigned stays there. Unless so many of the rank wait for
// inputs already; of loops whose fragments have a place not as many (Lead).
constexpr std::int64_t kManyWaiting = 200000;
// How long a worker that has nothing to do looks on before it sleeps, in ticks (about 20 us): what
// waking it costs the others is more than that.
constexpr std::uint64_t kLook = 50'000;
// Others see what a worker has counted after a step (WaitCounts), or when it looks for work and so many ticks (4 us)
// have passed: well within Lead::kPatience.
constexpr std::uint64_t kPublishes = 10'000;
// Stealing what is done sooner than this costs more than it saves: the next theft has to wait.
constexpr std::uint64_t kWorthStealing = 1000;
// How long a failed run waits for kernels to return before the process ends without them.
constexpr auto kGrace = std::chrono::seconds(1);

// Policy and settings as the options say, and how many of the ranks may execute.
const balancer::PolicyInfo& policy_of(const RunOptions& options, std::int32_t ranks) {
  if (options.policy != nullptr) return *options.policy;
  const std::string name = !options.balancer.empty() ? options.balancer : std::string(balancer::usual_policy(ranks));
  const balancer::PolicyInfo* found = balancer::find_policy(name);
  if (found == nullptr) throw std::invalid_argument("unknown balancer `" + name + "`");
  return *found;
}
std::int32_t spares_of(const RunOptions& options, std::int32_t workers) {
  if (options.spares < workers || options.spares == 0) return options.spares;
  throw std::invalid_argument(
      fmt::format("--spare {}: of {} ranks that can run fragments at least one must do so from the start",
                  options.spares, workers));
}

}  // namespace

thread_local Worker* thread_worker = nullptr;

Node::Node(const abi::Program& program_, const RunOptions& options_, Transport& transport_,
           std::vector<std::string> arguments_)
    : program(program_),
      options(options_),
      transport(transport_),
      arguments(std::move(arguments_)),
      policy_info(&policy_of(options_, transport_.size())),
      settings(options_.settings),
      worker_ranks(balancer::executing_ranks(*policy_info, settings, transport_.size())),
      members(worker_ranks, spares_of(options_, worker_ranks)),
      balancing(policy_info->name != "none" && transport_.size() > 1),
      comm(transport_),
      scopes(transport_.rank()),
      data(*this),
      holds(*this),
      moved_by_group(program_.block_count),
      follow_by_group(program_.block_count),
      block_count_(program_.block_count) {
  visible = ranks() > 1 ? balancer::kVisible : 0;
  set_placed_ranks(members.placed());

  std::vector<cores::HostRank> host;
  for (const OnHost& r : transport.host()) host.push_back({r.allowed, balancer::index(r.rank) < members.placed()});
  const cores::Share share = cores::share_host(host, static_cast<std::size_t>(transport.host_rank()), options.threads);
  std::int32_t threads = share.threads;
  several_ = ranks() > 1;
  looks_on_ = threads > 1 && share.core_for_each;
  spare_core_ = share.spare_core;
  looks_ahead_ = (several_ || threads > 1) && share.core_for_each;
  if (balancer::index(self()) >= worker_ranks) threads = 0;
  for (std::int32_t i = 0; i < threads; ++i) {
    workers.push_back(std::make_unique<Worker>(*this, i, block_count_, balancing ? balancer::kPlenty * ranks() : 0));
    workers.back()->watched = options.check_inputs || !options.record.empty() || simulation != nullptr;
    if (simulation != nullptr) workers.back()->held.often();
    if (options.record.empty()) continue;
    workers.back()->trace = std::make_unique<TraceBuffer>(
        program, members.placed(), static_cast<std::size_t>(options.record_limit_mb / threads) << 20);
  }
  for (std::int32_t i = 0; i < threads; ++i) sleepers.announce();  // until its thread has started
  outside = std::make_unique<Worker>(*this, -1, 0, 0);
  const auto step = WaitCounts::step(workers.size());
  for (auto& w : workers) waiting_.join(w->waits, w->wakes, step);
  waiting_.join(outside->waits, outside->wakes, step);
  end = std::make_unique<EndOfRun>(*this);
  evacuation = std::make_unique<Evacuation>(*this);
  membership = std::make_unique<Membership>(*this);
  if (members.spare(self())) evacuation->rest();
}

Node::~Node() = default;

void Node::keep_journal(std::unique_ptr<journal::Journal> j) {
  journal = std::move(j);
  for (std::size_t k = 0; k < workers.size(); ++k) {
    workers[k]->watched = true;
    workers[k]->page = &journal->page(k);
  }
}

void Node::publish(Worker& w) {
  w.waits.publish();
  w.wakes.publish();
}

// Of these many the ones that loops wait for, or will: not those that were made beside what is held.
std::int64_t Node::waiting_ahead(std::int64_t waiting) {
  std::int64_t beside = beside_.load(std::memory_order_relaxed);
  if (beside > waiting) beside_.store(beside = waiting, std::memory_order_relaxed);
  return waiting - beside;
}

bool Node::idle() {
  // Called by the communication thread, which is also the only one besides the workers that brings
  // work: if nobody woke between the two readings and the queues were empty, nothing runs.
  const std::uint64_t before = sleepers.transitions();
  if (!all_workers_idle()) return false;
  for (auto& w : workers) {
    if (!w->queue.empty()) return false;
  }
  return sleepers.transitions() == before;
}

bool Node::all_workers_idle() const { return sleepers.count() == static_cast<std::int32_t>(workers.size()); }

void Node::fail(const std::string& text, int exit_code) {
  failed.store(true);
  end->failed(text, exit_code);
}

bool Node::find_work(Worker& w, Work& work, std::int64_t chunk) {
  if (evacuation->parked()) {
    if (w.chained != nullptr) {
      w.queue.push(std::exchange(w.chained, nullptr));
      wake_communication();
    }
    return false;
  }
  if (w.chained != nullptr) {
    work.cf = w.chained;
    w.chained = nullptr;
    return true;
  }
  const WaitCounts::Seen seen = looks_ahead_ || visible != 0 ? waiting_.look(w.waits, w.wakes) : WaitCounts::Seen{};
  const std::int64_t ahead = waiting_ahead(seen.waiting);
  if (looks_ahead_) {
    const std::uint64_t now = ticks();
    w.lead.enough(ahead, seen.ceased, now);
    if (now - w.published > kPublishes) {
      w.published = now;
      publish(w);
    }
  }
  const Making first = w.queue.atomics() >= visible || ahead >= kManyWaiting ? Making::nothing
                       : ahead >= Lead::kAhead                               ? Making::movable
                                                                             : Making::all;
  const bool found = w.queue.pop(work, first, may_make(w), chunk) || steal(w, work);
  if (found) {
    w.lead.found();
  } else {
    publish(w);
  }
  return found;
}

Making Node::may_make(const Worker& w) const {
  return !w.lead.held()                                                       ? Making::all
         : several_ && waiting_.look(w.waits, w.wakes).waiting < kManyWaiting ? Making::movable
                                                                              : Making::subs;
}

bool Node::steal(Worker& w, Work& work) {
  if (w.steals_from > ticks()) return false;
  for (std::size_t i = 1; i < workers.size(); ++i) {
    Worker& victim = *workers[(static_cast<std::size_t>(w.number) + i) % workers.size()];
    work.stolen = !victim.queue.looks_empty() && victim.queue.steal(work, may_make(w), w.chunk);
    if (work.stolen) return true;
  }
  return false;
}

bool Node::work_in_sight(const Worker& w) const {
  if (evacuation->parked()) return false;
  if (w.chained != nullptr) return true;
  for (const auto& other : workers) {
    if (other->queue.has(may_make(w))) return true;
  }
  return false;
}

// Only while each worker of the host has a core, and never instead of moving messages.
bool Node::look_on(const Worker& w) const {
  if (!looks_on_ || evacuation->parked()) return false;
  if (ranks() > 1 && !role_held_.load(std::memory_order_relaxed)) return false;
  const std::uint64_t until = std::max(ticks(), w.steals_from) + kLook;
  for (std::uint64_t now = 0; now < until; now = ticks()) {
    for (const auto& other : workers) {
      if ((now >= w.steals_from || other.get() == &w) &&
          (w.lead.held() ? other->queue.atomics() > 0 : !other->queue.looks_empty()))
        return true;
    }
    if (stopping.load(std::memory_order_relaxed) || failed.load(std::memory_order_relaxed)) break;
    __builtin_ia32_pause();
  }
  return false;
}

void Node::run_work(Worker& w, const Work& work) {
  if (work.cf->block->kind == abi::Kind::range) {
    run_chunk(w, work);
  } else {
    execute(w, work.cf);
  }
  if (!w.boarding.empty()) depart(w);
  if (policy != nullptr) {
    policy->changed();
    if (w.queue.looks_empty()) policy->urgent();
  }
}

void Node::worker_loop(Worker& w) {
  thread_worker = &w;
  mark_own_thread();
  w.tid.store(gettid());
  const CrashStack stack;
  sleepers.cancel();
  bool was_idle = true;
  while (!stopping.load(std::memory_order_relaxed) && !failed.load(std::memory_order_relaxed)) {
    Work work;
    if (!find_work(w, work, w.chunk)) {
      w.stats.pause();
      if (look_on(w)) continue;
      w.steals_from = 0;
      const std::uint32_t ticket = sleepers.announce();
      if (stopping.load() || failed.load()) {
        sleepers.cancel();
        break;
      }
      // Only looked for: what is popped while announced as idle is in no queue, and idle() would
      // take the rank for quiet.
      if (work_in_sight(w)) {
        sleepers.cancel();
        was_idle = true;
        continue;
      }
      if (role_.try_lock()) {
        if (!drive(w, work)) {
          if (end->stopped())
            break;  // there is nothing left to drive, and taking the role again would keep others from it
          continue;
        }
      } else {
        const bool all = all_workers_idle();
        if (all && policy != nullptr) policy->changed();
        // Who is held has to look again soon: the communication thread hands it the role.
        if (all || w.lead.held()) wake_communication();
        sleepers.sleep(ticket);
        was_idle = true;
        continue;
      }
    }
    // Whoever held the role may have counted on us to take it over.
    if (was_idle && !role_held_.load()) pass_baton();
    was_idle = false;
    const std::uint64_t from = work.stolen && looks_on_ ? ticks() : 0;
    run_work(w, work);
    if (from != 0 && ticks() - from < kWorthStealing) w.steals_from = ticks() + kLook;
    if (w.sent || evacuation->parked()) {
      w.sent = false;
      wake_communication();
    }
  }
  w.stats.pause();
  left_.fetch_add(1);
  pass_baton();
}

void Node::start_main() {
  // The root scope is what main runs under; the program ends when it does.
  ScopeRecord* root = scopes.open(nullptr, abi::Id{0x7465737365726121u, 0x6D61696E2E726F6Fu});
  Cf* main = allocate_cf(*program.main, root, abi::mix(root->id, 0));
  set_main_arguments(program, arguments, main);
  enroll(main);
  leave_scope(*outside, root);
  any_worker().queue.push(main);
  wake_worker();
}

int Node::run() {
  mark_own_thread();
  const auto started = Clock::now();
  totals = std::make_unique<TotalsOfAll>(ranks());
  links = std::make_unique<LinkMeter>(comm, self(), [this](Rank peer, balancer::Time l, double b) {
    if (policy != nullptr) policy->measured(peer, l, b);
  });
  // A recording is made of `none` as well: it shows what would have been told.
  if (balancing || !options.record_policy.empty()) {
    balancer::Setup setup;
    setup.rank = self();
    setup.ranks = ranks();
    setup.powers = options.powers;
    setup.hosts = host_numbers(hosts);
    setup.workers = static_cast<std::int32_t>(workers.size());
    setup.ship_cost = kShipCost;
    setup.groups = infos;
    setup.settings = settings;
    policy = std::make_unique<PolicyHost>(*this, *policy_info, std::move(setup));
    for (std::int32_t r = 0; r < worker_ranks; ++r) {
      if (!members.takes_part(Rank{r})) policy->member(Rank{r}, false);
    }
    links->start(worker_ranks, [this](Rank r) { return transport.shares_memory(r); });
  }
  if (policy != nullptr && executes() && simulation == nullptr) {
    outside_load = std::make_unique<OutsideLoad>(
        static_cast<std::int32_t>(workers.size()),
        [this] {
          std::vector<std::int32_t> tids;
          for (const auto& w : workers) tids.push_back(w->tid.load());
          return tids;
        },
        [this](double tasks) { policy->outside_load(tasks); });
  }
  progress = std::make_unique<Progress>(*this);
  if (!hosts.empty() || simulation != nullptr) watch = std::make_unique<Watch>(*this, started);
  running = std::make_unique<RunningNow>(*this);
  if (!options.record.empty()) {
    events = std::make_unique<RankEvents>(*this, static_cast<std::size_t>(options.record_limit_mb) << 18);
  }
  if (self() == Rank{0} && ranks() > 1 && simulation == nullptr) {
    status = std::make_unique<StatusBoard>(*this);
    membership->listen();
  }
  if (journal != nullptr) journal->start();
  if (self() == Rank{0}) start_main();
  for (auto& [from, parcel] : std::exchange(early, {})) handle(from, decode(std::move(parcel)));
  for (auto& w : workers) w->thread = Thread([this, p = w.get()] { worker_loop(*p); });
  communication_loop();
  elapsed = std::chrono::duration<double>(Clock::now() - started).count();
  return finish(end->exit_code());
}

int Node::finish(int exit_code) {
  if (exit_code == 0) await_children();
  stopping.store(true);
  if (exit_code != 0) failed.store(true);
  sleepers.wake_all();
  transport.wake();
  const auto sink = [this](Rank from, Parcel&& p) { handle(from, decode(std::move(p))); };
  if (exit_code != 0) {
    const auto deadline = Clock::now() + kGrace;
    while (!all_workers_left() && Clock::now() < deadline) {
      sleep_for(std::chrono::milliseconds(1));
      sleepers.wake_all();
      transport.wake();
    }
    if (!all_workers_left()) {
      flush_all();
      transport.abort(exit_code);
    }
  }
  for (auto& w : workers) w->thread.join();
  // A run that has come to its end is not gone on with; but where tests look at what such a one would find.
  if (journal != nullptr) journal->stop(exit_code != 0 || simulation != nullptr);
  // Only now: a worker may have held the communication role, and been in the middle of a turn.
  membership->stop_listening();
  progress->clear();
  running.reset();
  if (self() == Rank{0}) {
    totals->take(Rank{0}, own_totals(*this, true));
  } else {
    comm.send(Rank{0}, own_totals(*this, true));
  }
  if (exit_code == 0 && !options.record.empty()) send_trace(*this);
  // A failed run must not wait for a kernel that never returns, on whichever rank it is; and none for a rank that has
  // died or stands still just before the end, if it may not be silent for ever. Rank 0 is the first to say so.
  Clock::duration patience = 3 * kGrace;
  if (exit_code == 0) patience = std::chrono::seconds(options.silence_limit + (self() == Rank{0} ? 0 : 1));
  std::atomic<bool> passed{false};
  Thread guard;
  if (exit_code != 0 || (options.silence_limit > 0 && watch != nullptr)) {
    guard = Thread([&] {
      const auto deadline = Clock::now() + patience;
      while (!passed.load() && Clock::now() < deadline) {
        sleep_for(std::chrono::milliseconds(5));
      }
      if (passed.load()) return;
      if (exit_code == 0) {
        std::vector<Rank> missing = self() == Rank{0} ? totals->missing() : std::vector{Rank{0}};
        std::fprintf(stderr,
                     "tessera: error: the program has come to its end, but %s %s silent since then: the run ends "
                     "(--silence-limit %ld)\n",
                     missing.empty() ? "a rank" : rank_names(missing, hosts).c_str(),
                     missing.size() > 1 ? "have been" : "has been", static_cast<long>(options.silence_limit));
      }
      flush_all();
      transport.abort(exit_code == 0 ? kExitEnvironment : exit_code);
    });
  }
  transport.barrier(sink);
  passed.store(true);
  if (guard.joinable()) guard.join();
  if (flush_at_end() && !options.quiet) {
    std::fputs("tessera: warning: a kernel has locked stdout or stderr (flockfile) and not unlocked it\n", stderr);
  }
  int code = exit_code;
  if (self() == Rank{0} && exit_code == 0) {
    if (!options.quiet) {
      std::fputs(unread_report(program, totals->by_rank()).c_str(), stderr);
    }
    code = write_results(*this);
  }
  if (policy == nullptr) return code;
  const std::string wrong = policy->close();
  if (wrong.empty()) return code;
  std::fprintf(stderr, "tessera: error: %s\n", wrong.c_str());
  return code == kExitOk ? kExitEnvironment : code;
}

bool Node::all_workers_left() const { return left_.load() == static_cast<std::int32_t>(workers.size()); }

}  // namespace tessera::runtime
