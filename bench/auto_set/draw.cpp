#include "bench/auto_set/draw.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <utility>

#include "balancer/random.hpp"

namespace tessera::bench {
namespace {

namespace sim = balancer::simulator;
using balancer::Rank;
using balancer::Time;

constexpr Time kUs = 1'000;
constexpr double kLeastMs = 20;

class Draw {
 public:
  explicit Draw(std::uint64_t number) : random_(balancer::Random(number).next()) {}
  bool chance(double p) { return random_.unit() < p; }
  // Any size between the two is as likely as any other of the same proportion.
  double size(double from, double to) { return from * std::pow(to / from, random_.unit()); }
  std::int64_t whole(double from, double to) { return std::llround(size(from, to)); }
  template <class T>
  T one_of(std::initializer_list<T> of) {
    return of.begin()[random_.below(of.size())];
  }

 private:
  balancer::Random random_;
};

std::string us(double t) { return std::to_string(std::max<std::int64_t>(1, std::llround(t * 1e3))) + "ns"; }
std::string bytes(std::int64_t n) { return std::to_string(n) + "B"; }

// Text puts a workload together, one parameter after the other, in the order in which they are drawn.
class Text {
 public:
  explicit Text(std::string name) : text_(std::move(name)) {}
  Text& add(const char* parameter, const std::string& value) {
    text_ += (text_.find(':') == std::string::npos ? ":" : ",") + std::string(parameter) + "=" + value;
    return *this;
  }
  Text& add(const char* parameter, std::int64_t value) { return add(parameter, std::to_string(value)); }
  Text& add(const char* parameter, double value) { return add(parameter, std::to_string(value)); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// At least 20 us, and as much as keeps the ranks busy for kLeastMs; in us.
double least_weight(std::int64_t items, std::int32_t ranks) {
  return std::clamp(kLeastMs * 1e3 * ranks / static_cast<double>(items), 20.0, 40000.0);
}

void add_weights(Draw& d, Text& w) {
  w.add("weights", d.one_of<std::string>({"equal", "uniform", "exponential", "exponential", "heavy", "two"}));
}

std::string loop(Draw& d, std::int32_t ranks) {
  Text w("loop");
  const std::int64_t items = std::min<std::int64_t>(ranks * d.whole(3, 600), 15000);
  w.add("items", items);
  w.add("weight", us(d.size(least_weight(items, ranks), 50000)));
  add_weights(d, w);
  if (d.chance(0.6)) w.add("bytes", bytes(d.whole(1e3, 4e6)));
  if (d.chance(0.5)) w.add("output", bytes(d.whole(1e3, 2e6)));
  w.add("born", d.one_of<std::string>({"first", "first", "first", "blocks", "cyclic"}));
  if (d.chance(0.25)) w.add("range", "true");
  return w.take();
}

std::string matmul(Draw& d, std::int32_t) {
  Text w("matmul");
  const double multiply = d.size(1000, 60000);
  const std::string block = bytes(d.whole(1e4, 2e6));
  w.add("blocks", d.whole(4, 14)).add("multiply", us(multiply)).add("block", block).add("output", block);
  w.add("init", us(multiply / d.size(10, 40)));
  return w.take();
}

std::string rowreduce(Draw& d, std::int32_t ranks) {
  Text w("rowreduce");
  const std::int64_t rows = d.whole(10, 60);
  w.add("rows", rows);
  w.add("row", bytes(d.whole(1e4, 2.4e6)));
  w.add("weight", us(d.size(least_weight(rows * rows / 2, ranks), 40000)));
  return w.take();
}

void add_parts(Draw& d, Text& w, std::int64_t parts, std::int32_t ranks) {
  const std::int64_t iterations = d.whole(5, 60);
  w.add("iterations", iterations);
  w.add("weight", us(d.size(std::max(100.0, least_weight(parts * iterations, ranks)), 40000)));
  w.add("skew", d.size(1, 10));
  w.add("pattern", d.one_of<std::string>({"slope", "step", "random", "equal"}));
  w.add("state", bytes(d.whole(100, 2e6)));
  w.add("home", d.one_of<std::string>({"blocks", "blocks", "first", "follow"}));
  if (d.chance(0.5)) w.add("series", "true");
}

std::string iterate(Draw& d, std::int32_t ranks) {
  Text w("iterate");
  const std::int64_t parts = std::min<std::int64_t>(ranks * d.whole(1, 16), 400);
  w.add("parts", parts);
  add_parts(d, w, parts, ranks);
  if (d.chance(0.4)) w.add("barrier", "false");
  // By a draw of its own, so that cases are what they were before.
  Draw more(static_cast<std::uint64_t>(Draw(d).whole(1, 1e9)));
  if (more.chance(0.4)) w.add("kept", bytes(more.whole(1000, 2e6)));
  if (more.chance(0.2)) w.add("shared", bytes(more.whole(1000, 1e5)));
  return w.take();
}

std::string stencil(Draw& d, std::int32_t ranks) {
  Text w("stencil");
  std::int64_t parts = std::min<std::int64_t>(ranks * d.whole(1, 16), 400);
  if (d.chance(0.6)) {
    w.add("width", parts);
  } else {
    const std::int64_t side = std::clamp<std::int64_t>(std::llround(std::sqrt(4.0 * ranks)), 4, 20);
    parts = side * side;
    w.add("width", side).add("height", side);
  }
  w.add("halo", bytes(d.whole(100, 1e5)));
  add_parts(d, w, parts, ranks);
  return w.take();
}

std::string tree(Draw& d, std::int32_t) {
  Text w("tree");
  if (d.chance(0.5)) {
    w.add("branching", d.size(2.5, 6));
  } else {
    w.add("tree", "binomial").add("roots", d.whole(50, 2000));
  }
  w.add("weight", us(d.size(100, 5000))).add("limit", std::int64_t{20000});
  add_weights(d, w);
  if (d.chance(0.3)) w.add("bytes", bytes(d.whole(1e3, 1e6)));
  return w.take();
}

std::string queens(Draw& d, std::int32_t) {
  if (d.chance(0.5)) {
    Text w("queens_loop");
    w.add("n", d.whole(10, 13));
    w.add("rows", d.whole(2, 3));
    w.add("weight", us(d.size(0.05, 1)));
    return w.take();
  }
  Text w("queens");
  w.add("n", d.whole(8, 10));
  w.add("weight", us(d.size(5, 50)));
  return w.take();
}

void draw_link(Draw& d, sim::ClusterModel& c) {
  switch (d.whole(1, 4.49)) {
    case 1:  // of a supercomputer
      c.link = {d.whole(2e3, 2e4), d.size(1e9, 5e9), 0};
      break;
    case 2:
      c.link = {d.whole(2e4, 2e5), d.size(1.25e8, 1.25e9), 0};
      break;
    case 3:  // slow
      c.link = {d.whole(1e5, 5e6), d.size(1.25e7, 1.25e9), 0};
      break;
    default:  // ranks of one busy computer
      c.link = {d.whole(5e3, 3e4), d.size(5e8, 5e9), d.whole(1e4, 1e5)};
  }
  if (!d.chance(0.35)) return;
  c.ranks_per_host = d.one_of<std::int32_t>({2, 4, 8});
  c.inside_host = {1000, d.size(2e9, 1e10), 0};
  if (!d.chance(0.4)) return;
  c.hosts_per_site = {1, 1};
  c.between_sites = {std::max<Time>(c.link.latency, d.whole(2e5, 5e6)), std::min(c.link.bandwidth, d.size(1.25e7, 5e8)),
                     0};
}

void draw_ranks(Draw& d, Case& c) {
  const std::int32_t n = c.ranks;
  if (d.chance(0.6)) {
    c.cluster.nodes = {{n, 1, 0}};
  } else if (d.chance(0.5)) {
    const std::int32_t slow = std::max(1, static_cast<std::int32_t>(n * d.size(0.1, 0.7)));
    c.cluster.nodes = {{n - slow, 1, 0}, {slow, d.size(0.2, 0.9), 0}};
  } else {
    for (std::int32_t r = 0; r < n; ++r) c.cluster.nodes.push_back({1, r == 0 ? 1 : d.size(0.3, 1), 0});
  }
  if (d.chance(0.1)) {
    const Rank loaded{static_cast<std::int32_t>(d.whole(1, n)) - 1};
    c.cluster.changes.push_back({.rank = loaded, .tasks = d.size(0.5, 4)});
  }
}

}  // namespace

Case draw_case(std::uint64_t number) {
  Draw d(number);
  Case c;
  c.number = number;
  c.ranks = d.one_of<std::int32_t>({2, 2, 3, 4, 4, 6, 8, 8, 12, 16, 16, 24, 32, 48, 64});
  c.cluster.name = "case" + std::to_string(number);
  draw_link(d, c.cluster);
  draw_ranks(d, c);
  const Time handling = d.whole(1e3, 5e3);
  c.cluster.processing = {
      .event = handling, .send = handling, .plan_per_rank = 100, .ship = 600, .wake = 20 * kUs, .timer = 70 * kUs};
  c.cluster.coordinator = c.cluster.processing;
  using Make = std::string (*)(Draw&, std::int32_t);
  const Make make = d.one_of<Make>(
      {loop, loop, loop, loop, matmul, rowreduce, iterate, iterate, iterate, stencil, stencil, tree, queens});
  c.workload = make(d, c.ranks);
  if (!c.cluster.hosts_per_site.empty()) {
    const std::int32_t hosts = (c.ranks - 1) / c.cluster.ranks_per_host + 1;
    c.cluster.hosts_per_site = {std::max(1, hosts / 2), hosts};
  }
  return c;
}

std::string cluster_text(const Case& c) {
  const sim::ClusterModel& m = c.cluster;
  std::string text = "name = \"" + m.name + "\"\n";
  const auto add = [&](const char* format, auto... values) {
    std::array<char, 200> line{};
    std::snprintf(line.data(), line.size(), format, values...);
    text += line.data();
  };
  const auto link = [&](const sim::LinkModel& l) {
    add("latency = \"%lld ns\"\nbandwidth = \"%.0f kbit/s\"\njitter = \"%lld ns\"\n", static_cast<long long>(l.latency),
        l.bandwidth * 8 / 1e3, static_cast<long long>(l.jitter));
  };
  for (const auto& n : m.nodes) {
    if (n.count > 0) add("[[node]]\ncount = %d\nspeed = %.6f\n", n.count, n.speed);
  }
  text += "[link]\n";
  link(m.link);
  if (m.ranks_per_host > 1) {
    add("[host]\nranks = %d\n", m.ranks_per_host);
    link(m.inside_host);
  }
  if (!m.hosts_per_site.empty()) {
    add("[sites]\nhosts = [%d, %d]\n", m.hosts_per_site[0], m.hosts_per_site[1]);
    link(m.between_sites);
  }
  const sim::Processing& p = m.processing;
  for (const char* role : {"processing", "coordinator"}) {
    add("[%s]\nevent = \"%lld ns\"\nsend = \"%lld ns\"\nplan_per_rank = \"%lld ns\"\nship = \"%lld ns\"\n"
        "wake = \"%lld ns\"\ntimer = \"%lld ns\"\n",
        role, static_cast<long long>(p.event), static_cast<long long>(p.send), static_cast<long long>(p.plan_per_rank),
        static_cast<long long>(p.ship), static_cast<long long>(p.wake), static_cast<long long>(p.timer));
  }
  for (const sim::Change& change : m.changes) {
    add("[[outside]]\nrank = %d\ntasks = %.6f\nat = \"0\"\n", balancer::index(change.rank), change.tasks);
  }
  return text;
}

}  // namespace tessera::bench
