#include "runtime/trace/trace_report.hpp"

#include <fmt/format.h>

#include <map>

#include "balancer/simulator/trace.hpp"
#include "runtime/node/node.hpp"
#include "runtime/report/describe.hpp"
#include "runtime/start/agreement.hpp"
#include "runtime/trace/trace_graph.hpp"

namespace tessera::runtime {
namespace {

namespace simulator = balancer::simulator;

// The groups of the trace: those of the program, and those of joins.
struct Groups {
  explicit Groups(const Node& node_) : node(node_), of(node.program.block_count) {
    const abi::Program& p = node.program;
    std::vector<bool> queued(p.block_count);
    for (std::uint32_t b = 0; b < p.block_count; ++b) {
      if (p.blocks[b]->kind == abi::Kind::atomic) queued[p.blocks[b]->group] = true;
    }
    for (std::uint32_t b = 0; b < p.block_count; ++b) {
      if (p.blocks[b]->group == b) of[b] = add(node.infos[b], !queued[b] && !node.infos[b].range);
    }
    for (balancer::GroupInfo& g : list) {
      for (balancer::Group& body : g.body) body = of[balancer::index(body)];
    }
  }
  balancer::Group join(std::uint32_t block) {
    const auto [at, fresh] = joins.try_emplace(block);
    if (fresh) {
      balancer::GroupInfo info;
      info.label = "end of " + node.infos[block].label;
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

  const Node& node;
  std::vector<balancer::Group> of;  // by block
  std::map<std::uint32_t, balancer::Group> joins;
  std::vector<balancer::GroupInfo> list;
  std::vector<balancer::Group> stacks;
};

}  // namespace

void send_trace(Node& node) {
  const auto give = [&](TracePart part) {
    if (node.self() == Rank{0}) {
      node.trace_parts.emplace_back(Rank{0}, std::move(part));
    } else {
      node.comm.send(Rank{0}, part);
    }
  };
  for (auto& w : node.workers) {
    if (w->trace->full()) give({.worker = w->number, .full = true, .words = {}});
    for (auto& words : w->trace->take()) {
      give({.worker = w->number, .ns_per_tick = ns_per_tick(), .words = std::move(words)});
    }
  }
}

std::string write_trace(Node& node) {
  TraceGraph graph;
  for (auto& [rank, part] : node.trace_parts) {
    if (part.full) {
      return fmt::format(
          "--record: the trace of this run is not written: {} needs more than the "
          "{} MB that a rank may use for it; give it more with --record-limit-mb",
          rank_name(rank, node.hosts), node.options.record_limit_mb);
    }
    graph.add(rank, part);
    part.words = {};
  }
  Groups groups(node);
  simulator::Trace trace;
  trace.program = node.program.name;
  trace.hash = fmt::format("{:016x}{:016x}", node.program.hash[0], node.program.hash[1]);
  if (!graph.build(
          groups.of, [&](std::uint32_t b) { return groups.join(b); }, trace.work)) {
    return "--record: internal error: what the ranks wrote down does not fit together; the trace is "
           "not written. Please report it";
  }
  trace.work.groups = std::move(groups.list);
  trace.work.stacks = std::move(groups.stacks);
  try {
    simulator::write_trace(node.options.record, trace);
    return {};
  } catch (const std::exception& e) {
    return std::string("--record: ") + e.what();
  }
}

}  // namespace tessera::runtime
