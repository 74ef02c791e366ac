// Worker: one worker thread (or, with number -1, the communication thread where it acts as one), and what it has at
// hand while it runs fragments.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/memory/held.hpp"
#include "runtime/threads/threads.hpp"
#include "runtime/work/births.hpp"
#include "runtime/work/group_stats.hpp"
#include "runtime/work/lead.hpp"
#include "runtime/work/ready_queue.hpp"
#include "runtime/work/series_runs.hpp"
#include "runtime/work/wait_counts.hpp"

namespace tessera::runtime {
class InputSums;
class Node;
struct RunFacts;
struct ScopeRecord;
class TraceBuffer;
namespace journal {
class Doing;
class Page;
}  // namespace journal
}  // namespace tessera::runtime

namespace tessera::abi {

struct Worker {
  // `plenty`: as ReadyQueue has it; 0: there is no balancer.
  Worker(runtime::Node& n, const runtime::RunFacts& of, std::int32_t number_, std::uint32_t groups, std::int64_t plenty)
      : node(n),
        number(number_),
        stats(groups),
        births(groups),
        queue(groups, plenty > 0 ? &stats : nullptr, plenty),
        facts(of) {}
  runtime::Node& node;
  std::int32_t number;
  runtime::GroupStats stats;
  runtime::Births births;
  alignas(runtime::kLine) runtime::ReadyQueue queue;  // others look at it; not at what follows
  alignas(runtime::kLine) Cf* chained = nullptr;      // to run right after the current fragment, before the queue
  Cf* current = nullptr;  // for reports of crashes, and of what runs (other threads: read and set by atomic operations)
  int depth = 0;          // structured fragments being run inside one another
  static constexpr std::int64_t kStays = INT64_MIN;
  std::int64_t moving_to = kStays;  // set by cf_locate while a block runs
  bool drives = false;              // it holds the communication role
  std::uint64_t leave_by = 0;       // ticks; ... and runs brief work
  runtime::Lead lead;               // where there are several workers
  runtime::Lead outer;              // of several ranks, where values are large: of a loop around others that comes next
  std::uint64_t weighed = 0;        // ticks: when it last looked how much that is
  runtime::Vain vain;
  // While values pile up (work/pileup.hpp):
  bool lets_go = false;  // it runs what does not add to them (others look)
  bool leaves = false;   // it makes no more by loops, and runs nothing that makes values grow, for others let them go
  std::uint64_t idle_since = 0;  // ticks; it has had nothing to run since then, for that reason
  int grew = 0;                  // what it ran last may have made them grow: who reads that may have to be made
  bool holds_on() const { return leaves || lead.held() || outer.held(); }
  std::uint64_t steals_from = 0;  // ticks; until then it leaves the other workers' queues alone
  struct Boarding {
    runtime::Rank to;
    runtime::Ship ship;
    std::vector<Name> promised;
  };
  std::vector<Boarding> boarding;  // fragments it has placed elsewhere
  std::uint64_t departs_by = 0;    // ticks; when these have to leave
  // What it has assigned of other homes, which have not been told (docs/protocol.md, rule 18).
  struct Untold {
    Id id;
    runtime::ScopeRecord* scope;
    bool holds;  // a count of it; else the one before it does
  };
  static constexpr std::uint64_t kTells = 50'000;  // ticks, about 20 us
  static constexpr std::size_t kMostUntold = 256;
  bool tells = false;  // it will: it runs fragments
  std::vector<Untold> untold, told;
  std::uint64_t tells_by = 0;                   // ticks
  Places places;                                // of readers of what it is assigning
  std::vector<Name> taken_back;                 // of other homes: not told yet
  std::array<std::uint8_t, 16> blind{};         // by block: so often its condition is not looked at beforehand
  std::vector<Id> dead;                         // of swept names: to be freed
  runtime::HeldCountdown held;                  // to the next of its outputs by which held bytes are counted
  bool sent = false;                            // something went to the outbox since the last flush
  bool sends = false;                           // ... where it stays until this worker has run what it runs
  std::int64_t visible = 0;                     // fragments to have ready before it runs any
  bool has_placed = false;                      // fragments on other ranks, or been sent there what it makes
  int light = 0;                                // positive: nearly all that it has run lately was light
  std::int64_t chunk = 1;                       // iterations to claim of a range
  std::uint32_t looks = 0;                      // for work
  std::uint64_t queued = 0;                     // fragments this worker has put into queues (chunk control)
  runtime::WaitCounts::Counter waits, wakes;    // fragments that began / ceased to wait
  std::uint64_t published = 0;                  // ticks; when these were last
  std::atomic<std::int32_t> tid{0};             // of its thread, when that has started
  runtime::TraceBuffer* trace = nullptr;        // --record; null: not asked for
  std::unique_ptr<runtime::SeriesRuns> series;  // null: the policy does not ask
  bool watched = false;                         // there is a trace or a journal, or inputs are checked
  runtime::journal::Page* page = nullptr;       // --journal; null: there is none
  runtime::journal::Doing* doing = nullptr;     // the fragment that runs, for that
  bool recalled = false;                        // the last one's kernel was not called
  runtime::InputSums* inputs = nullptr;         // of the current fragment, where they are checked
  runtime::Thread thread;
  const runtime::RunFacts& facts;
};

}  // namespace tessera::abi

namespace tessera::runtime {

using abi::Worker;

// The worker this thread is; null on other threads.
extern constinit thread_local Worker* thread_worker;

}  // namespace tessera::runtime
