// A run whose record had no room for all: what is left is the end of it, of all ranks from one time on. What was made
// before that comes from nowhere, and was there when it begins. Or one that a signal has ended: what is left is what
// began before, with all that made it.
#include <algorithm>

#include "runtime/trace/trace_graph.hpp"

namespace tessera::runtime {

void TraceGraph::since(balancer::Time from) {
  whole_ = false;
  keep_runs([from](Run& r) {
    r.start = std::max(r.start, from);
    return r.end > from;
  });
}

void TraceGraph::until(balancer::Time at) {
  for (auto& [worker, stream] : streams_) {
    put_inputs(stream);
    for (const Index run : stream.open) runs_[run].end = at;  // as far as is known
    stream.open.clear();
  }
  keep_runs([at](Run& r) {
    r.end = std::min(r.end, at);
    return r.start < at;
  });
}

void TraceGraph::keep_runs(const std::function<bool(Run&)>& stays) {
  std::vector<Index> now(runs_.size(), kNone);
  Index kept = 0;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    Run& r = runs_[i];
    if (!stays(r)) continue;
    if (r.outer != kNone) r.outer = now[r.outer];
    now[i] = kept;
    runs_[kept++] = r;
  }
  runs_.resize(kept);
  const auto keep = [&](auto& list) { std::erase_if(list, [&](auto& x) { return (x.by = now[x.by]) == kNone; }); };
  std::erase_if(asked_, [&](Asked& a) { return a.by != kNone && (a.by = now[a.by]) == kNone; });
  keep(births_);
  keep(made_);
  for (Join& j : joins_) {  // they have numbers: none goes away
    j.by = now[j.by];
    if (j.by == kNone) j = {0, {}};
  }
}

}  // namespace tessera::runtime
