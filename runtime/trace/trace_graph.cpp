#include "runtime/trace/trace_graph.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tessera::runtime {

using balancer::simulator::Fragment;
using balancer::simulator::Workload;

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
      born(s, payload >> kTraceBornBits, words[0]);
      [[fallthrough]];
    case TraceWord::begin: {
      Run r{.key = words[0], .rank = s.iterated.rank, .worker = s.iterated.worker};
      r.block = static_cast<std::uint32_t>(payload & ((1u << kTraceBlockBits) - 1));
      r.start = time(words[1]);
      r.numbers = trace_words(word, payload) - 3;
      r.first_number = numbers_.size();
      numbers_.insert(numbers_.end(), words + 2, words + 2 + r.numbers);
      return open(s, r);
    }
    case TraceWord::iteration:
      s.iterated.iteration = true;
      s.iterated.key = words[0];
      s.iterated.number = static_cast<std::int64_t>(words[1]);
      s.iterated.block = static_cast<std::uint32_t>(payload);
      s.iterated.start = time(words[2]);
      return open(s, s.iterated);
    case TraceWord::next:
      ++s.iterated.number;
      s.iterated.start = s.iterated.end;
      return open(s, s.iterated);
    case TraceWord::input:
      s.inputs.push_back({words[0], static_cast<std::int64_t>(payload)});
      return;
    case TraceWord::born:
      return born(s, payload, words[0]);
    case TraceWord::made:
      made_.push_back({words[0], s.open.back()});
      runs_[s.open.back()].output += static_cast<std::int64_t>(payload);
      return;
    case TraceWord::ends:
      if (s.ended == kNone) {
        s.ended = joins_.size();
        joins_.push_back({s.open.back(), {}});
      }
      joins_[s.ended].values.push_back(words[0]);
      return;
    case TraceWord::series:
      s.series = words[0];
      return;
    case TraceWord::end: {
      Run& r = runs_[s.open.back()];
      r.end = std::max(r.start, time(payload));
      if (r.iteration)
        s.iterated.key = r.key, s.iterated.number = r.number, s.iterated.block = r.block, s.iterated.end = r.end;
      s.open.pop_back();
      s.ended = kNone;
      return;
    }
  }
}

void TraceGraph::open(Stream& s, Run r) {
  if (!s.open.empty()) r.outer = s.open.back();
  s.open.push_back(runs_.size());
  runs_.push_back(r);
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
  r.first_input = used_.size();
  r.inputs = s.inputs.size();
  used_.insert(used_.end(), s.inputs.begin(), s.inputs.end());
  s.inputs.clear();
}

void TraceGraph::born(Stream& s, std::uint64_t payload, TraceKey key) {
  Birth b{key, s.open.back(), static_cast<std::int64_t>(payload / 2) - 1, std::exchange(s.series, 0)};
  if (payload % 2 != 0) b.join = s.ended;
  s.ended = kNone;
  births_.push_back(b);
}

// An iteration of a range has its number, and the range the same name on every rank. The first one stands for all.
void TraceGraph::merge_iterations() {
  fragments_ = runs_.size();
  if (std::find(spreads_.begin(), spreads_.end(), true) == spreads_.end()) return;
  std::vector<std::size_t> all;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    if (runs_[r].iteration) all.push_back(r);
  }
  std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(runs_[a].key, runs_[a].number, a) < std::tie(runs_[b].key, runs_[b].number, b);
  });
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
  std::vector<std::size_t> by_key(births_.size());
  std::iota(by_key.begin(), by_key.end(), 0);
  std::sort(by_key.begin(), by_key.end(),
            [&](std::size_t a, std::size_t b) { return births_[a].key < births_[b].key; });
  for (std::size_t i = 1; i < by_key.size(); ++i) {
    const Birth &a = births_[by_key[i - 1]], &b = births_[by_key[i]];
    if (a.key == b.key && (a.by != b.by || !runs_[a.by].iteration)) return false;
  }
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    Run& r = runs_[i];
    if (r.same != kNone) continue;
    const auto at = std::lower_bound(by_key.begin(), by_key.end(), r.key,
                                     [&](std::size_t b, TraceKey k) { return births_[b].key < k; });
    if (at == by_key.end() || births_[*at].key != r.key) {
      if (whole_ && !roots_.empty()) return false;
      roots_.push_back(i);
    } else {
      r.birth = *at;
      r.parent = births_[*at].by;
      const std::size_t join = births_[*at].join;
      if (join != kNone) joins_[join].block = r.block;
    }
  }
  return whole_ ? !roots_.empty() : !runs_.empty();
}

void TraceGraph::find_inputs() {
  for (std::size_t j = 0; j < joins_.size(); ++j) {
    for (const TraceKey v : joins_[j].values) made_.push_back({v, runs_.size() + j});
  }
  std::sort(made_.begin(), made_.end());
  for (Used& u : used_) {
    const auto at = std::lower_bound(made_.begin(), made_.end(), Made{u.value, 0});
    if (at == made_.end() || at->value != u.value) continue;
    u.from = at->by;
    if (u.from >= runs_.size()) joins_[u.from - runs_.size()].read = true;
  }
}

bool TraceGraph::in_spread(std::size_t run) const {
  const Run& r = runs_[run];
  return r.iteration &&
         ((r.block < spreads_.size() && spreads_[r.block]) || (r.parent != kNone && in_spread(r.parent)));
}

// In the order in which they were made, which is that of the program; what several ranks have made of one iteration, in
// the order of the program's blocks.
void TraceGraph::list_children() {
  std::vector<std::size_t> order(runs_.size());
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    order[r] = runs_[r].parent != kNone && in_spread(runs_[r].parent) ? runs_[r].block : runs_[r].birth;
  }
  first_child_.assign(runs_.size() + 1, 0);
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    if (runs_[r].parent == kNone || runs_[r].same != kNone) continue;
    ++first_child_[runs_[r].parent + 1];
    children_.push_back(r);
  }
  std::partial_sum(first_child_.begin(), first_child_.end(), first_child_.begin());
  std::sort(children_.begin(), children_.end(), [&](std::size_t a, std::size_t b) {
    const Run &x = runs_[a], &y = runs_[b];
    return std::tie(x.parent, order[a], x.number) < std::tie(y.parent, order[b], y.number);
  });
}

// Generation by generation, in the order of the program; the joins that somebody reads come last.
void TraceGraph::number_all() {
  const auto when = [&](std::size_t r) { return std::tie(runs_[r].start, runs_[r].rank, runs_[r].worker, r); };
  std::sort(roots_.begin(), roots_.end(), [&](std::size_t a, std::size_t b) { return when(a) < when(b); });
  order_ = roots_;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::size_t r = order_[i];
    order_.insert(order_.end(), children_.begin() + static_cast<std::ptrdiff_t>(first_child_[r]),
                  children_.begin() + static_cast<std::ptrdiff_t>(first_child_[r + 1]));
  }
  place_.assign(runs_.size() + joins_.size(), kNone);
  for (std::size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
  std::vector<std::size_t> read;
  for (std::size_t j = 0; j < joins_.size(); ++j) {
    if (joins_[j].read) read.push_back(runs_.size() + j);
  }
  const auto key = [&](std::size_t j) {
    const Join& x = joins_[j - runs_.size()];
    return std::make_pair(place_[x.by], j);  // those of one run: in the order it wrote them down
  };
  std::sort(read.begin(), read.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  for (const std::size_t j : read) {
    place_[j] = order_.size();
    order_.push_back(j);
  }
}

// What a join waits for: fragments that made no others, and the joins within.
std::vector<std::size_t> TraceGraph::under(const Join& j, std::size_t number) const {
  std::vector<std::size_t> found, open;
  const auto look_at_children = [&](std::size_t of, bool only_own) {
    for (std::size_t c = first_child_[of]; c < first_child_[of + 1]; ++c) {
      const std::size_t run = children_[c];
      const std::size_t inner = births_[runs_[run].birth].join;
      if (only_own) {
        if (inner == number) open.push_back(run);
      } else if (inner != kNone && joins_[inner].read) {
        const std::size_t at = place_of(runs_.size() + inner);
        if (found.empty() || found.back() != at) found.push_back(at);
      } else {
        open.push_back(run);
      }
    }
  };
  look_at_children(j.by, true);
  while (!open.empty()) {
    const std::size_t run = open.back();
    open.pop_back();
    if (first_child_[run] == first_child_[run + 1]) found.push_back(place_of(run));
    look_at_children(run, false);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void TraceGraph::put_joins(Workload& out, const JoinGroup& group) const {
  for (std::size_t i = fragments_; i < order_.size(); ++i) {
    const std::size_t number = order_[i] - runs_.size();
    const Join& j = joins_[number];
    Fragment f{.group = group(j.block), .weight = 0};
    for (const std::size_t from : under(j, number)) f.inputs.push_back({from, 0});
    out.fragments[place_of(j.by)].children.push_back(i);
    out.fragments.push_back(std::move(f));
  }
}

bool TraceGraph::build(const std::vector<balancer::Group>& group, const JoinGroup& join_group, Workload& out) {
  weigh();
  merge_iterations();
  if (!find_parents()) return false;
  find_inputs();
  list_children();
  number_all();
  out.fragments.reserve(order_.size());
  std::unordered_map<std::uint64_t, std::uint32_t> series;  // numbered as they come, from 1
  for (std::size_t i = 0; i < fragments_; ++i) {
    if (i >= order_.size() || order_[i] >= runs_.size()) return false;  // not all hang on the root
    const Run& r = runs_[order_[i]];
    Fragment f{.group = group[r.block], .weight = r.weight, .output = r.output};
    if (r.birth != kNone) {
      const Birth& b = births_[r.birth];
      f.home = Rank{static_cast<std::int32_t>(b.home)};
      if (b.series != 0) f.series = series.try_emplace(b.series, series.size() + 1).first->second;
    }
    for (std::size_t k = r.first_input; k < r.first_input + r.inputs; ++k) {
      const Used& u = used_[k];
      if (u.from == kNone) {
        f.bytes += u.bytes;
      } else {
        f.inputs.push_back({place_of(u.from), u.bytes});
      }
    }
    for (std::size_t c = first_child_[order_[i]]; c < first_child_[order_[i] + 1]; ++c) {
      f.children.push_back(place_of(children_[c]));
    }
    out.fragments.push_back(std::move(f));
  }
  put_joins(out, join_group);
  for (std::size_t i = 0; i < roots_.size(); ++i)
    out.births.push_back({0, Rank{whole_ ? 0 : runs_[roots_[i]].rank}, i});
  return true;
}

}  // namespace tessera::runtime
