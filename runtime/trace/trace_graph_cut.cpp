// A run whose record had no room for all: what is left is what began before a time, of all ranks, with all that made
// it.
#include <algorithm>

#include "runtime/trace/trace_graph.hpp"

namespace tessera::runtime {

void TraceGraph::cut(balancer::Time at) {
  // What still ran, as far as is known.
  for (auto& [worker, stream] : streams_) {
    put_inputs(stream);
    balancer::Time inside = 0;
    while (!stream.open.empty()) {
      const Stream::Open o = stream.open.back();
      stream.open.pop_back();
      Run& r = runs_[o.run];
      r.end = std::max(r.start, at);
      r.weight = std::max<balancer::Time>(0, r.end - r.start - o.inside - inside);
      inside = r.end - r.start;
    }
  }
  std::vector<std::size_t> now(runs_.size(), kNone);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    Run& r = runs_[i];
    if (r.start >= at) continue;
    r.weight = std::max<balancer::Time>(0, r.weight - std::max<balancer::Time>(0, r.end - at));
    r.end = std::min(r.end, at);
    now[i] = kept;
    runs_[kept++] = r;
  }
  runs_.resize(kept);
  const auto keep = [&](auto& list) { std::erase_if(list, [&](auto& x) { return (x.by = now[x.by]) == kNone; }); };
  keep(births_);
  keep(made_);
  for (Join& j : joins_) {  // they have numbers: none goes away
    j.by = now[j.by];
    if (j.by == kNone) j = {0, {}};
  }
}

}  // namespace tessera::runtime
