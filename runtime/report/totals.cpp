#include "runtime/report/totals.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdio>
#include <map>

#include "runtime/balance/policy_host.hpp"
#include "runtime/node/evacuation.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/describe.hpp"
#include "runtime/report/resident.hpp"
#include "runtime/report/running.hpp"

namespace tessera::runtime {
namespace {

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

std::int64_t peak_kb() { return used().ru_maxrss; }

}  // namespace

Totals own_totals(Node& node, bool final) {
  Totals t;
  t.final = final;
  t.threads = static_cast<std::int64_t>(node.workers.size());
  const double ns = ns_per_tick();
  for (std::uint32_t g = 0; g < node.program.block_count; ++g) {
    GroupStats::Snapshot all;
    for (const auto& w : node.workers) all += w->stats.read(g);
    if (all.count == 0) continue;
    const bool atomic = calls_kernel(node.program, g);
    GroupTotals x;
    x.group = g;
    x.count = static_cast<std::int64_t>(all.count);
    x.bytes = all.bytes;
    x.moved_away = node.moved_by_group[g];
    x.followed = node.follow_by_group[g].load(std::memory_order_relaxed);
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
  for (const auto& w : node.workers) t.ready += w->queue.atomics();
  t.moved_in = node.moved_in;
  t.moved_out = node.moved_out;
  t.shipments_out = node.shipments_out;
  t.bytes_sent = node.comm.bytes();
  t.messages_sent = node.comm.messages();
  t.here = node.evacuation->seconds_here();
  t.partly = node.evacuation->ever();
  t.left = node.evacuation->moved();
  t.peak_memory_kb = peak_kb();
  t.cpu = cpu_seconds();
  if (node.policy != nullptr) {
    for (const auto& [why, times] : node.policy->decisions()) {
      t.decisions.push_back(fmt::format("{}|{}", why, times));
    }
  }
  if (final) {
    t.unread = node.data.unread();
    t.held = node.held->most();
    return t;
  }
  for (RunningNow::Fragment& f : node.running->fragments()) {
    t.now.running.push_back({std::move(f.text), f.seconds, f.group});
  }
  t.waiting = node.waiting_now();
  t.now.memory_bytes = resident_bytes();
  t.now.data_bytes = node.held->now();
  return t;
}

std::vector<GroupTotals> merge_groups(const std::vector<Totals>& ranks) {
  std::map<std::uint32_t, GroupTotals> all;
  for (const Totals& t : ranks) {
    for (const GroupTotals& g : t.groups) {
      GroupTotals& m = all[g.group];
      m.group = g.group;
      const auto n = static_cast<double>(g.count), before = static_cast<double>(m.count);
      const double delta = g.weight - m.weight;
      const double sum = n + before;
      m.variance = (m.variance * before + g.variance * n + delta * delta * n * before / sum) / sum;
      m.weight += delta * n / sum;
      m.count += g.count;
      m.moved_away += g.moved_away;
      m.followed += g.followed;
      m.bytes += g.bytes;
    }
  }
  std::vector<GroupTotals> list;
  for (auto& [group, totals] : all) list.push_back(totals);
  return list;
}

}  // namespace tessera::runtime
