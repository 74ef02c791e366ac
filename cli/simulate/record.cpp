// A simulated run as a record: what the simulator noted, with the names that the workload has for it.
#include <algorithm>
#include <tuple>
#include <utility>

#include "cli/failure.hpp"
#include "cli/simulate/study.hpp"

namespace tessera::cli {
namespace {

namespace sim = balancer::simulator;
using balancer::index;

// `mul at app.fa:7`: a block of each group, as far as its label tells.
std::vector<sim::BlockText> blocks_of(const sim::Workload& w) {
  std::vector<sim::BlockText> all;
  for (std::uint32_t g = 0; g < w.groups.size(); ++g) {
    const std::string& label = w.groups[g].label;
    const std::size_t at = label.rfind(" at "), colon = label.rfind(':');
    const bool stack = std::find(w.stacks.begin(), w.stacks.end(), balancer::Group{g}) != w.stacks.end();
    sim::BlockText b;
    b.group = g;
    b.kernel = !w.groups[g].range && !stack;
    b.text = label.substr(0, at);
    if (at != std::string::npos && colon != std::string::npos && colon > at) {
      b.file = label.substr(at + 4, colon - at - 4);
      b.line = static_cast<std::uint32_t>(std::strtoul(label.c_str() + colon + 1, nullptr, 10));
    }
    all.push_back(std::move(b));
  }
  return all;
}

// Of a recorded run: the variables and indices that each fragment had there.
void take_names(const sim::Times& from, std::size_t fragments, sim::Times& t) {
  std::vector<const sim::Bar*> was(fragments, nullptr);
  for (const sim::Bar& b : from.bars) was[b.fragment] = &b;
  t.blocks = from.blocks;
  t.sources = from.sources;
  for (sim::Bar& b : t.bars) {
    const sim::Bar* old = was[b.fragment];
    b.first_number = t.numbers.size();
    if (old == nullptr) continue;
    b.block = old->block;
    b.numbers = old->numbers;
    const auto numbers = from.numbers_of(*old);
    t.numbers.insert(t.numbers.end(), numbers.begin(), numbers.end());
  }
}

// When inputs came that were made elsewhere: by themselves, or with the fragment; and of what was moved, when its
// inputs were where it was before.
void put_arrivals(const sim::Workload& w, sim::Times& t) {
  std::vector<std::int32_t> ran_on(w.fragments.size(), -1);
  std::vector<balancer::Time> ended(w.fragments.size());
  for (const sim::Bar& b : t.bars) ran_on[b.fragment] = b.rank, ended[b.fragment] = b.start + b.length;
  std::vector<const sim::Moved*> moved(w.fragments.size(), nullptr);
  for (const sim::Moved& m : t.moves) moved[m.fragment] = &m;
  const auto less = [](const sim::Came& a, const sim::Came& b) {
    return std::tie(a.rank, a.fragment, a.at) < std::tie(b.rank, b.fragment, b.at);
  };
  std::sort(t.came.begin(), t.came.end(), less);
  std::sort(t.asked.begin(), t.asked.end(), less);
  // A rank asks once.
  const auto asked = [&](const sim::Came& c) {
    const auto at = std::lower_bound(t.asked.begin(), t.asked.end(), sim::Came{0, c.rank, c.fragment}, less);
    return at != t.asked.end() && at->rank == c.rank && at->fragment == c.fragment && at->at <= c.at ? at->at : -1;
  };
  // The last time before then.
  const auto came_to = [&](balancer::Time before, balancer::Rank rank, std::size_t fragment) -> const sim::Came* {
    const auto at = std::upper_bound(t.came.begin(), t.came.end(), sim::Came{before, rank, fragment}, less);
    return at != t.came.begin() && (at - 1)->rank == rank && (at - 1)->fragment == fragment ? &*(at - 1) : nullptr;
  };
  for (sim::Moved& m : t.moves) {
    const auto& inputs = w.fragments[m.fragment].inputs;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const std::size_t by = inputs[k].fragment;
      if (ran_on[by] < 0) continue;
      const sim::Came* c = ran_on[by] == index(m.from) ? nullptr : came_to(m.at, m.from, by);
      const balancer::Time at = c != nullptr ? c->at : std::min(m.at, ended[by]);
      if (at <= m.since) continue;
      m.since = at, m.last = static_cast<std::int32_t>(k);
      m.asked = c == nullptr ? -1 : asked(*c);
    }
  }
  for (sim::Bar& b : t.bars) {
    b.first_arrival = t.arrivals.size();
    const auto& inputs = w.fragments[b.fragment].inputs;
    for (std::uint32_t k = 0; k < inputs.size(); ++k) {
      if (ran_on[inputs[k].fragment] == b.rank || ran_on[inputs[k].fragment] < 0) continue;
      if (const sim::Came* c = came_to(b.start, balancer::Rank{b.rank}, inputs[k].fragment); c != nullptr) {
        t.arrivals.push_back({k, c->at, asked(*c)});
      } else if (const sim::Moved* m = moved[b.fragment]; m != nullptr && index(m->to) == b.rank) {
        t.arrivals.push_back({k, m->at});
      }
    }
    b.arrivals = static_cast<std::uint32_t>(t.arrivals.size() - b.first_arrival);
  }
}

}  // namespace

sim::Trace trace_of(const char* option, const Study& study) {
  if (study.trace) return *study.trace;
  sim::Generated made =
      sim::generate(*study.generator, study.parameters, sim::Surroundings{study.counts.front(), study.seed});
  if (!made.graph) {
    throw usage_error(std::string(option) + ": workload " + std::string(study.generator->name) +
                      " makes its fragments while it runs; only those that are known "
                      "beforehand can be saved (matmul, rowreduce, queens_loop, iterate, stencil)");
  }
  sim::Trace trace;
  trace.program = study.workload;
  trace.work = std::move(*made.graph);
  return trace;
}

sim::Trace record_of(const Study& study, const StudyRow& row) {
  if (!row.outcome) throw usage_error("balancer " + row.balancer + " can't run there: " + row.why);
  sim::Trace trace = *study.trace;
  sim::Times& t = *study.record;
  t.finished = std::max<balancer::Time>(1, row.outcome->finished);
  t.balancer = row.balancer;
  t.simulated = true;
  const sim::Outcome& o = *row.outcome;
  std::int32_t threads = 1;
  for (const sim::Bar& b : t.bars) threads = std::max(threads, b.worker + 1);
  for (std::int32_t r = 0; r < row.ranks; ++r) {
    sim::RankInfo info;
    info.workers = r < o.executing ? threads : 0;
    t.ranks.push_back(info);
  }
  if (trace.times.bars.empty()) {
    t.blocks = blocks_of(trace.work);
  } else {
    take_names(trace.times, trace.work.fragments.size(), t);
  }
  put_arrivals(trace.work, t);
  std::sort(t.bars.begin(), t.bars.end(), [](const sim::Bar& a, const sim::Bar& b) {
    return std::tie(a.rank, a.worker, a.start, a.fragment) < std::tie(b.rank, b.worker, b.start, b.fragment);
  });
  for (const std::string& n : trace.times.notes) t.notes.push_back("of the run that was recorded: " + n);
  trace.times = std::exchange(t, {});
  return trace;
}

void write_record(const std::string& path, const Study& study, const StudyRow& row) {
  try {
    sim::write_trace(path, record_of(study, row));
  } catch (const sim::TraceError& e) {
    throw usage_error(std::string("--record: ") + e.what());
  }
}

}  // namespace tessera::cli
