#include "balancer/simulator/simulation.hpp"

#include <algorithm>
#include <functional>

#include "balancer/ready_order.hpp"
#include "balancer/simulator/bound.hpp"

namespace tessera::balancer::simulator {
namespace {

ReadyItems::Kind kind_of(const Program& p, std::size_t g) {
  if (p.groups()[g].range) return ReadyItems::Kind::range;
  if (!p.newest_first(Group{static_cast<std::uint32_t>(g)})) return ReadyItems::Kind::queue;
  return p.runs_on_the_spot() ? ReadyItems::Kind::structured : ReadyItems::Kind::stack;
}

// As live between ranks of one host (runtime/balance/probing.cpp; over a network it is longer by a round trip or two):
// five round trips without a payload, two with a small one, which tell, and two with larger ones unless they take long
// (live only where values are large, and the largest in the last round). One peer after the other. The probes
// themselves occupy nothing here.
struct Probing {
  Time told, done;
};
Probing probing(const LinkModel& link) {
  constexpr double kSmall = 16 << 10, kLarge = 256 << 10, kLargest = 1 << 20;
  constexpr double kLong = 0.002;  // s
  const auto upto = [&](std::int64_t trips, double payload) {
    return 2 * (trips * link.latency + static_cast<Time>(payload / link.bandwidth * 1e9));
  };
  const Time told = upto(7, 2 * kSmall);
  if (kSmall / link.bandwidth > kLong) return {told, told};
  if (kLarge / link.bandwidth > kLong) return {told, upto(8, 2 * kSmall + kLarge)};
  return {told, upto(9, 2 * kSmall + kLarge + kLargest)};
}

}  // namespace

Simulation::Simulation(Program& program, const Options& options)
    : program_(program),
      options_(options),
      has_data_(program.has_data()),
      spot_(program.runs_on_the_spot()),
      settles_(settles_series(*find_policy(options.balancer), options.settings)),
      expand_first_(options.balancer != "none" && options.ranks > 1),
      homeward_(sends_home(*find_policy(options.balancer), options.settings)),
      network_(options),
      lookahead_(options.run_ahead ? network_.least_latency() : 0),
      births_(program.births()),
      utilisation_(static_cast<std::size_t>(options.ranks), options.slices) {
  for (std::size_t g = 0; g < program.groups().size(); ++g) kinds_.push_back(kind_of(program, g));
  const PolicyInfo& info = *find_policy(options.balancer);
  out_.executing = executing_ranks(options);
  Setup setup;
  setup.ranks = options.ranks;
  setup.workers = options.threads;
  setup.ship_cost = options.processing.ship;
  setup.seed = options.seed;
  setup.groups = program.groups();
  setup.settings = options.settings;
  setup.hosts = options.hosts;
  if (std::adjacent_find(options.speeds.begin(), options.speeds.end(), std::not_equal_to<>()) != options.speeds.end()) {
    setup.powers = options.speeds;
    setup.powers.resize(static_cast<std::size_t>(options.ranks), 1);
  }
  const auto ranks = static_cast<std::size_t>(options.ranks);
  const std::int64_t plenty = options.balancer == "none" ? 0 : kPlenty * options.ranks;
  nodes_.reserve(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    Node& n = nodes_.emplace_back(*this, &kinds_, plenty);
    n.rank = Rank{static_cast<std::int32_t>(r)};
    n.executes = static_cast<std::int32_t>(r) < out_.executing;
    if (r < options.speeds.size()) n.speed = options.speeds[r];
    n.cores = r < options.cores.size() ? options.cores[r] : options.threads;
    n.rate = n.speed;
    if (n.executes) n.threads.resize(static_cast<std::size_t>(options.threads));
    n.groups.resize(kinds_.size());
    for (std::size_t g = 0; g < kinds_.size(); ++g) {
      n.groups[g].done.group = Group{static_cast<std::uint32_t>(g)};
    }
    setup.rank = n.rank;
    n.host.emplace(info.make(setup), n.rank, kinds_.size(), 0, n);
  }
  out_.busy.resize(ranks);
  out_.ends.resize(ranks);
  out_.items.resize(ranks);
  out_.received.resize(ranks);
  out_.host_busy.resize(ranks);
}

void Simulation::plan(Time at, Kind kind, Rank rank, std::uint32_t a, std::uint64_t b) {
  at = std::max(at, now_);
  queue_.push(at, kind, rank, a, b);
  if (kind == Kind::finish) return;
  std::vector<Time>& touches = node(rank).touches;
  touches.push_back(at);
  std::push_heap(touches.begin(), touches.end(), std::greater<>());
}

void Simulation::fault(std::string text) {
  if (out_.faults.size() < 20) out_.faults.push_back(std::move(text));
}

Outcome Simulation::run() {
  for (const Rank r : options_.absent) {
    node(r).here = false;
    node(r).settled = true;
    for (Node& n : nodes_) notice(n, r, false);
  }
  // Links are measured as the live ranks do: towards ranks 1, 2, 4, ... further on.
  for (std::int32_t r = 0; r < out_.executing; ++r) {
    Time at = 0;
    for (std::int32_t d = 1; d < out_.executing; d *= 2) {
      const Rank peer{(r + d) % out_.executing};
      const Probing p = probing(network_.link(Rank{r}, peer));
      plan(at + p.told, Kind::measured, Rank{r}, static_cast<std::uint32_t>(index(peer)));
      at += p.done;
    }
  }
  for (std::uint32_t i = 0; i < births_.size(); ++i) {
    plan(births_[i].at, Kind::birth, births_[i].rank, i);
  }
  for (std::uint32_t i = 0; i < options_.changes.size(); ++i) {
    plan(options_.changes[i].at, Kind::change, options_.changes[i].rank, i);
  }
  if (options_.watch > 0) plan(options_.watch, Kind::watch, Rank{0});
  std::int64_t taken = 0;
  while (!queue_.empty() && taken < options_.event_limit) {
    const Happening h = queue_.pop();
    ++taken;
    now_ = h.at;
    if (h.kind() != Kind::finish) {
      std::vector<Time>& touches = node(h.rank).touches;
      std::pop_heap(touches.begin(), touches.end(), std::greater<>());
      touches.pop_back();
    }
    happen(h);
  }
  for (Node& n : nodes_) settle_host(n);
  out_.events += taken;
  out_.ended = queue_.empty();
  if (created_ != out_.executed) {
    fault(std::to_string(created_) + " fragments became ready, " + std::to_string(out_.executed) + " ran");
  }
  for (std::string& text : program_.faults()) fault(std::move(text));
  out_.critical_path = program_.critical_path(1);
  out_.bound = best_time(options_, out_.work, program_.critical_path(fastest_speed(options_)));
  out_.result = program_.result();
  out_.slice = utilisation_.length();
  out_.utilisation = utilisation_.take();
  return std::move(out_);
}

void Simulation::happen(const Happening& h) {
  Node& n = node(h.rank);
  switch (h.kind()) {
    case Kind::birth:
      if (!n.executes) fault("a fragment was born on the coordinator's rank");
      program_.born(births_[h.a], *this);
      break;
    case Kind::finish:
      on_finish(n, h.a, h.b);
      break;
    case Kind::pump:
      if (n.pump_at == static_cast<Time>(h.b)) tell(n, Told{Told::Kind::pump, {}, 0});
      break;
    case Kind::serve:
      serve(n);
      break;
    case Kind::timer:
      if (!n.host->take(Timer{h.a, 0, h.b})) return;  // cancelled, or set anew: nothing happens
      tell(n, TimerFired{h.a});
      break;
    case Kind::incoming: {
      const Parcel& p = parcels_[h.a];
      const Time at = network_.enter(now_, p.from, n.rank, p.bytes);
      if (at > now_) {
        plan(at, Kind::delivery, n.rank, h.a);
      } else {
        deliver(n, h.a);
      }
      break;
    }
    case Kind::delivery:
      deliver(n, h.a);
      break;
    case Kind::measured: {
      const Rank peer{static_cast<std::int32_t>(h.a)};
      const LinkModel link = network_.link(n.rank, peer);
      tell(n, LinkMeasured{peer, link.latency, link.bandwidth});
      break;
    }
    case Kind::change:
      change(options_.changes[h.a]);
      break;
    case Kind::notice:
      notice(n, Rank{static_cast<std::int32_t>(h.a)}, h.b != 0);
      break;
    case Kind::watch:
      watch();
      break;
    case Kind::settle:
      settle(n);
      break;
  }
  out_.quiet = now_;
}

void Simulation::watch() {
  std::int64_t hungry = 0, surplus = 0, idle = 0, all_waiting = 0;
  for (const Node& n : nodes_) {
    if (!n.here || !n.executes) continue;
    const std::int64_t waiting = n.items.count();
    const auto threads = static_cast<std::int64_t>(n.threads.size());
    idle += std::max<std::int64_t>(0, threads - n.running - waiting);
    all_waiting += std::max<std::int64_t>(0, waiting - (threads - n.running));
    if (n.running == 0 && waiting == 0) {
      ++hungry;
    } else {
      surplus = std::max(surplus, waiting - threads);
    }
  }
  out_.idle_beside_ready += options_.watch * std::min(idle, all_waiting);
  for (Node& n : nodes_) {
    const bool starves = n.here && n.executes && n.running == 0 && n.items.count() == 0 && surplus > hungry;
    n.starved = starves ? n.starved + options_.watch : 0;
    out_.longest_starved = std::max(out_.longest_starved, n.starved);
  }
  // Nothing else will happen: it is over.
  if (!queue_.empty()) plan(now_ + options_.watch, Kind::watch, Rank{0});
}

double Outcome::imbalance() const {
  if (executing < 1) return 0;
  const auto end = busy.begin() + executing;
  double sum = 0;
  for (auto b = busy.begin(); b != end; ++b) sum += static_cast<double>(*b);
  if (sum <= 0) return 0;
  const auto [least, most] = std::minmax_element(busy.begin(), end);
  return static_cast<double>(*most - *least) * executing / sum;
}

std::int32_t executing_ranks(const Options& o) {
  return executing_ranks(*find_policy(o.balancer), o.settings, o.ranks);
}

Outcome simulate(Program& program, const Options& options) { return Simulation(program, options).run(); }

}  // namespace tessera::balancer::simulator
