// When and where the graph's fragments ran.
#include <algorithm>

#include "runtime/trace/trace_graph.hpp"

namespace tessera::runtime {

namespace sim = balancer::simulator;

void TraceGraph::times(const std::vector<Came>& came, balancer::Time zero, sim::Times& out) {
  out.bars.reserve(runs_.size());
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Run& r = runs_[i];
    sim::Bar b{.fragment = place_of(first_of(i)),
               .rank = r.rank,
               .worker = r.worker,
               .start = r.start - zero,
               .length = std::max<balancer::Time>(0, r.end - r.start),
               .block = r.block,
               .first_number = out.numbers.size(),
               .first_arrival = out.arrivals.size()};
    if (r.iteration) {
      out.numbers.push_back(r.number);
    } else {
      by_key_.emplace_back(r.key, b.fragment);
      const auto first = numbers_.begin() + static_cast<std::ptrdiff_t>(r.first_number);
      out.numbers.insert(out.numbers.end(), first, first + static_cast<std::ptrdiff_t>(r.numbers));
    }
    std::uint32_t number = 0;
    for (std::size_t k = r.first_input; k < r.first_input + r.inputs; ++k) {
      if (used_[k].from == kNone) continue;
      // The last one before it began: it may have come, been given up, and come again.
      auto at = std::upper_bound(came.begin(), came.end(), Came{Rank{r.rank}, used_[k].value, r.start});
      if (at != came.begin() && (--at)->rank == Rank{r.rank} && at->value == used_[k].value) {
        out.arrivals.push_back({number, at->at - zero});
      }
      ++number;
    }
    b.numbers = static_cast<std::uint32_t>(out.numbers.size() - b.first_number);
    b.arrivals = static_cast<std::uint32_t>(out.arrivals.size() - b.first_arrival);
    out.bars.push_back(b);
  }
  std::sort(by_key_.begin(), by_key_.end());
  std::sort(out.bars.begin(), out.bars.end(), [](const sim::Bar& a, const sim::Bar& b) {
    return std::tie(a.rank, a.worker, a.start, a.fragment) < std::tie(b.rank, b.worker, b.start, b.fragment);
  });
}

std::size_t TraceGraph::fragment_of(TraceKey key) const {
  const auto at = std::lower_bound(by_key_.begin(), by_key_.end(), std::pair{key, std::size_t{0}});
  return at == by_key_.end() || at->first != key ? kNone : at->second;
}

}  // namespace tessera::runtime
