// A run whose record had no room for all: what is left is the end of it, of all ranks from one time on. What was made
// before that comes from nowhere, and was there when it begins.
#include <algorithm>

#include "runtime/trace/trace_graph.hpp"

namespace tessera::runtime {

void TraceGraph::since(balancer::Time from) {
  whole_ = false;
  std::vector<std::size_t> now(runs_.size(), kNone);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    Run& r = runs_[i];
    if (r.end <= from) continue;
    r.start = std::max(r.start, from);
    if (r.outer != kNone) r.outer = now[r.outer];
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
