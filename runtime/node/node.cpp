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
#include "runtime/work/worth_giving.hpp"

namespace tessera::runtime {
namespace {

// Who shares what it makes with others makes fragments until balancer::kVisible are ready before it runs any: the
// balancer is to see them, and a value whose readers wait where it is assigned stays there. Unless `most_ahead` of the
// rank wait for inputs already; of loops whose fragments have a place not as many (Lead). Nor while it runs light ones,
// which nobody wants one by one. How long a worker that has nothing to do looks on before it sleeps, in ticks (about 20
// us): what waking it costs the others is more than that.
constexpr std::uint64_t kLook = 50'000;
// So often it looks for work before it looks at how many workers are to work.
constexpr std::uint32_t kLooksForCompany = 16;
// Others see what a worker has counted after a step (WaitCounts), or when it looks for work and so many ticks (4 us)
// have passed: well within Lead::kPatience.
constexpr std::uint64_t kPublishes = 10'000;
// Stealing what is done sooner than this costs more than it saves: the next theft has to wait.
constexpr std::uint64_t kWorthStealing = 1000;
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

// Fragments to have ready of which nobody knows yet how large what they make is.
constexpr std::int64_t kVisibleUnknown = 256;
// ... of which the values would hold so many bytes, but in any case so many.
constexpr double kVisibleBytes = 64 << 20;
constexpr std::int64_t kVisibleLeast = 64;
// A worker runs light fragments as long as there are more than so many of them to each that is not.
constexpr int kLightOfOne = 8, kManyLight = 64;

// So often a loop is looked for when values have piled up: the first turn may be a `while`'s.
constexpr int kReadersTurns = 2;

// `ticks`: what those like the one that it runs next have taken, on average; 0: none has been timed.
void note_light(Worker& w, double ticks) {
  if (ticks != 0) w.light = std::clamp(w.light + (ticks < kLightTicks ? 1 : -kLightOfOne), 0, kManyLight);
}

// What it waits for mostly stands in the first loop, for programs are written in an order in which they could run; but
// it may stand in any loop, also of another worker, who runs something long meanwhile.
void take_turns(Crew& crew, Worker& w) {
  const std::uint32_t gropes = w.lead.gropes();
  if (gropes == 0) return w.queue.take_turns(0);
  if (w.lead.goes_in_order()) {
    for (const auto& other : crew.workers) other->queue.in_order();
    return w.queue.take_turns(0);
  }
  for (const auto& other : crew.workers) other->queue.take_turns(gropes);
}

// Of the loops that it makes by, which may be another worker's, who runs something long meanwhile.
// True: it makes few fragments, and after it another one may come.
bool look_elsewhere(Crew& crew, Worker& w) {
  for (std::size_t i = 0; i < crew.workers.size(); ++i) {
    ReadyQueue& queue = crew.workers[(static_cast<std::size_t>(w.number) + i) % crew.workers.size()]->queue;
    if (queue.loops() > 0) return queue.another_loop_first();
  }
  return false;
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

bool Node::find_work(Worker& w, Work& work, std::int64_t chunk) {
  if (keeps_company_ && w.number == 0 && ++w.looks % kLooksForCompany == 0) crew.keep_company();
  if (evacuation->parked()) {
    if (!w.untold.empty()) data.tell(w);
    if (w.chained != nullptr) {
      w.queue.push(std::exchange(w.chained, nullptr));
      wake_communication();
    }
    return false;
  }
  work.tried = nullptr;
  if (w.chained != nullptr) {
    work.cf = std::exchange(w.chained, nullptr);
    if (!pileup.lasts()) [[likely]]
      return true;
    if (!crew.growing.grows(work.cf->block->group)) return runs_on(w);
    if (!w.untold.empty()) data.tell(w);
    w.queue.push(work.cf);
  }
  const std::uint64_t now = bounded_ ? ticks() : 0;  // who is alone waits for nobody
  const bool piles = look_at_pile(w, now);
  const WaitCounts::Seen seen = bounded_ || piles ? crew.look(w) : WaitCounts::Seen{};
  const std::int64_t ahead = crew.waiting_ahead(seen.waiting);
  const bool many = seen.waiting >= most_ahead;
  if (alone()) {
    w.lead.is_alone();
  } else {
    w.lead.enough(many ? seen.waiting : ahead, seen.ceased, now, crew.calls());
    take_turns(crew, w);
  }
  if (bounded_ && now - w.published > kPublishes) {
    w.published = now;
    Crew::publish(w);
  }
  // Loops make more and more of what others are to read: those that read it may be listed behind.
  const bool in_order = pileup.drains() && crew.growing.large();  // so are those, then
  const bool grows = held->grows() || (piles && !in_order && w.grew > 0);
  const bool few = (makes_in_vain(w, seen) || grows) && look_elsewhere(crew, w);
  w.leaves = false;
  if (w.lets_go) Crew::set_lets_go(w, false);
  if (piles || in_order) [[unlikely]] {
    chunk = std::min(chunk, kPiledChunk);
    if (find_while_piled(w, work)) return true;
    if (piles) leave_to_others(w);
    // What it has made last was nothing to run.
    if (piles && w.idle_since != 0 && works_alone()) look_elsewhere(crew, w);
  }
  look_at_outer(w, seen, now);
  // What is made ahead waits in cold memory, and asks other ranks for its inputs: several times of what light fragments
  // take. For each light one that makes values pile up some of those who read them.
  const bool goes_deep = w.light > 0 && !w.has_placed;
  const bool enough = piles ? in_order || w.grew == 0 : goes_deep || w.queue.atomics() >= w.visible;
  const Making first = enough || many || w.leaves || w.outer.held() ? Making::nothing
                       : ahead >= Lead::kAhead                      ? Making::movable
                                                                    : Making::all;
  const Running running = may_run(w);
  const bool found = (first == Making::nothing && running == Running::last_first && crew.workers.size() > 1 &&
                      find_earlier(w, work)) ||
                     w.queue.pop(work, first, may_make(w), chunk, running) || steal(w, work, may_make(w), running);
  const bool atomic = found && work.cf->block->kind == abi::Kind::atomic;
  if (atomic || few) {
    w.grew = piles ? kReadersTurns : 0;
  } else if (w.grew > 0) {
    w.grew = found && work.cf->block->kind != abi::Kind::range ? w.grew - 1 : 0;
  }
  if (atomic && facts.balancing) note_light(w, w.stats.mean(work.cf->block->group));
  const bool runs = found && !(w.leaves && work.cf->block->kind == abi::Kind::range);
  if (runs) w.idle_since = 0;
  if (!runs && w.leaves && w.idle_since == 0) w.idle_since = ticks();
  if (found) {
    w.lead.found();
    w.outer.found();
  } else {
    Crew::publish(w);
  }
  return found;
}

// What is made waits for what other loops are to make. Of several workers or ranks others may be making it just now;
// but not where those loops have just had to go behind.
bool Node::makes_in_vain(Worker& w, const WaitCounts::Seen& seen) {
  if (!alone() && held->pile() != Pile::turns) return false;
  const bool vain =
      bounded_ ? w.vain.enough(seen.waiting + seen.ceased, seen.ceased) : w.vain.enough(w.waits.load(), w.wakes.load());
  if (vain) held->in_vain();
  return vain;
}

Making Node::may_make(const Worker& w) const {
  // Of who is alone nobody else makes those who read what piles up, and all that is ready adds to that.
  if (w.leaves && !(works_alone() && crew.look(w).waiting < Lead::kMany)) return Making::few;
  if (w.outer.held()) return Making::due;
  if (!w.lead.held()) return Making::all;
  const std::int64_t waiting = crew.look(w).waiting;
  return several_ && waiting < most_ahead ? Making::movable : Crew::in_any_case(waiting);
}

// So many of what this loop makes are to be ready: fewer, where their values are large, for whoever they are shipped to
// runs all of them.
std::int64_t Node::visible_of(const Worker& w, const abi::Block& loop) const {
  std::int64_t visible = visible_;
  for (const std::uint32_t* g = loop.body_groups; *g != ~0u; ++g) {
    const double growth = crew.growing.growth(*g);
    if (w.stats.mean(*g) == 0) visible = std::min(visible, kVisibleUnknown);
    if (growth * static_cast<double>(visible) > kVisibleBytes)
      visible = std::max(kVisibleLeast, static_cast<std::int64_t>(kVisibleBytes / growth));
  }
  return visible;
}

bool Node::steal(Worker& w, Work& work, Making making, Running running) {
  if (w.steals_from > ticks() && crew.company.all_work()) return false;
  for (std::size_t i = 1; i < crew.workers.size(); ++i) {
    Worker& victim = *crew.workers[(static_cast<std::size_t>(w.number) + i) % crew.workers.size()];
    work.stolen = !victim.queue.looks_empty() && victim.queue.steal(work, making, w.chunk, running);
    if (work.stolen) return true;
  }
  return false;
}

bool Node::stays_away(const Worker& w) const {
  return keeps_company_ && !crew.company.all_work() && crew.stays_away(w, ticks());
}

bool Node::work_in_sight(const Worker& w) const {
  if (evacuation->parked()) return false;
  if (w.chained != nullptr) return true;
  for (const auto& other : crew.workers) {
    if (other->queue.has(may_make(w), may_run(w))) return true;
  }
  return false;
}

// Only while each worker of the host has a core, and never instead of moving messages.
bool Node::look_on(const Worker& w) const {
  if (!looks_on_ || w.sent || w.leaves || evacuation->parked()) return false;
  if (ranks() > 1 && !role_.held(std::memory_order_relaxed)) return false;
  const std::uint64_t until = std::max(ticks(), w.steals_from) + kLook;
  for (std::uint64_t now = 0; now < until; now = ticks()) {
    for (const auto& other : crew.workers) {
      if ((now >= w.steals_from || other.get() == &w) &&
          (w.holds_on() ? other->queue.atomics() > 0 : !other->queue.looks_empty()))
        return true;
    }
    if (stopping.load(std::memory_order_relaxed) || failed.load(std::memory_order_relaxed)) break;
    spin_pause();
  }
  return false;
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
