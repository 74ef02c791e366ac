// What a rank tells of itself.
#include <fmt/format.h>
#include <sys/resource.h>

#include "runtime/balance/policy_host.hpp"
#include "runtime/memory/resident.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/running.hpp"
#include "runtime/report/waits_now.hpp"
#include "runtime/words/describe.hpp"

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

}  // namespace

Totals Node::own_totals(bool final, const AskTotals& asked) {
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
    x.moved_away = moved_by_group[g];
    x.followed = follow_by_group[g].load(std::memory_order_relaxed);
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
  t.moved_in = this->moved_in;
  t.moved_out = moved_out;
  t.shipments_out = shipments_out;
  t.bytes_sent = comm.bytes();
  t.messages_sent = comm.messages();
  t.here = evacuation->seconds_here();
  t.partly = evacuation->ever();
  t.left = evacuation->moved();
  t.peak_memory_kb = peak_kb();
  // Of a rank that shares its process with others the process tells nothing; its threads do, once they have ended.
  const bool alone = ranks() == 1 || !facts.hosts.empty();
  t.cpu = alone ? cpu_seconds() : final ? 1e-9 * static_cast<double>(worker_cpu_ns_.load() + thread_cpu_ns()) : 0;
  t.no_core = 1e-9 * static_cast<double>(worker_no_core_ns_.load());
  if (policy != nullptr) {
    for (const auto& [why, times] : policy->decisions()) {
      t.decisions.push_back(fmt::format("{}|{}", why, times));
    }
  }
  if (final) {
    t.unread = data.unread();
    t.held = held->most();
    return t;
  }
  for (RunningNow::Fragment& f : running->fragments(asked.waits)) {
    t.busy += f.seconds;  // it is counted when it has ended
    t.now.running.push_back({std::move(f.text), f.seconds, f.group, std::move(f.gives)});
  }
  t.waiting = crew.waiting_now();
  t.now.memory_bytes = resident_bytes();
  t.now.data_bytes = held->now();
  if (asked.waits) {
    t.now.waits = waits_now(facts.program, data, kMostWaiting / static_cast<std::size_t>(ranks()));
  } else if (!asked.names.empty()) {
    t.now.waits = who_waits_for(facts.program, data, asked.names);
  }
  return t;
}

}  // namespace tessera::runtime
