// What is made of the graph: its fragments, and when and where they ran, one after the other.
#include <algorithm>
#include <numeric>

#include "runtime/trace/trace_graph.hpp"

namespace tessera::runtime {

namespace sim = balancer::simulator;

void TraceGraph::put_fragments(const sim::TracePieces::PutFragment& put) const {
  std::map<Index, std::uint32_t> series;  // numbered as they come, from 1
  sim::Fragment f{};
  for (Index i = 0; i < fragments_; ++i) {
    const Run& r = runs_[order_[i]];
    f.group = group_[r.block];
    f.weight = r.weight, f.output = r.output;
    f.bytes = 0, f.home = Rank{-1}, f.series = 0;
    f.inputs.clear();
    if (r.birth != kNone) {
      const Birth& b = births_[r.birth];
      f.home = Rank{b.home};
      if (b.series != 0)
        f.series = series.try_emplace(b.series, static_cast<std::uint32_t>(series.size() + 1)).first->second;
    }
    for (Index k = r.first_input; k < r.first_input + r.inputs; ++k) {
      const Used& u = used_[k];
      if (u.from == kNone) {
        f.bytes += u.bytes;
      } else {
        f.inputs.push_back({place_of(u.from), u.bytes});
      }
    }
    const Index parent = parent_of(order_[i]);
    put(f, parent == kNone ? sim::TracePieces::kNoParent : place_of(parent), Rank{whole_ ? 0 : r.rank});
  }
  put_joins(put);
}

void TraceGraph::put_joins(const sim::TracePieces::PutFragment& put) const {
  for (std::size_t i = fragments_; i < order_.size(); ++i) {
    const auto number = static_cast<Index>(order_[i] - runs_.size());
    const Join& j = joins_[number];
    sim::Fragment f{.group = j.group, .weight = 0};
    for (const Index from : under(j, number)) f.inputs.push_back({from, 0});
    put(f, place_of(j.by), Rank{-1});
  }
}

void TraceGraph::put_bars(const std::vector<Came>& came, balancer::Time zero,
                          const sim::TracePieces::PutBar& put) const {
  std::vector<Index> order(runs_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    const Run &x = runs_[a], &y = runs_[b];
    const Index f = place_of(first_of(a)), g = place_of(first_of(b));
    return std::tie(x.rank, x.worker, x.start, f) < std::tie(y.rank, y.worker, y.start, g);
  });
  std::vector<sim::Arrival> arrivals;
  for (const Index i : order) {
    const Run& r = runs_[i];
    arrivals.clear();
    std::uint32_t number = 0;
    for (Index k = r.first_input; k < r.first_input + r.inputs; ++k) {
      if (used_[k].from == kNone) continue;
      // Where it was made it is from then on; a fragment that was moved there may have brought it back.
      const bool here = used_[k].from < runs_.size() && runs_[used_[k].from].rank == r.rank;
      const Came* c = here ? nullptr : came_to(came, Rank{r.rank}, used_[k].value, r.start);
      if (c != nullptr) {
        arrivals.push_back({number, c->at - zero, c->asked < zero ? -1 : c->asked - zero,
                            c->by == kNone ? sim::Arrival::kNobody : c->by});
      }
      ++number;
    }
    const std::span<const std::int64_t> numbers =
        r.iteration != 0 ? std::span(&r.number, 1)
                         : std::span(numbers_).subspan(static_cast<std::size_t>(r.number), r.numbers);
    put({.fragment = place_of(first_of(i)),
         .rank = r.rank,
         .worker = r.worker,
         .start = r.start - zero,
         .length = std::max<balancer::Time>(0, r.end - r.start),
         .block = static_cast<std::uint32_t>(r.block),
         .numbers = static_cast<std::uint32_t>(numbers.size()),
         .arrivals = static_cast<std::uint32_t>(arrivals.size())},
        numbers, arrivals);
  }
}

std::vector<TraceGraph::Question> TraceGraph::questions() const {
  std::vector<Question> all;
  for (const Asked& a : asked_)
    all.push_back({Rank{a.rank}, a.value, a.at, a.by == kNone ? kNone : place_of(first_of(a.by)), a.request});
  return all;
}

bool TraceGraph::made_on(Rank rank, TraceKey value) const {
  for (auto at = std::lower_bound(made_.begin(), made_.end(), Made{value, 0}); at != made_.end() && at->value == value;
       ++at) {
    const Index run = at->by < runs_.size() ? at->by : joins_[at->by - runs_.size()].by;
    if (at->by >= runs_.size() || Rank{runs_[run].rank} == rank) return true;  // who ends a scope is not known
  }
  return false;
}

// The last time that it came there before then: it may have been given up, and come again. What came along with a
// fragment may have been there all the time, if nobody had asked for it: of such it is the first time.
const TraceGraph::Came* TraceGraph::came_to(const std::vector<Came>& came, Rank rank, TraceKey value,
                                            balancer::Time before) {
  auto at = std::partition_point(came.begin(), came.end(), [&](const Came& c) {
    return std::tie(c.rank, c.value, c.at) <= std::tie(rank, value, before);
  });
  const Came* first = nullptr;
  while (at != came.begin() && (--at)->rank == rank && at->value == value) {
    first = &*at;
    if (!first->along || first->asked >= 0) break;
  }
  return first;
}

TraceGraph::LastInput TraceGraph::inputs_on(std::uint32_t fragment, Rank rank, balancer::Time left,
                                            const std::vector<Came>& came) const {
  LastInput last;
  std::int32_t number = 0;
  const Run& r = runs_[order_[fragment]];
  for (Index k = r.first_input; k < r.first_input + r.inputs; ++k) {
    const Used& u = used_[k];
    const bool run = u.from != kNone && u.from < runs_.size();
    const bool there = run && Rank{runs_[u.from].rank} == rank;
    balancer::Time at = -1;
    const Came* const c = there ? nullptr : came_to(came, rank, u.value, left);
    if (c != nullptr) {
      at = c->at;
    } else if (run) {
      at = std::min(left, runs_[u.from].end);
    }
    if (at > last.since) {
      last = {at, u.from == kNone ? -1 : number};
      if (c != nullptr) last.asked = c->asked, last.by = c->by;
    }
    if (u.from != kNone) ++number;
  }
  return last;
}

std::uint32_t TraceGraph::fragment_of(TraceKey key) {
  if (by_key_.empty()) by_key_ = those(false);
  const auto at =
      std::lower_bound(by_key_.begin(), by_key_.end(), key, [&](Index r, TraceKey k) { return runs_[r].key < k; });
  return at == by_key_.end() || runs_[*at].key != key ? kNone : place_of(*at);
}

void TraceGraph::iterations_of(TraceKey range, std::int64_t first, std::int64_t last,
                               const std::function<void(std::uint32_t fragment)>& f) {
  if (by_number_.empty()) by_number_ = those(true);
  auto at = std::lower_bound(
      by_number_.begin(), by_number_.end(), std::pair(range, first),
      [&](Index r, const auto& x) { return std::tie(runs_[r].key, runs_[r].number) < std::tie(x.first, x.second); });
  for (; at != by_number_.end() && runs_[*at].key == range && runs_[*at].number <= last; ++at) {
    if (runs_[*at].same == kNone) f(place_of(*at));
  }
}

}  // namespace tessera::runtime
