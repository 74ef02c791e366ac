#include "balancer/simulator/graph.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "balancer/ready_order.hpp"
#include "balancer/relay.hpp"

namespace tessera::balancer::simulator {
namespace {

constexpr std::int64_t kControlBytes = 100;  // a message without payload
constexpr Rank kHome{0};                     // of all values: that of names declared in `main`
constexpr std::int64_t kMostReads = 4096;    // are counted of a value

}  // namespace

Graph::Graph(const Workload& work, std::int32_t executing)
    : work_(work),
      executing_(executing),
      first_consumer_(work.fragments.size() + 1),
      rank_of_(work.fragments.size(), -1),
      ran_on_(work.fragments.size(), -1),
      missing_(work.fragments.size()),
      runs_(work.fragments.size()),
      births_(work.fragments.size()),
      holders_(work.fragments.size()) {
  for (const Fragment& f : work.fragments) {
    if (f.series >= settled_.size()) settled_.resize(f.series + 1, -1);
    has_data_ = has_data_ || f.bytes > 0 || f.output > 0 || !f.inputs.empty();
    for (const Input& i : f.inputs) ++first_consumer_[i.fragment + 1];
  }
  for (std::size_t f = 0; f < work.fragments.size(); ++f) {
    first_consumer_[f + 1] += first_consumer_[f];
  }
  consumers_.resize(first_consumer_.back());
  std::vector<std::uint32_t> next(first_consumer_.begin(), first_consumer_.end() - 1);
  for (std::size_t f = 0; f < work.fragments.size(); ++f) {
    missing_[f] = static_cast<std::uint32_t>(work.fragments[f].inputs.size());
    for (const Input& i : work.fragments[f].inputs) {
      consumers_[next[i.fragment]++] = static_cast<std::uint32_t>(f);
    }
  }
}

// Neighbours in the list that are born together are one run.
std::vector<Births> Graph::births() const {
  std::vector<Births> runs;
  for (std::size_t i = 0; i < work_.births.size(); ++i) {
    const Birth& b = work_.births[i];
    const Rank rank = placed(b.rank);
    if (!runs.empty() && runs.back().at == b.at && runs.back().rank == rank) {
      ++runs.back().count;
    } else {
      runs.push_back({b.at, rank, i, 1});
    }
  }
  return runs;
}

void Graph::born(const Births& run, Effects& out) {
  for (std::uint64_t i = run.first; i < run.first + run.count; ++i) {
    create(work_.births[i].fragment, run.rank, out);
  }
}

void Graph::create(std::size_t f, Rank here, Effects& out) {
  if (births_[f]++ > 0) return;  // a fault, reported in the end
  rank_of_[f] = index(here);
  if (missing_[f] == 0) {
    missing_[f] = 1;
    return count_down(f, out);
  }
  std::uint32_t there = 0;
  for (const Input& input : work_.fragments[f].inputs) {
    if (ran_on_[input.fragment] < 0) continue;
    Copies::Flags& copy = copies_.at(input.fragment, here);
    if ((copy & Copies::kHere) != 0) {
      ++there;
    } else if ((copy & Copies::kUnderWay) == 0) {
      copy |= Copies::kUnderWay;
      holders_[input.fragment] |= bit(here);
      out.send(here, Rank{ran_on_[input.fragment]}, kControlBytes,
               Note{kFetch, static_cast<std::uint32_t>(index(here)), input.fragment, true});
    }
  }
  if (there == 0) return;
  missing_[f] -= there - 1;
  count_down(f, out);
}

void Graph::count_down(std::size_t f, Effects& out) {
  if (--missing_[f] > 0) return;
  Item item;
  item.state = f;
  item.weight = work_.fragments[f].weight;
  item.group = static_cast<std::uint16_t>(index(work_.fragments[f].group));
  out.ready(Rank{rank_of_[f]}, item);
}

// Only the rank where the series belongs sends any on.
Rank Graph::settled(const Item& item, Rank here) const {
  const Fragment& f = work_.fragments[item.state];
  const std::int32_t to = settled_[f.series];
  return to >= 0 && index(f.home) >= 0 && placed(f.home) == here ? Rank{to} : here;
}

Rank Graph::home(const Item& item) const {
  const Rank home = work_.fragments[item.state].home;
  return index(home) < 0 ? home : placed(home);
}

void Graph::resettle(const Item& item, Rank to) {
  const std::uint32_t series = work_.fragments[item.state].series;
  if (series > 0) settled_[series] = index(to);
}

// Of the value, as far as it is read there.
std::int64_t Graph::bytes_for(std::size_t f, Rank to) const {
  std::int64_t bytes = 0;
  for (std::uint32_t c = first_consumer_[f]; c < first_consumer_[f + 1]; ++c) {
    if (rank_of_[consumers_[c]] != index(to)) continue;
    for (const Input& i : work_.fragments[consumers_[c]].inputs) {
      if (i.fragment == f) bytes = std::max(bytes, i.bytes);
    }
  }
  return bytes;
}

// As at the value's home: its maker, where that is another rank, has it first, and sends the home a copy besides.
Rank Graph::giver_of(std::size_t f, std::int64_t bytes, Rank from, Rank to) {
  if (bytes < kRelayed || to == kHome) return from;
  std::vector<Rank>& given = given_[f];
  const Rank maker{ran_on_[f]};
  if (given.empty() && maker != kHome) given.push_back(maker);
  return giver(given, from, to);
}

void Graph::send_value(std::size_t f, Rank from, Rank to, Effects& out) {
  copies_.at(f, to) |= Copies::kUnderWay;
  holders_[f] |= bit(to);
  const Rank by = giver_of(f, bytes_for(f, to), from, to);
  if (by == from) return pass_on(f, from, to, out);
  out.send(from, by, kControlBytes, Note{kRelay, static_cast<std::uint32_t>(index(to)), f});
}

void Graph::pass_on(std::size_t f, Rank from, Rank to, Effects& out) {
  out.send(from, to, kControlBytes + bytes_for(f, to), Note{kValue, 0, f});
}

void Graph::finished(Rank here, const Item& item, Effects& out) {
  const std::size_t f = item.state;
  if (runs_[f]++ > 0) return;
  ran_on_[f] = index(here);
  holders_[f] |= bit(here);
  if (first_consumer_[f] != first_consumer_[f + 1]) copies_.at(f, here) |= Copies::kHere;
  for (std::uint32_t c = first_consumer_[f]; c < first_consumer_[f + 1]; ++c) {
    const Rank at{rank_of_[consumers_[c]]};
    if (index(at) < 0 || at == here) continue;  // not there yet: looks for it when it is created
    if ((copies_.flags(f, at) & (Copies::kUnderWay | Copies::kHere)) == 0) send_value(f, here, at, out);
  }
  // Then those here: one that follows its series takes the value along, but only to who has not been sent it.
  for (std::uint32_t c = first_consumer_[f]; c < first_consumer_[f + 1]; ++c) {
    if (rank_of_[consumers_[c]] == index(here)) count_down(consumers_[c], out);
  }
  for (const std::size_t child : work_.fragments[f].children) {
    const Rank home = work_.fragments[child].home;
    const Rank at = index(home) < 0 ? here : placed(home);
    if (at == here) {
      create(child, here, out);
    } else {
      out.send(here, at, kControlBytes, Note{kCreate, 0, child});
    }
  }
}

void Graph::arrived(Rank here, const Note& note, Effects& out) {
  switch (note.kind) {
    case kCreate:
      return create(note.id, here, out);
    case kFetch:
      return send_value(note.id, here, Rank{static_cast<std::int32_t>(note.extra)}, out);
    case kRelay: {
      const Rank to{static_cast<std::int32_t>(note.extra)};
      if ((copies_.flags(note.id, here) & Copies::kHere) != 0) return pass_on(note.id, here, to, out);
      promised_[{note.id, index(here)}].push_back(to);
      return;
    }
    default:
      break;
  }
  Copies::Flags& copy = copies_.at(note.id, here);
  copy = static_cast<Copies::Flags>((copy & ~Copies::kUnderWay) | Copies::kHere);
  for (std::uint32_t c = first_consumer_[note.id]; c < first_consumer_[note.id + 1]; ++c) {
    if (rank_of_[consumers_[c]] == index(here)) count_down(consumers_[c], out);
  }
  if (const auto promised = promised_.extract({note.id, index(here)})) {
    for (const Rank to : promised.mapped()) pass_on(note.id, here, to, out);
  }
}

bool Graph::newest_first(Group g) const {
  return std::find(work_.stacks.begin(), work_.stacks.end(), g) != work_.stacks.end();
}

std::int64_t Graph::bytes_here(const Item& item, Rank here) {
  const Fragment& f = work_.fragments[item.state];
  std::int64_t bytes = f.bytes;
  for (const Input& i : f.inputs) {
    Copies::Flags& copy = copies_.at(i.fragment, here);
    if ((copy & Copies::kBorne) != 0) continue;
    copy |= Copies::kBorne;
    const int others = std::clamp(executing_ - 1, 1, 63), have = std::popcount(holders_[i.fragment] & ~bit(here));
    bytes += (i.bytes - i.bytes * std::min(have, others) / others) / (1 + Copies::read(copy));
  }
  return bytes;
}

// As in runtime/work/ready_queue.cpp.
void Graph::runs_here(const Item& item, Rank here) {
  const Fragment& f = work_.fragments[item.state];
  if (item.bytes <= f.bytes) return;
  for (const Input& i : f.inputs) {
    Copies::Flags& copy = copies_.at(i.fragment, here);
    if ((copy & Copies::kBorne) != 0 && Copies::read(copy) < kMostReads) copy += Copies::kRead;
    copy &= static_cast<Copies::Flags>(~Copies::kBorne);
  }
}

std::int64_t Graph::board(const Item& item, Rank from, Rank to, Effects& out) {
  const Fragment& f = work_.fragments[item.state];
  rank_of_[item.state] = index(to);
  std::int64_t bytes = f.bytes;
  std::uint32_t apart = 0;
  for (const Input& i : f.inputs) {
    Copies::Flags& copy = copies_.at(i.fragment, to);
    if ((copy & Copies::kHere) != 0) continue;
    if ((copy & Copies::kUnderWay) == 0) {
      holders_[i.fragment] |= bit(to);
      // Only the home of a value decides who passes it on.
      const Rank by = from == kHome ? giver_of(i.fragment, i.bytes, from, to) : from;
      if (by == from) {
        copy |= Copies::kHere;
        bytes += i.bytes;
        continue;
      }
      copy |= Copies::kUnderWay;
      out.send(from, by, kControlBytes, Note{kRelay, static_cast<std::uint32_t>(index(to)), i.fragment});
    }
    ++apart;
  }
  missing_[item.state] = apart > 0 ? apart + 1 : 0;  // its own landing is one
  return bytes;
}

bool Graph::landed(Rank, const Item& item, Effects& out) {
  if (missing_[item.state] == 0) return true;
  count_down(item.state, out);
  return false;
}

// As in runtime/work/ready_queue.cpp: again and again the one whose large inputs `to` lacks least, among equals one
// that no other rank has something of, the earliest of those; what the ones before it bring counts as there.
void Graph::nearest_first(std::span<Item> items, std::int64_t n, Rank from, Rank to) const {
  const auto large = [](std::int64_t bytes) { return bytes >= static_cast<std::int64_t>(kLargeInput) ? bytes : 0; };
  const auto all_of = [&](const Item& item) {
    const Fragment& f = work_.fragments[item.state];
    std::int64_t bytes = large(f.bytes);
    for (const Input& i : f.inputs) bytes += large(i.bytes);
    return bytes;
  };
  if (items.empty() || all_of(items.front()) == 0) return;
  struct Lacking {
    std::int64_t bytes;
    bool elsewhere;
    auto operator<=>(const Lacking&) const = default;
  };
  std::set<std::size_t> brought;
  const auto lacking = [&](const Item& item) {
    const Fragment& f = work_.fragments[item.state];
    Lacking lacks{large(f.bytes), false};
    for (const Input& i : f.inputs) {
      const bool there = (copies_.flags(i.fragment, to) & (Copies::kHere | Copies::kUnderWay)) != 0;
      if (there || large(i.bytes) == 0 || brought.contains(i.fragment)) continue;
      lacks.bytes += i.bytes;
      lacks.elsewhere = lacks.elsewhere || (holders_[i.fragment] & ~bit(from) & ~bit(to)) != 0;
    }
    return lacks;
  };
  for (auto next = items.begin(); n > 0 && next != items.end(); --n, ++next) {
    auto nearest = next;
    Lacking least = lacking(*next);
    for (auto other = next + 1; least.bytes > 0 && other != items.end(); ++other) {
      if (const Lacking lacks = lacking(*other); lacks < least) {
        nearest = other;
        least = lacks;
      }
    }
    std::rotate(next, nearest, nearest + 1);
    for (const Input& i : work_.fragments[next->state].inputs) brought.insert(i.fragment);
  }
}

// What nobody reads goes nowhere.
std::int64_t Graph::output_bytes(const Item& item) const {
  return first_consumer_[item.state] == first_consumer_[item.state + 1] ? 0 : work_.fragments[item.state].output;
}

std::vector<std::string> Graph::faults() const {
  std::vector<std::string> all;
  for (std::size_t f = 0; f < runs_.size() && all.size() < 20; ++f) {
    const std::string name = "fragment " + std::to_string(f);
    if (births_[f] != 1) all.push_back(name + " was born " + std::to_string(births_[f]) + " times");
    if (runs_[f] != 1) all.push_back(name + " ran " + std::to_string(runs_[f]) + " times");
  }
  return all;
}

}  // namespace tessera::balancer::simulator
