#include "balancer/simulator/cluster.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <queue>

#include "balancer/random.hpp"

namespace tessera::balancer::simulator {
namespace {

constexpr Time kPumpInterval = 500'000;

// What to do at a time; equal times in the order they were planned.
struct Planned {
  Time at;
  std::uint64_t number;
  std::function<void()> what;
  bool operator<(const Planned& o) const { return at != o.at ? at > o.at : number > o.number; }
};

class Cluster {
 public:
  Cluster(const Workload& work, const Options& options);
  Outcome run();

 private:
  struct Waiting {
    std::uint64_t order;  // first come, first run
    std::size_t fragment;
    bool at_home;  // its inputs would have to travel
  };
  struct Node {
    Rank rank;
    std::unique_ptr<Policy> policy;
    double speed = 1;
    bool executes = true;
    std::vector<std::deque<Waiting>> ready;  // by group
    std::int64_t ready_count = 0;
    std::int32_t running = 0;
    std::vector<std::int64_t> told;  // as last in LoadChanged
    std::vector<GroupDone> done;     // since then
    bool told_idle = true;
    bool dirty = false;
    Time last_pump = -kPumpInterval;
    Time pump_at = -1;  // planned; -1: not
    Time link_free = 0;
    std::map<std::uint32_t, std::uint64_t> timers;  // number -> generation
    std::deque<Event> queue;
    bool telling = false;
  };

  Node& node(Rank r) { return nodes_[static_cast<std::size_t>(index(r))]; }
  void plan(Time at, std::function<void()> what) {
    planned_.push({std::max(at, now_), number_++, std::move(what)});
  }
  void born(Node&, std::size_t fragment);
  void start(Node&);
  void finish(Node&, std::size_t fragment, Time took);
  void changed(Node&);
  void pump(Node&);
  void tell(Node&, Event);
  void carry_out(Node&, const Action&);
  void ship(Node&, const Ship&);
  void deliver(Rank from, Rank to, std::int64_t bytes, std::function<void()>);
  bool valid_target(const Node& from, Rank to);
  void fault(std::string text) {
    if (out_.faults.size() < 20) out_.faults.push_back(std::move(text));
  }

  const Workload& work_;
  const Options& options_;
  Random random_;
  std::vector<Node> nodes_;
  std::priority_queue<Planned> planned_;
  std::uint64_t number_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t generation_ = 0;
  Time now_ = 0;
  std::map<std::pair<Rank, Rank>, Time> last_delivery_;
  std::vector<std::int32_t> births_, runs_, moves_;
  Outcome out_;
};

Cluster::Cluster(const Workload& work, const Options& options)
    : work_(work),
      options_(options),
      random_(options.seed),
      nodes_(static_cast<std::size_t>(options.ranks)),
      births_(work.fragments.size()),
      runs_(work.fragments.size()),
      moves_(work.fragments.size()) {
  const PolicyInfo& info = *find_policy(options.balancer);
  const std::int32_t executing = executing_ranks(info, options.settings, options.ranks);
  for (std::int32_t r = 0; r < options.ranks; ++r) {
    Node& n = nodes_[static_cast<std::size_t>(r)];
    n.rank = Rank{r};
    n.executes = r < executing;
    if (static_cast<std::size_t>(r) < options.speeds.size()) {
      n.speed = options.speeds[static_cast<std::size_t>(r)];
    }
    n.ready.resize(work.groups.size());
    n.told.resize(work.groups.size());
    n.done.resize(work.groups.size(), GroupDone{Group{0}, 0, 0, 0});
    Setup setup;
    setup.rank = n.rank;
    setup.ranks = options.ranks;
    setup.workers = options.threads;
    setup.seed = options.seed;
    setup.groups = work.groups;
    setup.settings = options.settings;
    n.policy = info.make(setup);
  }
  out_.busy.resize(nodes_.size());
}

Outcome Cluster::run() {
  // Links are measured as the live ranks do: towards ranks 1, 2, 4, ... further on.
  for (Node& n : nodes_) {
    for (std::int32_t d = 1; d < options_.ranks; d *= 2) {
      const Rank peer{(index(n.rank) + d) % options_.ranks};
      plan(0, [this, &n, peer] {
        tell(n, LinkMeasured{peer, options_.latency, options_.bandwidth});
      });
    }
  }
  for (const Birth& b : work_.births) {
    plan(b.at, [this, b] { born(node(b.rank), b.fragment); });
  }
  std::int64_t events = 0;
  while (!planned_.empty() && events++ < options_.event_limit) {
    // priority_queue gives no mutable top; the function is copied, not the world.
    const Planned p = planned_.top();
    planned_.pop();
    now_ = p.at;
    p.what();
  }
  out_.ended = planned_.empty();
  out_.quiet = now_;
  for (std::size_t f = 0; f < work_.fragments.size(); ++f) {
    if (runs_[f] != 1) {
      fault("fragment " + std::to_string(f) + " ran " + std::to_string(runs_[f]) + " times");
    }
    out_.most_moves = std::max(out_.most_moves, moves_[f]);
  }
  return std::move(out_);
}

void Cluster::born(Node& n, std::size_t fragment) {
  if (births_[fragment]++ > 0) fault("fragment " + std::to_string(fragment) + " was born twice");
  if (!n.executes) fault("a fragment was born on the coordinator's rank");
  n.ready[index(work_.fragments[fragment].group)].push_back({order_++, fragment, true});
  ++n.ready_count;
  start(n);
  changed(n);
}

void Cluster::start(Node& n) {
  while (n.executes && n.running < options_.threads && n.ready_count > 0) {
    std::deque<Waiting>* first = nullptr;
    for (auto& queue : n.ready) {
      if (!queue.empty() && (first == nullptr || queue.front().order < first->front().order)) {
        first = &queue;
      }
    }
    const std::size_t fragment = first->front().fragment;
    first->pop_front();
    --n.ready_count;
    ++n.running;
    const auto took =
        static_cast<Time>(static_cast<double>(work_.fragments[fragment].weight) / n.speed);
    plan(now_ + took, [this, &n, fragment, took] { finish(n, fragment, took); });
  }
}

void Cluster::finish(Node& n, std::size_t fragment, Time took) {
  const Fragment& f = work_.fragments[fragment];
  --n.running;
  ++runs_[fragment];
  ++out_.executed;
  out_.finished = now_;
  out_.busy[static_cast<std::size_t>(index(n.rank))] += took;
  GroupDone& done = n.done[index(f.group)];
  done.group = f.group;
  ++done.count;
  done.weight += took;
  done.weight_squared += static_cast<double>(took) * static_cast<double>(took);
  for (const std::size_t child : f.children) born(n, child);
  start(n);
  changed(n);
}

void Cluster::changed(Node& n) {
  n.dirty = true;
  const bool low = n.ready_count <= options_.threads;
  const Time at = low ? now_ : std::max(now_, n.last_pump + kPumpInterval);
  if (n.pump_at >= 0 && n.pump_at <= at) return;
  n.pump_at = at;
  plan(at, [this, &n, at] {
    if (n.pump_at == at) pump(n);
  });
}

void Cluster::pump(Node& n) {
  n.pump_at = -1;
  if (!n.dirty) return;
  n.dirty = false;
  n.last_pump = now_;
  LoadChanged event;
  for (std::uint32_t g = 0; g < n.ready.size(); ++g) {
    const auto ready = static_cast<std::int64_t>(n.ready[g].size());
    if (ready != n.told[g]) {
      std::int64_t bytes = 0;
      for (const Waiting& w : n.ready[g])
        bytes += w.at_home ? work_.fragments[w.fragment].bytes : 0;
      event.ready.push_back({Group{g}, ready, bytes});
      n.told[g] = ready;
    }
    if (n.done[g].count > 0) {
      event.finished.push_back(n.done[g]);
      n.done[g] = GroupDone{Group{g}, 0, 0, 0};
    }
  }
  if (!event.ready.empty() || !event.finished.empty()) tell(n, std::move(event));
  const bool idle = n.running == 0 && n.ready_count == 0;
  if (idle == n.told_idle) return;
  n.told_idle = idle;
  if (idle) {
    tell(n, WentIdle{});
  } else {
    tell(n, WentBusy{});
  }
}

void Cluster::tell(Node& n, Event event) {
  n.queue.push_back(std::move(event));
  if (n.telling) return;  // an action caused it: told after the step it came from
  n.telling = true;
  while (!n.queue.empty()) {
    const Event e = std::move(n.queue.front());
    n.queue.pop_front();
    Actions actions;
    n.policy->step(now_, e, actions);
    for (const Action& a : actions) carry_out(n, a);
  }
  n.telling = false;
}

bool Cluster::valid_target(const Node& from, Rank to) {
  return index(to) >= 0 && index(to) < options_.ranks && to != from.rank;
}

void Cluster::carry_out(Node& n, const Action& action) {
  if (const auto* send = std::get_if<Send>(&action)) {
    if (!valid_target(n, send->to))
      return fault("a message to rank " + std::to_string(index(send->to)));
    ++out_.messages;
    deliver(n.rank, send->to, 100, [this, from = n.rank, to = send->to, m = send->message] {
      tell(node(to), Received{from, m});
    });
  } else if (const auto* s = std::get_if<Ship>(&action)) {
    ship(n, *s);
  } else if (const auto* set = std::get_if<SetTimer>(&action)) {
    const std::uint64_t generation = ++generation_;
    n.timers[set->timer] = generation;
    plan(set->at, [this, &n, timer = set->timer, generation] {
      const auto it = n.timers.find(timer);
      if (it == n.timers.end() || it->second != generation) return;
      n.timers.erase(it);
      tell(n, TimerFired{timer});
    });
  } else if (const auto* cancel = std::get_if<CancelTimer>(&action)) {
    n.timers.erase(cancel->timer);
  } else if (const auto* decide = std::get_if<Decide>(&action)) {
    ++out_.decisions[decide->why];
  }
}

void Cluster::ship(Node& n, const Ship& s) {
  if (!valid_target(n, s.to) || !node(s.to).executes) {
    return fault("a shipment to rank " + std::to_string(index(s.to)));
  }
  Shipped shipped{s.ticket, s.to, {}, 0};
  std::vector<std::size_t> load;
  for (const GroupCount& want : s.fragments) {
    if (want.count <= 0) fault("a shipment of " + std::to_string(want.count) + " fragments");
    std::int64_t went = 0;
    auto& queue = n.ready[index(want.group)];
    for (; went < want.count && !queue.empty(); ++went) {
      const Waiting w = queue.back();  // the last to run
      queue.pop_back();
      --n.ready_count;
      load.push_back(w.fragment);
      ++moves_[w.fragment];
      if (w.at_home) shipped.bytes += work_.fragments[w.fragment].bytes;
    }
    if (went > 0) shipped.fragments.push_back({want.group, went});
  }
  if (!load.empty()) {
    ++out_.shipments;
    out_.moved += static_cast<std::int64_t>(load.size());
    out_.bytes_moved += shipped.bytes;
    deliver(
        n.rank, s.to, shipped.bytes,
        [this, from = n.rank, to = s.to, load, fragments = shipped.fragments, ticket = s.ticket] {
          Node& target = node(to);
          for (const std::size_t f : load) {
            target.ready[index(work_.fragments[f].group)].push_back({order_++, f, false});
            ++target.ready_count;
          }
          tell(target, Arrived{from, fragments, ticket});
          start(target);
          changed(target);
        });
  }
  tell(n, shipped);
  changed(n);
}

void Cluster::deliver(Rank from, Rank to, std::int64_t bytes, std::function<void()> what) {
  Node& n = node(from);
  const auto wire = static_cast<Time>(static_cast<double>(bytes) / options_.bandwidth * 1e9);
  n.link_free = std::max(now_, n.link_free) + wire;
  Time at = n.link_free + options_.latency;
  if (options_.jitter > 0) {
    at += static_cast<Time>(random_.below(static_cast<std::uint64_t>(options_.jitter) + 1));
  }
  Time& last = last_delivery_[{from, to}];
  last = std::max(at, last + 1);
  plan(last, std::move(what));
}

}  // namespace

Time Workload::work() const {
  Time sum = 0;
  for (const Fragment& f : fragments) sum += f.weight;
  return sum;
}

Outcome simulate(const Workload& work, const Options& options) {
  return Cluster(work, options).run();
}

}  // namespace tessera::balancer::simulator
