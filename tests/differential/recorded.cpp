#include "recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "balancer/simulator/trace.hpp"
#include "runtime/comm/messages.hpp"

namespace tessera::differential {

namespace {

namespace sim = balancer::simulator;
namespace fs = std::filesystem;

// What carries values and fragments. Of others some come when the record is closed already.
const std::set<std::string> kCarry = {"Give", "Publish", "Entrust", "Keep", "Ship"};

std::string of_block(const abi::Program& p, std::uint32_t block) {
  const abi::Block& b = *p.blocks[block];
  return fmt::format("`{}` at line {}", b.text == nullptr ? b.label : b.text, static_cast<std::uint32_t>(b.pos >> 16));
}

// The first key of which two maps, where what is not there is nothing, do not say the same.
template <class Key, class T>
struct Difference {
  Key key;
  T a, b;
};
template <class Key, class T>
std::optional<Difference<Key, T>> first_difference(const std::map<Key, T>& a, const std::map<Key, T>& b) {
  std::map<Key, std::pair<T, T>> both;
  for (const auto& [key, x] : a) both[key].first = x;
  for (const auto& [key, x] : b) both[key].second = x;
  for (const auto& [key, x] : both) {
    if (!(x.first == x.second)) return Difference<Key, T>{key, x.first, x.second};
  }
  return {};
}

// On one worker bars lie within each other, or one after the other.
std::string crossing(const sim::Times& t) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<const sim::Bar*>> workers;
  for (const sim::Bar& b : t.bars) workers[{b.rank, b.worker}].push_back(&b);
  for (auto& [worker, bars] : workers) {
    std::stable_sort(bars.begin(), bars.end(), [](const auto* a, const auto* b) {
      return std::pair(a->start, -a->length) < std::pair(b->start, -b->length);
    });
    std::vector<balancer::Time> open;
    for (const sim::Bar* b : bars) {
      while (!open.empty() && open.back() <= b->start) open.pop_back();
      if (!open.empty() && b->start + b->length > open.back())
        return fmt::format(
            "worker {} of rank {}: what began at {} ns goes on after {} ns, the end of what it lies in\n",
            worker.second, worker.first, b->start, open.back());
      open.push_back(b->start + b->length);
    }
  }
  return "";
}

// A value comes after its maker has begun, as far as their ranks know the time.
std::string too_early(const sim::Trace& t) {
  std::vector<const sim::Bar*> first(t.work.fragments.size());
  for (const sim::Bar& b : t.times.bars) {
    if (const sim::Bar*& f = first[b.fragment]; f == nullptr || b.start < f->start) f = &b;
  }
  const auto error = [&](std::int32_t rank) {
    const auto k = static_cast<std::size_t>(rank);
    return k < t.times.ranks.size() ? t.times.ranks[k].error : 0;
  };
  for (const sim::Bar& b : t.times.bars) {
    for (const sim::Arrival& a : t.times.arrivals_of(b)) {
      const sim::Bar* const maker = first[t.work.fragments[b.fragment].inputs.at(a.input).fragment];
      if (maker != nullptr && a.at < maker->start - (maker->rank == b.rank ? 0 : error(maker->rank) + error(b.rank)))
        return fmt::format("a value came at {} ns to rank {}, and what made it began at {} ns\n", a.at, b.rank,
                           maker->start);
      if (a.at > b.start)
        return fmt::format("a value came at {} ns to rank {}, and who reads it began at {} ns\n", a.at, b.rank,
                           b.start);
    }
  }
  return "";
}

}  // namespace

void Recorded::watch(whole::Settings& s) {
  s.on_run = [this](Rank rank, const abi::Cf* c) { ++ran_[{c->block->index, rank}]; };
  s.on_message = [this](Rank from, Rank to, const runtime::Parcel& p) {
    const std::string kind(runtime::message_name(static_cast<std::size_t>(p.bytes.front())));
    if (kind == "Stop") stopped_.insert(to);
    if (!kCarry.contains(kind)) return;
    auto bytes = static_cast<std::int64_t>(p.bytes.size());
    for (const auto& v : p.values) bytes += static_cast<std::int64_t>(v.get()->size);
    const auto count = [&](Sum& sum) { ++sum.messages, sum.bytes += bytes; };
    count(delivered_[{from, to, kind}]);
    if (stopped_.contains(to)) count(late_[{from, to, kind}]);
  };
}

std::string Recorded::untrue(const abi::Program& program, const fs::path& path, const fs::path& summary,
                             bool moves) const {
  sim::Trace t;
  try {
    t = sim::read_trace(path);
  } catch (const sim::TraceError& e) {
    return std::string(e.what()) + "\n";
  }
  if (t.times.unattached != 0)
    return fmt::format("{} questions for values belong to none that came\n", t.times.unattached);
  // What ran where.
  std::map<std::pair<std::uint32_t, Rank>, std::int64_t> ran;
  std::vector<std::int64_t> runs(t.work.fragments.size());
  for (const sim::Bar& b : t.times.bars) {
    ++runs[b.fragment];
    if (program.blocks[b.block]->kind != abi::Kind::range) ++ran[{b.block, b.rank}];
    if (t.times.blocks[b.block].kernel && runs[b.fragment] > 1)
      return fmt::format("{} ran more than once as one fragment\n", of_block(program, b.block));
  }
  if (const auto d = first_difference(ran_, ran))
    return fmt::format("{} ran {} times on rank {}, and {} times in the trace\n", of_block(program, d->key.first), d->a,
                       d->key.second, d->b);
  // What was delivered.
  std::map<std::tuple<Rank, Rank, std::string>, Sum> sent;
  for (const sim::Sent& m : t.times.messages) {
    if (!kCarry.contains(m.kind)) continue;
    Sum& sum = sent[{balancer::index(m.from), balancer::index(m.to), m.kind}];
    ++sum.messages, sum.bytes += m.bytes;
  }
  for (const auto& [key, late] : late_) {
    const Sum& all = delivered_.at(key);
    Sum& told = sent[key];
    const bool within = told.messages >= all.messages - late.messages && told.bytes >= all.bytes - late.bytes &&
                        told.messages <= all.messages && told.bytes <= all.bytes;
    if (within) told = all;
  }
  if (const auto d = first_difference(delivered_, sent)) {
    const auto& [from, to, kind] = d->key;
    return fmt::format("{} messages {} with {} bytes from rank {} to {}, and {} with {} in the trace\n", d->a.messages,
                       kind, d->a.bytes, from, to, d->b.messages, d->b.bytes);
  }
  // What moved, and how many there were, as the summary says.
  std::ifstream in(summary);
  const auto said = nlohmann::json::parse(in, nullptr, false);
  if (said.is_discarded()) return "there is a trace and no summary\n";
  std::int64_t moved = 0;
  for (const auto& r : said.at("ranks")) moved += r.at("moved_in").get<std::int64_t>();
  const auto by_policy =
      std::count_if(t.times.moves.begin(), t.times.moves.end(), [](const auto& m) { return m.by_policy; });
  if (moves && by_policy != moved)
    return fmt::format("{} fragments were moved, and {} in the trace\n", moved, by_policy);
  return crossing(t.times) + too_early(t);
}

}  // namespace tessera::differential
