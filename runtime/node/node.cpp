#include "runtime/node/node.hpp"

#include <fmt/format.h>
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
#include "runtime/data/happens.hpp"
#include "runtime/fragment/cf.hpp"
#include "runtime/journal/journal.hpp"
#include "runtime/memory/biased.hpp"
#include "runtime/memory/pool.hpp"
#include "runtime/node/arguments.hpp"
#include "runtime/node/balance_kept.hpp"
#include "runtime/node/end_of_run.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/interrupts.hpp"
#include "runtime/node/membership.hpp"
#include "runtime/node/moving.hpp"
#include "runtime/node/observing.hpp"
#include "runtime/node/stuck.hpp"
#include "runtime/node/sweeping.hpp"
#include "runtime/report/crash.hpp"
#include "runtime/report/descriptors.hpp"
#include "runtime/report/forks.hpp"
#include "runtime/start/agreement.hpp"
#include "runtime/start/caller.hpp"
#include "runtime/trace/trace_seal.hpp"
#include "runtime/transport/flush_output.hpp"

namespace tessera::runtime {
namespace {

// What of the host's cores is for this rank.
cores::Share share_of(const RunFacts& facts, const Members& members, const Transport& transport) {
  std::vector<cores::HostRank> host;
  for (const OnHost& r : transport.host()) host.push_back({r.allowed, balancer::index(r.rank) < members.placed()});
  return cores::share_host(host, static_cast<std::size_t>(transport.host_rank()), facts.options.threads);
}

// Whether anything in it is the same in each step of an iteration.
bool has_series(const abi::Program& program) {
  return std::any_of(program.blocks, program.blocks + program.block_count,
                     [](const abi::Block* b) { return b->series != nullptr; });
}

}  // namespace

Node::Node(const abi::Program& program_, const RunOptions& options_, Transport& transport_,
           std::vector<std::string> arguments_)
    : facts(program_, options_, transport_, std::move(arguments_)),
      transport(transport_),
      members(facts.worker_ranks, options_.spares),
      comm(transport_),
      scopes(transport_.rank()),
      data(*this, facts, members, comm, scopes, crew),
      holds(comm, scopes, data, facts.ranks),
      backlogs(comm, held, facts.self, facts.ranks),
      pileup(facts.balancing ? Pileup::kMoreShared : Pileup::kMore, facts.ranks > 1 ? Pileup::kMostLets : 0),
      share(share_of(facts, members, transport_)),
      crew(*this, facts, *held, facts.executes() ? share.threads : 0, program_.block_count,
           facts.balancing ? balancer::kPlenty * facts.ranks : 0),
      needs(data, crew, comm, facts.self, facts.ranks, [this] { wake_worker(); }),
      several_(facts.ranks > 1),
      looks_on_(share.threads > 1 && share.core_for_each),
      alone_(share.threads == 1),
      keeps_company_(!several_ && share.threads > 1 && simulation == nullptr),
      bounded_(several_ || share.threads > 1),
      looks_ahead_(bounded_ && share.core_for_each),
      visible_(several_ ? balancer::kVisible : 0),
      unfolds_(several_ ? most_ahead : std::min(Lead::kAhead, most_ahead)) {
  set_placed_ranks(members.placed());
  for (auto& w : crew.workers) {
    w->tells = several_;
    w->visible = facts.balancing ? std::min(visible_, kVisibleUnknown) : 0;
    w->lead = Lead(looks_ahead_ ? Lead::kAhead : most_ahead);
    w->watched = facts.options.check_inputs || !facts.options.record.empty() || simulation != nullptr;
  }
  observing = std::make_unique<Observing>(
      Observing::Parts{facts, members, comm, transport, crew, data, *held}, [this](Totals& t) { tell_of_rank(t); },
      [this] { return end->stopped(); });
  end = std::make_unique<EndOfRun>(facts, comm, crew, transport, failed,
                                   [this] { return WaitingHere(facts.program, facts.ranks, data, scopes); });
  evacuation = std::make_unique<Evacuation>(*this);
  if (several_) {
    sweeping = std::make_unique<Sweeping>(*this);
    horizons = std::make_unique<Horizons>(balancer::index(self()), [this](Horizons::Whose w) { sweeping->want(w); });
    data.horizons = horizons.get();
    for (auto& w : crew.workers) {
      w->queue.horizons = horizons.get();
      w->queue.set_others(std::clamp(ranks() - 1, 1, 63));
    }
  }
  membership = std::make_unique<Membership>(*this);
  if (members.spare(self())) evacuation->rest();
}

Surroundings& surroundings(Node& node) { return node; }

// A run that ends well has left none.
Node::~Node() {
  for (Shard& shard : data.table().shards()) {
    if (left_at_homes == nullptr) break;
    shard.for_each([&](const DfEntry& e) { *left_at_homes += home_of(e.scope) == self() ? 1 : 0; });
  }
  if (!failed.load()) return;
  for (Cf* c : crew.take_all()) abandon(c, *c->block);
  for (Cf* c : data.abandon_waiting()) free_cf(c);
}

void Node::keep_journal(std::unique_ptr<journal::Journal> j) {
  journal = std::move(j);
  set_placed_ranks(journal->placed());
  for (std::size_t k = 0; k < crew.workers.size(); ++k) {
    crew.workers[k]->watched = true;
    crew.workers[k]->page = &journal->page(k);
  }
}

Node::Presence Node::presence() {
  const bool swept = evacuation->swept();
  return {evacuation->ever(), swept, swept ? evacuation->next_target() : protocol::kNobody};
}

void Node::tell_of_rank(Totals& t) {
  t.here = evacuation->seconds_here();
  t.partly = evacuation->ever();
  t.left = evacuation->moved();
  if (policy == nullptr) return;
  for (const auto& [why, times] : policy->decisions()) t.decisions.push_back(fmt::format("{}|{}", why, times));
}

void Node::fail(const std::string& text, int exit_code) {
  failed.store(true);
  end->failed(text, exit_code);
}

void Node::run_work(Worker& w, const Work& work) {
  if (work.tried != nullptr) [[unlikely]]
    return run_tried(w, work);
  if (work.cf->block->kind == abi::Kind::range) {
    run_chunk(w, work);
  } else {
    execute(w, work.cf);
  }
  if (several_) {
    // What is chained may use up what has just been made.
    if (!w.untold.empty() && w.chained == nullptr) data.tell(w);
    if (!w.boarding.empty()) depart(w);
  }
  if (policy != nullptr) {
    policy->changed();
    if (w.queue.looks_empty()) policy->urgent();
  }
}

// What a kernel's fragment sends leaves when that has run: by this worker, unless it finds something to run. So nobody
// is woken for it where nobody is awake.
void Node::run_and_keep(Worker& w, const Work& work) {
  if (ranks() == 1 || work.cf->block->kind != abi::Kind::atomic || brief(w, work)) return run_work(w, work);
  w.sends = true;
  transport.hold_bell(true);
  run_work(w, work);
  if (transport.hold_bell(false)) w.sent = true;
  w.sends = false;
}

void Node::worker_loop(Worker& w) {
  thread_worker = &w;
  mark_own_thread();
  give_back_at_exit();
  bias::own();
  w.tid.store(gettid());
  const CrashStack stack;
  crew.sleepers.cancel();
  bool was_idle = true;
  while (!stopping.load(std::memory_order_relaxed) && !failed.load(std::memory_order_relaxed)) {
    Work work;
    if (stays_away(w)) {
      if (w.chained != nullptr) w.queue.push(std::exchange(w.chained, nullptr));
      if (!w.queue.looks_empty()) w.queue.hand_over(crew.workers.front()->queue);
      Crew::publish(w);
      if (w.lets_go) Crew::set_lets_go(w, false);
      w.stats.pause();
      crew.stay_away([&] { return stays_away(w) && !stopping.load() && !failed.load(); });
      was_idle = true;
      continue;
    }
    if (!find_work(w, work, w.chunk)) {
      w.stats.pause();
      if (look_on(w)) continue;
      w.steals_from = 0;
      const std::uint32_t ticket = crew.sleepers.announce();
      if (keeps_company_ && !crew.company.all_work()) crew.call_others();
      if (stopping.load() || failed.load()) {
        crew.sleepers.cancel();
        break;
      }
      // Only looked for: what is popped while announced as idle is in no queue, and idle() would
      // take the rank for quiet.
      if (work_in_sight(w)) {
        crew.sleepers.cancel();
        was_idle = true;
        continue;
      }
      if (role_.try_take()) {
        if (!drive(w, work)) {
          if (end->stopped())
            break;  // there is nothing left to drive, and taking the role again would keep others from it
          continue;
        }
      } else {
        const bool all = crew.all_idle();
        if (all && policy != nullptr) policy->changed();
        // Who is held has to look again soon: the communication thread hands it the role.
        if (all || w.holds_on() || w.sent || evacuation->parked()) wake_sender(w);
        crew.sleepers.sleep(ticket);
        was_idle = true;
        continue;
      }
    }
    // Whoever held the role may have counted on us to take it over.
    if (was_idle && !role_.held()) role_.pass_baton(transport);
    if (was_idle) w.stats.resumed();
    was_idle = false;
    if (w.sent) wake_sender(w);
    const std::uint64_t from = work.stolen && looks_on_ ? ticks() : 0;
    run_and_keep(w, work);
    if (from != 0 && ticks() - from < kWorthStealing) w.steals_from = ticks() + kLook;
  }
  w.stats.pause();
  if (!failed.load()) await_children();  // those that this thread forked end with it
  left_.fetch_add(1);
  role_.pass_baton(transport);
}

void Node::start_main() {
  // The root scope is what main runs under; the program ends when it does.
  ScopeRecord* root = scopes.open(nullptr, abi::Id{0x7465737365726121u, 0x6D61696E2E726F6Fu});
  Cf* main = allocate_cf(*facts.program.main, root, abi::mix(root->id, 0));
  const Caller* caller = facts.options.caller;
  set_main_arguments(facts.program, facts.arguments, caller == nullptr ? nullptr : &caller->given, main);
  enroll(main);
  leave_scope(*crew.outside, root);
  crew.any_worker().queue.push(main);
  wake_worker();
}

int Node::run() {
  mark_own_thread();
  give_back_at_exit();
  const auto started = Clock::now();
  observing->prepare();
  links = std::make_unique<LinkMeter>(comm, self(), [this](Rank peer, balancer::Time l, double b) {
    if (policy != nullptr) policy->measured(peer, l, b);
  });
  // A recording is made of `none` as well: it shows what would have been told.
  if (facts.balancing || !facts.options.record_policy.empty()) {
    balancer::Setup setup;
    setup.rank = self();
    setup.ranks = ranks();
    setup.powers = facts.options.powers;
    setup.hosts = host_numbers(facts.hosts);
    setup.workers = static_cast<std::int32_t>(crew.workers.size());
    setup.ship_cost = kShipCost;
    setup.groups = facts.infos;
    setup.settings = facts.settings;
    policy = std::make_unique<PolicyHost>(
        PolicyHost::Parts{facts, comm, transport, members, crew, observing->events(),
                          [this](Rank to, const auto& wanted, std::uint64_t ticket, std::int64_t& bytes) {
                            return ship(to, wanted, ticket, bytes);
                          },
                          [this](std::uint64_t series, Rank to) {
                            retained.put(series, to == self() ? std::nullopt : std::optional(to));
                          }},
        setup);
    if (facts.balancing && has_series(facts.program) && balancer::settles_series(facts.policy, facts.settings)) {
      for (auto& w : crew.workers) {
        w->series = std::make_unique<SeriesRuns>();
        w->watched = true;
      }
    }
    for (std::int32_t r = 0; r < facts.worker_ranks; ++r) {
      if (!members.takes_part(Rank{r})) policy->member(Rank{r}, false);
    }
    links->start(facts.worker_ranks, [this](Rank r) { return transport.shares_memory(r); });
    recall_balance(*this);
  }
  if (policy != nullptr && crew.size() > 0 && simulation == nullptr) {
    outside_load_ = std::make_unique<OutsideLoad>(
        static_cast<std::int32_t>(crew.workers.size()),
        [this] {
          std::vector<std::int32_t> tids;
          for (const auto& w : crew.workers) tids.push_back(w->tid.load());
          return tids;
        },
        [this](double tasks) { policy->outside_load(tasks); });
  }
  observing->begin(started);
  if (observing->status() != nullptr) membership->listen();
  if (journal != nullptr) journal->start();
  // No kernel has run yet, in this process.
  if (facts.options.caller == nullptr && simulation == nullptr) guard_new_descriptors();
  if (facts.first()) start_main();
  for (auto& [from, parcel] : std::exchange(early, {})) handle(from, decode(std::move(parcel)));
  if (alone_ && !several_ && facts.options.caller == nullptr && simulation == nullptr) biased_ = bias::begin();
  for (auto& w : crew.workers) {
    w->thread = Thread([this, p = w.get()] {
      worker_loop(*p);
      observing->worker_ended();
    });
  }
  communication_loop();
  observing->ended(started);
  return finish(end->exit_code());
}

}  // namespace tessera::runtime
