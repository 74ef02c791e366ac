#include "runtime/report/trace_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>

#include "balancer/simulator/trace.hpp"
#include "balancer/units.hpp"
#include "runtime/report/totals.hpp"
#include "runtime/start/agreement.hpp"
#include "runtime/threads/ticks.hpp"
#include "runtime/trace/rank_events.hpp"
#include "runtime/trace/trace_events.hpp"
#include "runtime/trace/trace_graph.hpp"
#include "runtime/words/describe.hpp"

namespace tessera::runtime {
namespace {

namespace simulator = balancer::simulator;

// The groups of the trace: those of the program, and those of joins.
struct Groups {
  explicit Groups(const RunFacts& facts_) : facts(facts_), of(facts.program.block_count) {
    const abi::Program& p = facts.program;
    std::vector<bool> queued(p.block_count);
    for (std::uint32_t b = 0; b < p.block_count; ++b) {
      if (p.blocks[b]->kind == abi::Kind::atomic) queued[p.blocks[b]->group] = true;
    }
    for (std::uint32_t b = 0; b < p.block_count; ++b) {
      if (p.blocks[b]->group == b) of[b] = add(facts.infos[b], !queued[b] && !facts.infos[b].range);
    }
    for (std::uint32_t b = 0; b < p.block_count; ++b) of[b] = of[p.blocks[b]->group];
    for (balancer::GroupInfo& g : list) {
      for (balancer::Group& body : g.body) body = of[balancer::index(body)];
    }
  }
  balancer::Group join(std::uint32_t block) {
    block = facts.program.blocks[block]->group;
    const auto [at, fresh] = joins.try_emplace(block);
    if (fresh) {
      balancer::GroupInfo info;
      info.label = "end of " + facts.infos[block].label;
      at->second = add(std::move(info), true);
    }
    return at->second;
  }
  balancer::Group add(balancer::GroupInfo info, bool stack) {
    const balancer::Group g{static_cast<std::uint32_t>(list.size())};
    info.profile_count = 0;  // a trace has its own weights
    list.push_back(std::move(info));
    if (stack) stacks.push_back(g);
    return g;
  }

  const RunFacts& facts;
  std::vector<balancer::Group> of;  // by block
  std::map<std::uint32_t, balancer::Group> joins;
  std::vector<balancer::GroupInfo> list;
  std::vector<balancer::Group> stacks;
};

std::vector<bool> spreads(const abi::Program& p) {
  std::vector<bool> by_block(p.block_count);
  for (std::uint32_t b = 0; b < p.block_count; ++b) by_block[b] = (p.blocks[b]->flags & abi::kSpreads) != 0;
  return by_block;
}

simulator::BlockText text_of(const abi::Program& p, const abi::Block& b, balancer::Group group) {
  simulator::BlockText t;
  t.group = balancer::index(group);
  t.kernel = b.kind == abi::Kind::atomic;
  const auto file = static_cast<std::uint32_t>(b.pos >> 48);
  t.file = file < p.file_count ? p.files[file] : p.name;
  t.line = static_cast<std::uint32_t>(b.pos >> 16);
  t.text = b.text == nullptr ? b.label : b.text;
  if (b.kind == abi::Kind::range) {
    const std::string label = b.label;  // `for i`
    t.names.push_back(label.substr(label.rfind(' ') + 1));
    return t;
  }
  for (unsigned i = 0; i < b.var_count; ++i) {
    if (is_whole(b.vars[i])) t.names.push_back(b.vars[i].name);
  }
  for (unsigned s = 0; b.kind == abi::Kind::atomic && s < static_cast<unsigned>(b.input_count) + b.output_count; ++s) {
    t.slots.push_back({b.slots[s].base, b.indices == nullptr ? 0u : b.slots[s].indices, s >= b.input_count});
  }
  return t;
}

// The program's text, as far as it can still be read.
std::vector<simulator::SourceText> sources(const abi::Program& p) {
  std::vector<simulator::SourceText> all;
  for (std::uint32_t f = 0; f < p.file_count; ++f) {
    std::ifstream in(p.files[f]);
    if (!in) continue;
    all.push_back({p.files[f], {}});
    for (std::string line; std::getline(in, line);) all.back().lines.push_back(line);
  }
  return all;
}

simulator::Times about_run(const RunOver& over, const std::vector<balancer::Group>& group_of) {
  simulator::Times t;
  const RunFacts& facts = over.facts;
  const abi::Program& p = facts.program;
  t.finished = std::max<balancer::Time>(1, static_cast<balancer::Time>(over.seconds * 1e9));
  t.balancer = facts.policy.name;
  for (std::int32_t r = 0; r < facts.ranks; ++r) {
    const auto& totals = over.totals[static_cast<std::size_t>(r)];
    simulator::RankInfo info;
    info.workers = static_cast<std::int32_t>(totals.threads);
    if (!facts.hosts.empty()) info.host = facts.hosts[static_cast<std::size_t>(r)];
    t.ranks.push_back(info);
  }
  for (std::uint32_t b = 0; b < p.block_count; ++b) t.blocks.push_back(text_of(p, *p.blocks[b], group_of[b]));
  t.sources = sources(p);
  return t;
}

// Since when a rank has kept all.
struct Window {
  balancer::Time from;
  Rank rank;
};
// The worker of a part that tells when a signal has ended the run.
constexpr std::int32_t kBySignal = -2;

// Clocks agree within less than kClocks, or as far as is known.
constexpr balancer::Time kClocks = 1'000'000;
balancer::Time apart(const simulator::Times& t) {
  balancer::Time most = kClocks;
  for (const simulator::RankInfo& r : t.ranks) most = std::max(most, r.same_host ? 0 : 2 * r.error);
  return most;
}

// Leaves what was before a signal has ended the run, on all ranks: so nothing is there without what made it.
bool leave_until(balancer::Time signal, balancer::Time zero, TraceGraph& graph, simulator::Times& t) {
  const balancer::Time end = signal - zero - apart(t);
  if (end <= 0) return false;
  graph.until(zero + end);
  const auto later = [&](const auto& x) { return x.at >= end; };
  std::erase_if(t.messages, later);
  std::erase_if(t.decisions, later);
  std::erase_if(t.memory, later);
  t.notes.push_back(fmt::format("the run was ended by a signal after {}", balancer::duration_text(end)));
  t.finished = end;
  return true;
}

// What a rank may use: half of it is the same for all, the other goes to those that fill theirs, as they ask for it.
std::string room_text(const RunFacts& facts) {
  std::string all = fmt::format("the {} MB of --record-limit-mb", facts.options.record_limit_mb);
  if (facts.ranks == 1) return all;
  return fmt::format(
      "its part of {}, one half of which the {} ranks share evenly, the other as they need it: with more "
      "MB more is kept",
      all, facts.ranks);
}

// Leaves what was from then on, on all ranks.
bool leave(const Window& w, const RunFacts& facts, balancer::Time zero, TraceGraph& graph, simulator::Times& t) {
  t.from = w.from - zero + apart(t);
  if (t.from >= t.finished) return false;
  graph.since(zero + t.from);
  if (graph.nothing_left()) return false;
  const auto before = [&](const auto& x) { return x.at < t.from; };
  std::erase_if(t.messages, before);
  std::erase_if(t.decisions, before);
  std::erase_if(t.memory, before);
  t.notes.push_back(fmt::format("this is only the last {} of {}: {} had no room for more in {}",
                                balancer::duration_text(t.finished - t.from), balancer::duration_text(t.finished),
                                rank_name(w.rank, facts.hosts), room_text(facts)));
  return true;
}

}  // namespace

void send_trace(const Crew& crew, RankEvents& events, bool whole, const std::function<void(TracePart)>& give) {
  const RankEvents::Scale scale = events.scale();
  const auto tell = [&](std::int32_t worker, std::uint64_t when) {
    const auto after = static_cast<double>(static_cast<std::int64_t>(when - scale.ticks)) * scale.ns_per_tick;
    give({.worker = worker, .full = true, .base_ns = scale.ns + static_cast<std::int64_t>(after), .words = {}});
  };
  const auto kept_since = [&](std::int32_t worker, std::uint64_t since) {
    if (since != 0) tell(worker, since);
  };
  if (!whole) tell(kBySignal, ticks());
  for (const auto& w : crew.workers) {
    kept_since(w->number, w->trace->since());
    for (auto& words : w->trace->take()) {
      give({.worker = w->number,
            .ns_per_tick = scale.ns_per_tick,
            .base_ticks = scale.ticks,
            .base_ns = scale.ns,
            .words = std::move(words)});
    }
  }
  kept_since(-1, events.since());
  for (TracePart& part : events.take(scale)) give(std::move(part));
}

std::string write_trace(const RunOver& over, std::string& missing) {
  const RunFacts& facts = over.facts;
  Groups groups(facts);
  simulator::Trace trace;
  TraceGraph graph;
  graph.spreads(spreads(facts.program));
  TraceEvents events(over.events->began());
  trace.times = about_run(over, groups.of);
  std::optional<Window> window;
  std::optional<balancer::Time> signal;
  graph.expect(over.trace_parts);
  for (auto& [rank, part] : over.trace_parts) {
    if (part.worker == kBySignal) {
      signal = std::min(signal.value_or(part.base_ns), part.base_ns);
      continue;
    }
    if (part.full && (!window || part.base_ns > window->from)) window = {part.base_ns, rank};
    if (part.full) continue;
    if (part.worker < 0) {
      events.add(
          rank, part, [&](std::uint32_t b) { return groups.of.at(b); }, trace.times);
    } else {
      graph.add(rank, part);
    }
    part.words = {};
  }
  if (signal && !leave_until(*signal, events.zero(), graph, trace.times)) {
    return "--record: the trace of this run is not written: a signal has ended it at its beginning";
  }
  if (window && !leave(*window, facts, events.zero(), graph, trace.times)) {
    return fmt::format(
        "--record: the trace of this run is not written: the {} MB that {} may use for it are too little for "
        "anything; give it more with --record-limit-mb",
        facts.options.record_limit_mb, rank_name(window->rank, facts.hosts));
  }
  if (window) missing = trace.times.notes.back();
  std::int64_t recalled = 0;
  for (const Totals& t : over.totals) recalled += t.recalled;
  if (recalled > 0) {
    graph.goes_on();
    trace.times.notes.push_back(
        fmt::format("the run went on from a journal: {} fragments of before are not shown, or only as what gives what "
                    "they had made",
                    recalled));
  }
  if (std::string text = summarise(over).crowded(); !text.empty()) trace.times.notes.push_back(std::move(text));
  trace.program = facts.program.name;
  trace.hash = fmt::format("{:016x}{:016x}", facts.program.hash[0], facts.program.hash[1]);
  if (!graph.build(groups.of, [&](std::uint32_t b) { return groups.join(b); })) {
    return "--record: internal error: what the ranks wrote down does not fit together; the trace is "
           "not written. Please report it";
  }
  const std::vector<TraceGraph::Came> came = events.came(graph);
  // Of what is cut off, or was made before, not all is known; and a rank that leaves asks for some of those that it
  // sends away.
  const bool changed = std::any_of(over.totals.begin(), over.totals.end(), [](const Totals& t) { return t.partly; });
  if (!window && !signal && recalled == 0 && !changed && events.unattached() > 0) {
    trace.times.unattached = events.unattached();
    trace.times.notes.push_back(
        fmt::format("internal error: {} questions for values belong to none that came, so some transfers may be told "
                    "longer than they were. Please report it",
                    events.unattached()));
    missing = trace.times.notes.back();
  }
  events.moves(graph, came, trace.times);
  std::erase_if(trace.times.moves,
                [&](const auto& m) { return m.at < trace.times.from || (signal && m.at >= trace.times.finished); });
  trace.work.groups = std::move(groups.list);
  trace.work.stacks = std::move(groups.stacks);
  try {
    simulator::write_trace(facts.options.record, trace,
                           {.fragments = [&](const auto& put) { graph.put_fragments(put); },
                            .bars = [&](const auto& put) { graph.put_bars(came, over.events->began(), put); }});
    return {};
  } catch (const std::exception& e) {
    return std::string("--record: ") + e.what();
  }
}

}  // namespace tessera::runtime
