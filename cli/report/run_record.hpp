// RunRecord: a recorded run (a trace with times) and what follows from it: since when each fragment could have run and
// what it waited for, what each worker did all the time, and the path that took the run its time.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "balancer/simulator/trace.hpp"

namespace tessera::cli {

using balancer::Time;

inline constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

// Ready: since when a bar could have run where it did.
struct Ready {
  enum class Why : std::uint8_t {
    created,
    input,
    moved,
    unknown  // before what is kept of the run begins, it may be
  };
  Time at = 0;
  Why why = Why::created;
  std::size_t by = kNobody;  // the bar that made it, or its last input; or that asked for that, until when it lay there
  Time made = 0;             // when that was done; until `at` it travelled, or lay on the rank from which it was moved
  std::int32_t from = -1;    // the rank where it, or the input, was made, or lay
  std::size_t maker = kNobody;  // the bar that made the input
};

// What a worker does.
enum class Doing : std::uint8_t {
  kernel,     // runs a kernel's fragment
  making,     // runs what makes fragments: subs, loops, conditions
  overhead,   // something was ready there and had not begun: the runtime's own time
  transfer,   // idle: what it ran next, or a value for that, was on its way
  value,      // idle: a value for what it ran next was being made on another rank
  late,       // idle: nothing was ready there until a fragment was moved to it that had lain ready on another rank
  elsewhere,  // idle: nothing was ready there, on another rank something was
  nothing,    // idle: nothing was ready anywhere that it could have run
};
inline constexpr std::size_t kDoings = 8;
const char* name_of(Doing);

struct Segment {
  Time start = 0, end = 0;
  Doing doing = Doing::nothing;
  std::size_t bar = kNobody;  // that it is of; of idle ones: what came after it
};

// Cause: of a worker that was idle, for what, as far as that is one: the rank and the bar that made what it waited for,
// or the rank where what was moved to it had lain.
struct Cause {
  std::int32_t rank = -1;
  std::size_t bar = kNobody;
};

struct Lane {  // a worker
  std::int32_t rank = 0, worker = 0;
  std::vector<Segment> segments;  // one after the other, from the start to the end of what is kept
};

// Step: a piece of the critical path, which goes from the end of the run to its start (of what is kept) without a gap.
struct Step {
  Time start = 0, end = 0;
  enum class Kind : std::uint8_t {
    run,
    overhead,
    transfer,  // a value's
    move       // a worker had nothing until a fragment was moved to it
  } kind = Kind::run;
  std::size_t bar = kNobody;  // that ran, or that all this was for
};

struct RunRecord {
  std::string name;  // for people: the file's
  balancer::simulator::Trace trace;
  std::vector<std::vector<std::size_t>> bars_of;  // by fragment
  std::vector<Time> own;                          // by bar, without what ran inside it
  std::vector<Ready> ready;                       // by bar
  std::vector<Lane> lanes;
  std::vector<Step> path;
  std::array<Time, kDoings> sums{};  // over all workers

  const balancer::simulator::Times& times() const { return trace.times; }
  const balancer::simulator::BlockText& block_of(const balancer::simulator::Bar& b) const {
    return trace.times.blocks[b.block];
  }
  bool is_kernel(std::size_t bar) const { return block_of(trace.times.bars[bar]).kernel; }
  Time end_of(std::size_t bar) const { return trace.times.bars[bar].start + trace.times.bars[bar].length; }
  Time from() const { return trace.times.from; }
  Time finished() const { return trace.times.finished; }
  Time length() const { return finished() - from(); }
};

Cause cause_of(const RunRecord&, const Segment&);

// Part: of a run, as options name it; empty: from its start, to its end.
struct Part {
  std::string from, to;
};
void add_part(CLI::App&, Part&);
// Of one whose bars are in order. A usage error when nothing ran then.
balancer::simulator::Trace part_of(const balancer::simulator::Trace&, const Part&, const std::string& name);
// Since when its fragments could run is known from the whole run.
void know_as(const RunRecord& whole, RunRecord& part);

// read_run reads a trace and finds out all this. A usage error when it is none, or has no times.
RunRecord read_run(const std::string& path, const Part& = {});
// The same of a record that is there; of a part of `whole`.
RunRecord run_of(balancer::simulator::Trace, const std::string& name, const RunRecord* whole = nullptr);

// Parts of it.
void find_ready(RunRecord&);
void find_lanes(RunRecord&);
void find_path(RunRecord&);

// What a person can do about it: at most three sentences, the most important one first.
std::vector<std::string> sentences(const RunRecord&);

}  // namespace tessera::cli
