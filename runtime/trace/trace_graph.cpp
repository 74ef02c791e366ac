#include "runtime/trace/trace_graph.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace tessera::runtime {

using balancer::simulator::Fragment;
using balancer::simulator::TracePieces;

void TraceGraph::expect(const std::vector<std::pair<Rank, TracePart>>& parts) {
  std::size_t runs = 0, births = 0, made = 0, used = 0, asked = 0, numbers = 0;
  for (const auto& [rank, part] : parts) {
    if (part.worker < 0) continue;
    for (std::size_t i = 0; i < part.words.size();) {
      const auto word = static_cast<TraceWord>(part.words[i] & ((1u << kTraceShift) - 1));
      const bool fresh = word == TraceWord::born_begin || word == TraceWord::short_begin;
      runs += fresh || word == TraceWord::begin || word == TraceWord::iteration || word == TraceWord::next ||
                      word == TraceWord::end_next
                  ? 1
                  : 0;
      births += fresh || word == TraceWord::born ? 1 : 0;
      made += word == TraceWord::made || word == TraceWord::ends ? 1 : 0;
      used += word == TraceWord::input ? 1 : 0;
      asked += word == TraceWord::asked ? 1 : 0;
      numbers += trace_numbers(word, part.words[i] >> kTraceShift);
      i += trace_words(word, part.words[i] >> kTraceShift);
    }
  }
  runs_.reserve(runs), births_.reserve(births), made_.reserve(made), used_.reserve(used), asked_.reserve(asked);
  numbers_.reserve(numbers);
}

void TraceGraph::add(Rank from, const TracePart& part) {
  Stream& stream = streams_[{from, part.worker}];
  for (std::size_t i = 0; i < part.words.size();) {
    const std::uint64_t first = part.words[i];
    const auto word = static_cast<TraceWord>(first & ((1u << kTraceShift) - 1));
    stream.iterated.rank = balancer::index(from);
    stream.iterated.worker = part.worker;
    take(stream, word, first >> kTraceShift, &part.words[i] + 1, part);
    i += trace_words(word, first >> kTraceShift);
  }
}

void TraceGraph::take(Stream& s, TraceWord word, std::uint64_t payload, const std::uint64_t* words,
                      const TracePart& part) {
  const auto time = [&](std::uint64_t ticks) {
    return part.base_ns +
           static_cast<balancer::Time>(static_cast<double>(static_cast<std::int64_t>(ticks - part.base_ticks)) *
                                       part.ns_per_tick);
  };
  if (word != TraceWord::input) put_inputs(s);
  switch (word) {
    case TraceWord::born_begin:
    case TraceWord::short_begin:
      born(s, payload >> kTraceBornBits, ++fresh_);
      [[fallthrough]];
    case TraceWord::begin: {
      Run r{.key = word == TraceWord::begin ? words[0] : fresh_, .rank = s.iterated.rank, .worker = s.iterated.worker};
      r.block = static_cast<std::uint32_t>(payload & ((1u << kTraceBlockBits) - 1));
      const std::uint64_t* const numbers = words + trace_head(word) - 1;
      const std::uint64_t since = payload >> kTraceSinceBits & kLongestSince;
      r.start = time(word == TraceWord::short_begin ? s.last_end + since * kTraceUnit : numbers[-1]);
      r.numbers = static_cast<std::uint32_t>(trace_numbers(word, payload));
      r.number = static_cast<std::int64_t>(numbers_.size());
      numbers_.insert(numbers_.end(), numbers, numbers + r.numbers);
      return open(s, r);
    }
    case TraceWord::iteration:
      s.iterated.iteration = 1;
      s.iterated.key = words[0];
      s.iterated.number = static_cast<std::int64_t>(words[1]);
      s.iterated.block = static_cast<std::uint32_t>(payload);
      s.iterated.start = time(words[2]);
      return open(s, s.iterated);
    case TraceWord::next:
      return open_next(s);
    case TraceWord::input:
      s.inputs.push_back({words[0], static_cast<std::int64_t>(payload)});
      return;
    case TraceWord::born:
      return born(s, payload, words[0]);
    case TraceWord::made:
      made_.push_back({words[0], s.open.back()});
      runs_[s.open.back()].output += static_cast<std::int64_t>(payload);
      return;
    case TraceWord::asked:
      asked_.push_back(
          {words[0], time(payload / 2), s.open.empty() ? kNone : s.open.back(), s.iterated.rank, payload % 2 != 0});
      return;
    case TraceWord::ends:
      if (s.ended == kNone) {
        s.ended = static_cast<Index>(joins_.size());
        joins_.push_back({s.open.back(), {}});
      }
      joins_[s.ended].values.push_back(words[0]);
      return;
    case TraceWord::series: {
      const auto [at, fresh] = series_of_.try_emplace(words[0], static_cast<Index>(series_.size()));
      if (fresh) series_.push_back(words[0]);
      s.series = at->second;
      return;
    }
    case TraceWord::end:
      return end(s, payload, time(payload));
    case TraceWord::end_both:
    case TraceWord::end_next:
      end(s, payload, time(payload));
      end(s, payload, time(payload));
      if (word == TraceWord::end_next) open_next(s);
      return;
  }
}

void TraceGraph::open(Stream& s, Run r) {
  if (!s.open.empty()) r.outer = s.open.back();
  s.open.push_back(static_cast<Index>(runs_.size()));
  runs_.push_back(r);
}

void TraceGraph::open_next(Stream& s) {
  ++s.iterated.number;
  s.iterated.start = s.iterated.end;
  open(s, s.iterated);
}

void TraceGraph::end(Stream& s, std::uint64_t ticks, balancer::Time at) {
  Run& r = runs_[s.open.back()];
  r.end = std::max(r.start, at);
  if (r.iteration != 0) {
    s.iterated.key = r.key, s.iterated.number = r.number, s.iterated.end = r.end;
    s.iterated.block = static_cast<std::uint32_t>(r.block);
  }
  s.open.pop_back();
  s.ended = kNone;
  s.last_end = ticks;
}

void TraceGraph::weigh() {
  for (Run& r : runs_) {
    r.end = std::max(r.start, r.end);
    r.weight += r.end - r.start;
    if (r.outer != kNone) runs_[r.outer].weight -= r.end - r.start;
  }
  for (Run& r : runs_) r.weight = std::max<balancer::Time>(0, r.weight);
}

void TraceGraph::put_inputs(Stream& s) {
  if (s.inputs.empty()) return;
  Run& r = runs_[s.open.back()];
  r.first_input = static_cast<Index>(used_.size());
  r.inputs = static_cast<Index>(s.inputs.size());
  used_.insert(used_.end(), s.inputs.begin(), s.inputs.end());
  s.inputs.clear();
}

void TraceGraph::born(Stream& s, std::uint64_t payload, TraceKey key) {
  Birth b{key, s.open.back(), static_cast<std::int32_t>(payload / 2) - 1, std::exchange(s.series, 0)};
  if (payload % 2 != 0) b.join = s.ended;
  s.ended = kNone;
  births_.push_back(b);
}

std::vector<TraceGraph::Index> TraceGraph::those(bool iterations) const {
  std::vector<Index> all;
  for (Index r = 0; r < runs_.size(); ++r) {
    if ((runs_[r].iteration != 0) == iterations) all.push_back(r);
  }
  std::sort(all.begin(), all.end(), [&](Index a, Index b) {
    const Run &x = runs_[a], &y = runs_[b];
    return iterations ? std::tie(x.key, x.number, a) < std::tie(y.key, y.number, b)
                      : std::tie(x.key, a) < std::tie(y.key, b);
  });
  return all;
}

// An iteration of a range has its number, and the range the same name on every rank. The first one stands for all.
void TraceGraph::merge_iterations() {
  fragments_ = static_cast<Index>(runs_.size());
  if (std::find(spreads_.begin(), spreads_.end(), true) == spreads_.end()) return;
  const std::vector<Index> all = those(true);
  for (std::size_t i = 1; i < all.size(); ++i) {
    Run &a = runs_[all[i - 1]], &b = runs_[all[i]];
    if (a.key != b.key || a.number != b.number) continue;
    b.same = first_of(all[i - 1]);
    runs_[b.same].weight += b.weight;
    --fragments_;
  }
  for (Birth& b : births_) b.by = first_of(b.by);
}

// Everything but `main` was born, once, if all is kept; what the same iteration made on several ranks is one.
bool TraceGraph::find_parents() {
  std::vector<Index> by_key(births_.size());
  std::iota(by_key.begin(), by_key.end(), 0);
  std::sort(by_key.begin(), by_key.end(), [&](Index a, Index b) { return births_[a].key < births_[b].key; });
  for (std::size_t i = 1; i < by_key.size(); ++i) {
    const Birth &a = births_[by_key[i - 1]], &b = births_[by_key[i]];
    if (a.key == b.key && (a.by != b.by || runs_[a.by].iteration == 0)) return false;
  }
  // Mostly what was born next, or the range of the iteration before.
  Index next = 0, range = 0;
  const auto find = [&](const Run& r) {
    const Index near = r.iteration != 0 ? range : next;
    if (near < births_.size() && births_[near].key == r.key) return near;
    const auto at =
        std::lower_bound(by_key.begin(), by_key.end(), r.key, [&](Index b, TraceKey k) { return births_[b].key < k; });
    return at == by_key.end() || births_[*at].key != r.key ? kNone : *at;
  };
  for (Index i = 0; i < runs_.size(); ++i) {
    Run& r = runs_[i];
    if (r.same != kNone) continue;
    r.birth = find(r);
    if (r.birth == kNone) {
      if (whole_ && !roots_.empty()) return false;
      roots_.push_back(i);
      continue;
    }
    r.iteration != 0 ? range = r.birth : next = r.birth + 1;
    const Index join = births_[r.birth].join;
    if (join != kNone) joins_[join].block = static_cast<std::uint32_t>(r.block);
  }
  return whole_ ? !roots_.empty() : !runs_.empty();
}

void TraceGraph::find_inputs() {
  const auto runs = static_cast<Index>(runs_.size());
  for (Index j = 0; j < joins_.size(); ++j) {
    for (const TraceKey v : joins_[j].values) made_.push_back({v, runs + j});
  }
  std::sort(made_.begin(), made_.end());
  for (Used& u : used_) {
    const auto at = std::lower_bound(made_.begin(), made_.end(), Made{u.value, 0});
    if (at == made_.end() || at->value != u.value) continue;
    u.from = at->by;
    if (u.from >= runs) joins_[u.from - runs].read = true;
  }
}

bool TraceGraph::in_spread(Index run) const {
  const Run& r = runs_[run];
  const Index parent = parent_of(run);
  return r.iteration != 0 &&
         ((r.block < spreads_.size() && spreads_[r.block]) || (parent != kNone && in_spread(parent)));
}

// In the order in which they were made, which is that of the program; what several ranks have made of one iteration, in
// the order of the program's blocks.
void TraceGraph::list_children() {
  const auto runs = static_cast<Index>(runs_.size());
  std::vector<Index> order(runs);
  first_child_.assign(runs + std::size_t{1}, 0);
  for (Index r = 0; r < runs; ++r) {
    const Index parent = parent_of(r);
    order[r] = parent != kNone && in_spread(parent) ? static_cast<Index>(runs_[r].block) : runs_[r].birth;
    if (parent == kNone || runs_[r].same != kNone) continue;
    ++first_child_[parent + 1];
  }
  std::partial_sum(first_child_.begin(), first_child_.end(), first_child_.begin());
  children_.resize(first_child_.back());
  std::vector<Index> next(first_child_.begin(), first_child_.end() - 1);
  for (Index r = 0; r < runs; ++r) {
    const Index parent = parent_of(r);
    if (parent != kNone && runs_[r].same == kNone) children_[next[parent]++] = r;
  }
  for (Index r = 0; r < runs; ++r) {
    std::sort(children_.begin() + first_child_[r], children_.begin() + first_child_[r + 1], [&](Index a, Index b) {
      return std::tie(order[a], runs_[a].number, a) < std::tie(order[b], runs_[b].number, b);
    });
  }
}

// Generation by generation, in the order of the program; the joins that somebody reads come last.
void TraceGraph::number_all() {
  const auto runs = static_cast<Index>(runs_.size());
  const auto when = [&](Index r) { return std::tie(runs_[r].start, runs_[r].rank, runs_[r].worker, r); };
  std::sort(roots_.begin(), roots_.end(), [&](Index a, Index b) { return when(a) < when(b); });
  order_.reserve(fragments_ + joins_.size());
  order_ = roots_;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Index r = order_[i];
    order_.insert(order_.end(), children_.begin() + first_child_[r], children_.begin() + first_child_[r + 1]);
  }
  place_.assign(runs + joins_.size(), kNone);
  for (Index i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
  std::vector<Index> read;
  for (Index j = 0; j < joins_.size(); ++j) {
    if (joins_[j].read) read.push_back(runs + j);
  }
  const auto key = [&](Index j) {
    const Join& x = joins_[j - runs];
    return std::make_pair(place_[x.by], j);  // those of one run: in the order it wrote them down
  };
  std::sort(read.begin(), read.end(), [&](Index a, Index b) { return key(a) < key(b); });
  for (const Index j : read) {
    place_[j] = static_cast<Index>(order_.size());
    order_.push_back(j);
  }
}

// What a join waits for: fragments that made no others, and the joins within.
std::vector<TraceGraph::Index> TraceGraph::under(const Join& j, Index number) const {
  std::vector<Index> found, open;
  const auto look_at_children = [&](Index of, bool only_own) {
    for (Index c = first_child_[of]; c < first_child_[of + 1]; ++c) {
      const Index run = children_[c];
      const Index inner = births_[runs_[run].birth].join;
      if (only_own) {
        if (inner == number) open.push_back(run);
      } else if (inner != kNone && joins_[inner].read) {
        const Index at = place_of(static_cast<Index>(runs_.size()) + inner);
        if (found.empty() || found.back() != at) found.push_back(at);
      } else {
        open.push_back(run);
      }
    }
  };
  look_at_children(j.by, true);
  while (!open.empty()) {
    const Index run = open.back();
    open.pop_back();
    if (first_child_[run] == first_child_[run + 1]) found.push_back(place_of(run));
    look_at_children(run, false);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool TraceGraph::build(std::vector<balancer::Group> group, const JoinGroup& join_group) {
  group_ = std::move(group);
  weigh();
  merge_iterations();
  if (!find_parents()) return false;
  find_inputs();
  list_children();
  number_all();
  for (std::size_t i = fragments_; i < order_.size(); ++i) {
    if (order_[i] < runs_.size()) return false;
    Join& j = joins_[order_[i] - runs_.size()];
    j.group = join_group(j.block);
  }
  // Else not all hang on the root.
  return fragments_ <= order_.size() && (fragments_ == 0 || order_[fragments_ - 1] < runs_.size());
}

}  // namespace tessera::runtime
