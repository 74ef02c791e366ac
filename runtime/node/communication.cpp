// What the thread that has the communication role does (role.hpp).
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "runtime/balance/link_meter.hpp"
#include "runtime/balance/outside_load.hpp"
#include "runtime/balance/policy_host.hpp"
#include "runtime/node/end_of_run.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/membership.hpp"
#include "runtime/node/node.hpp"
#include "runtime/node/observing.hpp"
#include "runtime/node/sweeping.hpp"
#include "runtime/start/agreement.hpp"
#include "runtime/trace/rank_events.hpp"
#include "runtime/transport/flush_output.hpp"

namespace tessera::runtime {
namespace {

// Ticks a driving worker may run fragments in one go, some tens of microseconds.
constexpr std::uint64_t kLongestBrief = 150000;
// Ticks, some microseconds: between two looks at what is no message.
constexpr std::uint64_t kChores = 10000;
// Between two looks at workers that run what is too short to be timed, and at others.
constexpr Clock::duration kLookLeast = std::chrono::milliseconds(1), kLookMost = std::chrono::milliseconds(64);
// Iterations it makes between two looks at the transport.
constexpr std::int64_t kDrivenChunk = 32;
// ... and how long it looks there for what lets waiting fragments run, before it asks again whether it may make more
// (Lead).
constexpr auto kAwaits = std::chrono::microseconds(20);
// ... where there is not a core for each worker.
constexpr auto kAwaitsShared = std::chrono::microseconds(500);

}  // namespace

void Node::wake_communication() { transport.wake(); }

void Node::wake_sender(Worker& w) {
  w.sent = false;
  transport.wake();
}

void Node::wake_worker() {
  const std::int32_t idle = crew.sleepers.count();
  if (idle == 0) return;
  // The driver counts as idle but sleeps, if at all, in the transport.
  const bool driver = driver_idle_.load();
  if (idle > (driver ? 1 : 0)) {
    crew.sleepers.wake_one();
  } else if (thread_worker == nullptr || !thread_worker->drives) {
    transport.wake();
  }
}

void Node::handle(Rank from, Message&& m) {
  const bool counts = counts_for_termination(m);
  std::visit(
      [&](auto&& x) {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, Ship>) {
          on_ship(from, std::move(x));
        } else if constexpr (std::is_same_v<T, Resettled>) {
          retained.put(x.series, x.to);
        } else if constexpr (std::is_same_v<T, ScopeReturn>) {
          leave_scope(*crew.outside, scopes.find(x.scope), x.count);
        } else if constexpr (std::is_same_v<T, Acked>) {
          leave_scope(*crew.outside, scopes.find(x.scope));
        } else if constexpr (std::is_same_v<T, Backlog>) {
          if (x.asks) needs.asked(Clock::now());
          backlogs.on(from, x, is_busy(Clock::now()));
        } else if constexpr (std::is_same_v<T, MakeMore>) {
          crew.call();
        } else if constexpr (std::is_same_v<T, PolicyMessage>) {
          if (policy != nullptr) policy->on(from, std::move(x));
        } else if constexpr (std::is_same_v<T, LinkProbe>) {
          links->on(from, std::move(x));
        } else if constexpr (std::is_same_v<T, LinkAnswer>) {
          links->on(from, x);
        } else if constexpr (requires { observing->on(from, std::move(x)); }) {
          observing->on(from, std::move(x));
        } else if constexpr (requires { membership->on(from, std::move(x)); }) {
          membership->on(from, std::move(x));
        } else if constexpr (requires { end->on(from, std::move(x)); }) {
          end->on(from, std::move(x));
        } else if constexpr (requires { sweeping->on(from, std::move(x)); }) {
          if (!end->stopped()) sweeping->on(from, std::move(x));
        } else if constexpr (std::is_same_v<T, Need>) {
          needs.on(x);
        } else if constexpr (requires { holds.on(from, std::move(x)); }) {
          holds.on(from, std::move(x));
        } else {
          data.on(from, std::move(x));
        }
      },
      std::move(m));
  comm.received(counts);
}

void Node::asked(Worker& w, const abi::Name& n, const Cf* by, bool request, std::uint64_t began) {
  observing->asked(w, n, by, request, began);
}

void Node::receive(Rank from, Parcel&& p) {
  backlogs.came(from, p);
  RankEvents* const events = observing->events();
  if (events == nullptr) return handle(from, decode(std::move(p)));
  std::size_t bytes = p.bytes.size();
  for (const ValueRef& v : p.values) bytes += v.get()->size;
  Message m = decode(std::move(p));
  events->came(from, m, bytes);
  handle(from, std::move(m));
}

bool Node::turn(bool busy) {
  try {
    const std::uint64_t began = ticks();
    const bool moved = transport.progress([this](Rank from, Parcel&& p) { receive(from, std::move(p)); });
    if (!moved) links->found_nothing(began, [this] { return transport.unread(); });
    if (!crew.outside->boarding.empty()) depart(*crew.outside);
    Crew::publish(*crew.outside);
    // The rest can wait while there is something to do, a little.
    if ((moved || busy) && ticks() < next_chores_) return moved;
    next_chores_ = ticks() + kChores;
    const auto now = Clock::now();
    membership->turn(now);
    evacuation->turn();
    if (sweeping != nullptr) sweeping->turn();
    if (policy != nullptr) policy->pump(now);
    if (!crew.outside->boarding.empty()) depart(*crew.outside);
    end->turn(now);
    links->turn(now);
    if (outside_load_ != nullptr) outside_load_->turn(now);
    look_at_workers(now);
    backlogs.turn(now, is_busy(now));
    needs.turn(now, bounded_ && pileup.drains());
    observing->turn(now);
    data.trim_copies(now);
    data.untold.tell(comm, now);
    return moved;
  } catch (const std::exception& e) {
    // A bug of ours or a failing network: say so on this rank and end them all.
    std::fprintf(stderr, "tessera: internal error on %s: %s\n", rank_name(self(), facts.hosts).c_str(), e.what());
    flush_all();
    transport.abort(kExitInternal);
    return false;
  }
}

// Workers have run something just now: between two fragments they may be idle for a message's time, and that is when
// one of them looks that communicates itself.
bool Node::is_busy(Clock::time_point now) {
  const std::uint64_t transitions = crew.sleepers.transitions();
  if (std::exchange(busy_seen_, transitions) != transitions || !crew.all_idle()) busy_at_ = now;
  return now - busy_at_ < kBusyFor;
}

// What they run where they do not time each fragment (GroupStats).
void Node::look_at_workers(Clock::time_point now) {
  if (now < next_look_) return;
  bool any = false;
  for (auto& w : crew.workers) any = w->stats.look() || any;
  const bool later =
      std::any_of(crew.workers.begin(), crew.workers.end(), [](const auto& w) { return w->queue.counts_later(); });
  if (later && policy != nullptr) policy->changed_here();
  look_every_ = any || later ? kLookLeast : std::min(2 * look_every_, kLookMost);
  next_look_ = now + look_every_;
}

Clock::time_point Node::next_turn(Clock::time_point now, Clock::time_point until) {
  until = observing->next(now, std::min({until, end->next(now), links->next(now), membership->next(now)}));
  if (!crew.workers.empty()) until = std::min(until, next_look_);
  until = needs.next(now, backlogs.next(until), bounded_ && pileup.drains());
  if (policy != nullptr) until = std::min(until, policy->next(now));
  if (outside_load_ != nullptr) until = std::min(until, outside_load_->next(now));
  return std::min(until, data.untold.next(until));
}

void Node::wait_for_traffic(bool idle, Clock::time_point latest) {
  const auto now = Clock::now();
  const auto until = next_turn(now, latest);
  if (until > now) transport.wait(until, idle);
}

bool Node::sleep_without_role() {
  const auto now = Clock::now();
  const auto until = next_turn(now, Clock::time_point::max());
  if (until <= now) return true;
  return role_.sleep_without(transport, until);
}

// Short enough to keep the role meanwhile: only making other fragments (many by a loop, unless it is to look at the
// transport for what they wait for), or known to be tiny. Where the communication thread has no core of its own, it
// would run in place of a worker: messages rather wait for the end of anything known to be brief (bench/run metg, two
// ranks).
bool Node::brief(const Worker& w, const Work& work) const {
  if (work.cf->block->kind == abi::Kind::range) return looks_ahead_;
  if (work.cf->block->kind != abi::Kind::atomic) return true;
  const std::uint32_t group = work.cf->block->group;
  return share.spare_core ? w.stats.tiny(group) : w.stats.brief(group);
}

bool Node::drive(Worker& w, Work& work) {
  driver_idle_.store(true);
  w.drives = true;
  if (policy != nullptr) policy->changed();  // it is to hear that this rank may be idle
  bool idle = true;  // and announced as such; not between two fragments, though it looks for messages there
  bool rung = false;
  bool found = false;
  for (;;) {
    const bool looked = std::exchange(rung, false);
    w.sent = false;  // the turn pushes it out
    const bool moved = turn(!idle || looked);
    if (end->stopped() || stopping.load() || failed.load() || stays_away(w)) break;
    if (find_work(w, work, std::min(w.chunk, kDrivenChunk))) {
      if (idle) {
        crew.sleepers.cancel();
        driver_idle_.store(false);
        idle = false;
        w.stats.resumed();
      }
      found = !brief(w, work);
      if (found) break;
      w.leave_by = ticks() + kLongestBrief;
      run_work(w, work);
      w.stats.pause();
      w.leave_by = 0;
      continue;
    }
    if (moved || looked) continue;  // having looked only, a whole turn is due
    if (!idle) {
      driver_idle_.store(true);
      crew.sleepers.announce();
      if (keeps_company_ && !crew.company.all_work()) crew.call_others();
      idle = true;
      // It may have been told of the load since, by a turn between the last fragment and this.
      if (policy != nullptr && crew.all_idle()) policy->changed_here();
      rung = crew.all_idle() && transport.look();
    } else if (w.holds_on() && !evacuation->parked()) {
      wait_for_traffic(true, Clock::now() + (looks_ahead_ ? kAwaits : kAwaitsShared));
    } else {
      wait_for_traffic(crew.all_idle());
    }
  }
  if (idle) crew.sleepers.cancel();
  w.drives = false;
  driver_idle_.store(false);
  role_.let_go();
  role_.pass_baton(transport);
  return found;
}

void Node::communication_loop() {
  while (!end->stopped()) {
    role_.await_baton();
    if (!role_.try_take()) continue;  // whoever holds it passes the baton when letting go
    bool mine = true;
    while (mine) {
      const bool moved = turn(false);
      if (end->stopped()) break;
      if (moved) continue;
      if (crew.sleepers.any() && !failed.load()) {
        role_.let_go();
        crew.sleepers.wake_one();
        mine = crew.sleepers.count() == 0 && role_.try_take();
        continue;
      }
      mine = sleep_without_role();
    }
    if (mine) role_.let_go();
  }
}

}  // namespace tessera::runtime
