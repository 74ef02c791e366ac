#include "runtime/node/observing.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "runtime/data/data_fragments.hpp"
#include "runtime/memory/held.hpp"
#include "runtime/memory/resident.hpp"
#include "runtime/node/watch.hpp"
#include "runtime/report/progress.hpp"
#include "runtime/report/running.hpp"
#include "runtime/report/status_board.hpp"
#include "runtime/report/trace_report.hpp"
#include "runtime/report/waits_now.hpp"
#include "runtime/start/members.hpp"
#include "runtime/trace/trace_buffer.hpp"
#include "runtime/transport/transport.hpp"
#include "runtime/words/describe.hpp"
#include "runtime/work/crew.hpp"

namespace tessera::runtime {
namespace {

// Fragments that all ranks tell of, when they are asked what waits: a quarter of a second of rank 0's time.
constexpr std::size_t kMostWaiting = 200'000;

// Of a simulation nothing: it would not be the same twice.
rusage used() {
  rusage u{};
  if (simulation == nullptr) getrusage(RUSAGE_SELF, &u);
  return u;
}

double cpu_seconds() {
  const rusage u = used();
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

std::int64_t peak_kb() { return simulation == nullptr ? most_resident_bytes() >> 10 : 0; }

// With less nothing may be left of a run: a rank that writes much would have given up all that others still have.
constexpr std::size_t kLeastRoom = std::size_t{2} << 20;

// Of --record-limit-mb, what this rank may need of it: all have the same part of one half, and rank 0 gives the other
// to those that fill theirs.
std::size_t all_room(const RunFacts& facts) { return static_cast<std::size_t>(facts.options.record_limit_mb) << 20; }
std::size_t room_to_record(const RunFacts& facts) {
  if (facts.ranks == 1) return std::max(kLeastRoom, all_room(facts));
  return std::max(kLeastRoom, all_room(facts) / 2 / static_cast<std::size_t>(facts.ranks));
}
std::size_t room_to_give(const RunFacts& facts) {
  const std::size_t all = all_room(facts), gone = room_to_record(facts) * static_cast<std::size_t>(facts.ranks);
  return facts.first() && gone < all ? all - gone : 0;
}

}  // namespace

Observing::Observing(const Parts& of, std::function<void(Totals&)> complete, std::function<bool()> stopped)
    : moves(of.facts.program.block_count), of_(of), complete_(std::move(complete)), stopped_(std::move(stopped)) {
  if (of_.facts.options.record.empty()) return;
  room_ = std::make_shared<RecordRoom>(room_to_record(of_.facts), of_.crew.workers.size() + 1);
  for (auto& w : of_.crew.workers) {
    traces_.push_back(std::make_unique<TraceBuffer>(of_.facts.program, of_.members.placed(), room_));
    w->trace = traces_.back().get();
  }
}

Observing::~Observing() = default;

// The recording comes first: policies are recorded, too.
void Observing::prepare() {
  const RunFacts& facts = of_.facts;
  cpu_before_ = cpu_seconds();
  totals_ = std::make_unique<TotalsOfAll>(facts.ranks);
  if (room_ == nullptr) return;
  events_ =
      std::make_unique<RankEvents>(of_.comm, of_.held, facts.first(),
                                   facts.first() || of_.transport.shares_memory(Rank{0}), room_, room_to_give(facts));
}

void Observing::begin(Clock::time_point started) {
  const RunFacts& facts = of_.facts;
  progress_ = std::make_unique<Progress>(facts, of_.comm, *totals_, [this] { return own(false); });
  if (!facts.hosts.empty() || simulation != nullptr)
    watch_ = std::make_unique<Watch>(facts, of_.comm, of_.transport, started);
  running_ = std::make_unique<RunningNow>(facts, of_.crew);
  // One rank of a caller's process may be over sooner than somebody asks, and be one of many.
  if (facts.first() && simulation == nullptr && (facts.ranks > 1 || facts.options.caller == nullptr)) {
    status_ = std::make_unique<StatusBoard>(facts, of_.members, of_.comm, *totals_,
                                            [this](const AskTotals& asked) { return own(false, asked); });
  }
}

void Observing::turn(Clock::time_point now) {
  running_->turn(now);
  progress_->turn(now);
  if (status_ != nullptr) status_->turn(now);
  if (watch_ != nullptr) watch_->turn(now);
  if (events_ != nullptr) events_->turn(now);
}

Clock::time_point Observing::next(Clock::time_point now, Clock::time_point until) const {
  until = std::min({until, progress_->next(now), running_->next()});
  if (status_ != nullptr) until = std::min(until, status_->next(now));
  if (watch_ != nullptr) until = std::min(until, watch_->next());
  if (events_ != nullptr) until = std::min(until, events_->next());
  return until;
}

void Observing::on(Rank from, Totals&& t) {
  totals_->take(from, std::move(t));
  if (status_ != nullptr) status_->came(from);
}
void Observing::on(Rank from, const AskTotals& asked) {
  if (!stopped_()) of_.comm.send(from, own(false, asked));
}
void Observing::on(Rank from, Beat&& b) {
  if (watch_ != nullptr && !stopped_()) watch_->on(from, std::move(b));
}
void Observing::on(Rank from, TracePart&& part) { trace_parts_.emplace_back(from, std::move(part)); }

void Observing::worker_ended() {
  worker_cpu_ns_ += thread_cpu_ns();
  worker_no_core_ns_ += thread_no_core_ns();
}

void Observing::asked(const abi::Worker& w, const abi::Name& n, const abi::Cf* by, bool request, std::uint64_t began) {
  if (w.trace != nullptr) {
    w.trace->asked(n.id, request, began);
  } else if (events_ != nullptr) {
    events_->asked(n.id, by, request, began);
  }
}

void Observing::ended(Clock::time_point started) {
  elapsed_ = std::chrono::duration<double>(Clock::now() - started).count();
}

void Observing::clear_line() { progress_->clear(); }

void Observing::give(Totals own) {
  running_.reset();
  if (of_.facts.first()) {
    totals_->take(Rank{0}, std::move(own));
  } else {
    of_.comm.send(Rank{0}, own);
  }
}

void Observing::give_trace(bool whole) {
  send_trace(of_.crew, *events_, whole, [this](TracePart part) {
    of_.facts.first() ? void(trace_parts_.emplace_back(Rank{0}, std::move(part))) : of_.comm.send(Rank{0}, part);
  });
}

RunOver Observing::over(const std::vector<Totals>& by_rank, const LinkMeter& links, bool signalled) {
  return {of_.facts, elapsed_, by_rank, links, events_.get(), trace_parts_, signalled};
}

Totals Observing::own(bool final, const AskTotals& asked) {
  const RunFacts& facts = of_.facts;
  Crew& crew = of_.crew;
  Totals t;
  t.final = final;
  t.threads = static_cast<std::int64_t>(crew.size());
  const double ns = ns_per_tick();
  for (std::uint32_t g = 0; g < facts.program.block_count; ++g) {
    const GroupStats::Snapshot all = crew.stats(g);
    t.recalled += static_cast<std::int64_t>(all.recalled);
    GroupBirths births;
    for (const auto& w : crew.workers) w->births.add_to(g, births);
    // A loop that every rank runs was made on one of them.
    if (all.count == 0 && (final || (births.born == 0 && births.stepped == 0))) continue;
    const bool atomic = calls_kernel(facts.program, g);
    GroupTotals x;
    x.group = g;
    x.births = births;
    // While it goes on: what has ended; what runs is told beside it.
    x.count = static_cast<std::int64_t>(final || !atomic ? all.count : all.ended);
    x.bytes = all.bytes;
    x.moved_away = moves.by_group[g];
    x.followed = moves.followed[g].load(std::memory_order_relaxed);
    // The time of a structured fragment is that of the fragments it ran on the spot.
    if (atomic && all.known > 0) {
      const auto n = static_cast<double>(all.known);
      x.weight = all.sum / n * ns;
      x.variance = std::max(0.0, (all.squares / n) * ns * ns - x.weight * x.weight);
      t.busy += all.sum * ns * 1e-9;
    }
    t.finished += x.count;
    t.groups.push_back(x);
  }
  t.ready = crew.ready();
  t.moved_in = moves.in;
  t.moved_out = moves.out;
  t.shipments_out = moves.shipments;
  t.bytes_sent = of_.comm.bytes();
  t.messages_sent = of_.comm.messages();
  t.peak_memory_kb = peak_kb();
  // Of a rank that shares its process with others the process tells nothing; its threads do, once they have ended.
  const bool alone = facts.ranks == 1 || !facts.hosts.empty();
  t.cpu = alone   ? cpu_seconds() - cpu_before_
          : final ? 1e-9 * static_cast<double>(worker_cpu_ns_.load() + thread_cpu_ns())
                  : 0;
  t.no_core = 1e-9 * static_cast<double>(worker_no_core_ns_.load());
  complete_(t);
  if (final) {
    t.unread = of_.data.unread();
    t.held = of_.held.most();
    return t;
  }
  for (RunningNow::Fragment& f : running_->fragments(asked.waits)) {
    t.busy += f.seconds;  // it is counted when it has ended
    t.now.running.push_back({std::move(f.text), f.seconds, f.group, std::move(f.gives)});
  }
  t.waiting = crew.waiting_now();
  t.now.memory_bytes = resident_bytes();
  t.now.data_bytes = of_.held.now() + of_.held.copies();
  if (asked.waits) {
    t.now.waits = waits_now(facts.program, of_.data, kMostWaiting / static_cast<std::size_t>(facts.ranks));
  } else if (!asked.names.empty()) {
    t.now.waits = who_waits_for(facts.program, of_.data, asked.names);
  }
  return t;
}

}  // namespace tessera::runtime
