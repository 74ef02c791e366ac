// Items run on the threads of a rank.
#include <algorithm>
#include <limits>

#include "balancer/simulator/bound.hpp"
#include "balancer/simulator/simulation.hpp"

namespace tessera::balancer::simulator {
namespace {

// The time `work` takes at `rate`.
Time lasts(double work, double rate) {
  const double t = rate == 1 ? work : rate > 0 ? work / rate : 9e18;
  return t < 4e18 ? static_cast<Time>(t) : std::numeric_limits<Time>::max() / 2;
}

}  // namespace

void Simulation::ready(Rank here, const Item& item) {
  ++created_;
  Node& n = node(here);
  if (&n == completing_at_ && on_the_spot(n, item)) {
    made_.push_back(item);
  } else if (const Rank to = program_.settled(item, here); to != here && node(to).here) {
    std::int64_t bytes = 0;
    ship_items(n, to, {item}, {}, 0, false, bytes);
  } else {
    queue(n, item);
  }
}

// As Node::in_place and Node::goes_on of the live runtime: what makes more items, unless somebody of this rank goes
// hungry, what is known to be tiny, and the next turn of what repeats.
bool Simulation::on_the_spot(const Node& n, const Item& item) const {
  if (!spot_ || !n.here) return false;
  constexpr int kTinyVotes = 3;
  switch (kinds_[item.group]) {
    case ReadyItems::Kind::structured:
      return n.running == static_cast<std::int32_t>(n.threads.size());
    case ReadyItems::Kind::queue:
      return n.groups[item.group].votes >= kTinyVotes || program_.goes_on(completing_, item);
    default:
      return false;
  }
}

// Puts the item into the rank's queue; a rank that has left passes it on.
void Simulation::queue(Node& n, Item item) {
  if (n.settled) {
    std::int64_t bytes = 0;
    return ship_items(n, neighbour(n.rank), {item}, {}, 0, false, bytes);
  }
  if (has_data_) item.bytes = program_.bytes_here(item, n.rank);
  n.items.push(item);
  if (n.running < static_cast<std::int32_t>(n.threads.size())) start(n, true);
  changed(n);
}

// Starts what can be started. `planned`: the ends go into the queue of happenings; else the caller
// sees to that.
void Simulation::start(Node& n, bool planned) {
  for (std::uint32_t t = 0; t < n.threads.size(); ++t) {
    Running& r = n.threads[t];
    if (r.active) continue;
    if (!r.spot.empty()) {
      r.item = r.spot.back();
      r.spot.pop_back();
    } else if (n.here && n.items.count() > 0) {
      r.item = n.items.pop(expand_first_);
      if (has_data_) program_.runs_here(r.item, n.rank);
    } else {
      continue;
    }
    ++n.running;
    if (n.shared) set_rate(n);
    r.active = true;
    r.began = r.since = now_;
    r.left = static_cast<double>(r.item.weight);
    r.end = now_ + lasts(r.left, n.rate);
    ++r.generation;
    if (planned) plan_finish(n, t);
  }
}

void Simulation::plan_finish(Node& n, std::uint32_t thread) {
  plan(n.threads[thread].end, Kind::finish, n.rank, thread, n.threads[thread].generation);
}

// The others' share of the cores has changed, or the number of our own threads that use them.
// Threads that run keep what they have done and go on at the new rate.
void Simulation::set_rate(Node& n) {
  const double rate = n.speed * share(n.running, n.tasks, n.cores);
  if (rate == n.rate) return;
  for (std::uint32_t t = 0; t < n.threads.size(); ++t) {
    Running& r = n.threads[t];
    if (!r.active) continue;
    r.left = std::max(0.0, r.left - static_cast<double>(now_ - r.since) * n.rate);
    r.since = now_;
    r.end = now_ + lasts(r.left, rate);
    ++r.generation;
    plan_finish(n, t);
  }
  n.rate = rate;
}

void Simulation::on_finish(Node& n, std::uint32_t thread, std::uint64_t generation) {
  Running& r = n.threads[thread];
  if (!r.active || r.generation != generation) return;
  if (n.threads.size() > 1) {
    complete(n, r);
    ran_dry(n);
    start(n, true);
    changed(n);
    return;
  }
  const Time horizon = now_ + lookahead_;
  for (;;) {
    complete(n, r);
    ran_dry(n);
    start(n, false);
    changed(n);
    if (!r.active) return;
    const Time next = r.end;
    if (next >= horizon || (!n.touches.empty() && next >= n.touches.front())) {
      plan_finish(n, thread);
      return;
    }
    ++out_.events;
    now_ = next;
  }
}

void Simulation::complete(Node& n, Running& r) {
  const Item item = r.item;
  const Time took = now_ - r.began;
  const auto rank = static_cast<std::size_t>(index(n.rank));
  ++out_.executed;
  ++out_.items[rank];
  if (now_ >= kLatest || item.weight >= kLatest - out_.work) {
    throw SimulationError("all weights together, and the time it takes, must be less than " +
                          std::to_string(kLatest / 1'000'000'000) + " s (126 years)");
  }
  out_.work += item.weight;
  if (const Time came = program_.came(item); came >= 0) out_.sojourns.add(now_ - came);
  if (options_.record != nullptr) {
    options_.record->bars.push_back({.fragment = item.state,
                                     .rank = index(n.rank),
                                     .worker = static_cast<std::int32_t>(&r - n.threads.data()),
                                     .start = r.began,
                                     .length = took,
                                     .block = item.group});
  }
  out_.busy[rank] += took;
  utilisation_.add(rank, r.began, now_);
  out_.ends[rank] = now_;
  out_.finished = std::max(out_.finished, now_);
  GroupState& g = n.groups[item.group];
  // Live, only atomic fragments are measured: a range's weight is that of its body, and what only makes
  // others is said to weigh nothing.
  const ReadyItems::Kind kind = kinds_[item.group];
  if (kind == ReadyItems::Kind::range) ++out_.turns;
  if (kind == ReadyItems::Kind::queue || kind == ReadyItems::Kind::stack) {
    constexpr Time kTiny = 8'000;
    g.votes = took < kTiny ? std::min(g.votes + 1, 8) : std::max(g.votes - 2, 0);
    ++g.done.count;
    g.done.weight += took;
    n.items.weigh(item.group, static_cast<double>(g.done.weight) / static_cast<double>(g.done.count));
    g.done.weight_squared += static_cast<double>(took) * static_cast<double>(took);
  }
  if (has_data_) {
    ++g.outputs;
    const std::int64_t out = program_.output_bytes(item);
    g.output_bytes += out;
    g.done.bytes += out;
  }
  if (settles_) {
    if (const std::uint64_t series = program_.series(item); series > 0) {
      n.series_ran.push_back(
          {series, g.done.group, program_.series_home(item), took, has_data_ ? program_.output_bytes(item) : 0});
    }
  }
  // While the program makes what follows, this thread counts as taken: ready() must not start
  // anything on it before the rank has heard of all of it.
  completing_at_ = &n;
  completing_ = item;
  program_.finished(n.rank, item, *this);
  completing_at_ = nullptr;
  r.spot.insert(r.spot.end(), made_.rbegin(), made_.rend());
  made_.clear();
  r.active = false;
  --n.running;
  if (n.shared) set_rate(n);
}

}  // namespace tessera::balancer::simulator
