#include <algorithm>

#include "balancer/simulator/cluster.hpp"

namespace tessera::balancer::simulator {
namespace {

constexpr Time kMostJitter = 3'000'000'000;  // its square fits an integer

bool sound(const LinkModel& l) {
  return l.latency >= 0 && l.bandwidth >= 1 && l.jitter >= 0 && l.jitter <= kMostJitter;
}

// Somebody must be there to take over what a leaving rank leaves.
bool somebody_stays(const Options& o, std::int32_t executing) {
  std::vector<bool> here(static_cast<std::size_t>(executing), true);
  const auto set = [&](Rank r, bool value) {
    if (index(r) < executing) here[static_cast<std::size_t>(index(r))] = value;
  };
  for (const Rank r : o.absent) set(r, false);
  std::vector<Change> changes = o.changes;
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
  bool always = std::find(here.begin(), here.end(), true) != here.end();
  for (const Change& c : changes) {
    if (c.kind == Change::Kind::outside_load) continue;
    set(c.rank, c.kind == Change::Kind::join);
    always = always && std::find(here.begin(), here.end(), true) != here.end();
  }
  return always;
}

}  // namespace

std::vector<std::string> check_options(const Options& o) {
  std::vector<std::string> wrong;
  const auto check = [&](bool right, const std::string& text) {
    if (!right) wrong.push_back(text);
  };
  check(o.ranks >= 1 && o.ranks <= kMostRanks, "a cluster has 1 to " + std::to_string(kMostRanks) + " ranks");
  check(o.threads >= 1 && o.threads <= 4096, "a rank has 1 to 4096 threads");
  check(sound({o.latency, o.bandwidth, o.jitter}) && sound(o.inside_host) && sound(o.between_sites),
        "a link has a latency of at least 0, a bandwidth of at least 1 byte per second, and a "
        "jitter of 0 to 3 seconds");
  for (const double s : o.speeds) check(s > 0 && s < 1e9, "the speed of a rank is above 0");
  for (const std::int32_t c : o.cores) check(c >= 1, "a rank has at least 1 core");
  if (find_policy(o.balancer) == nullptr) {
    wrong.push_back("unknown balancer '" + o.balancer + "'");
  }
  if (!wrong.empty()) return wrong;

  const std::int32_t executing = executing_ranks(o);
  check(executing >= 1, "balancer '" + o.balancer + "' needs more ranks: none of " + std::to_string(o.ranks) +
                            " would execute anything");
  check(o.hosts.empty() || o.hosts.size() == static_cast<std::size_t>(o.ranks), "every rank has a host");
  for (const Tier& t : o.tiers) {
    check(t.of >= 1 && t.lines >= 1 && sound({t.latency, t.bandwidth, 0}), "a tier has groups and lines, at least 1");
  }
  if (!o.torus.sides.empty()) {
    std::int64_t places = 1;
    for (const std::int32_t side : o.torus.sides) places = std::min<std::int64_t>(places * side, kMostRanks + 1);
    const std::int64_t hosts = o.hosts.empty() ? o.ranks : o.hosts.back() + 1;
    check(places <= kMostRanks, "a torus has at most " + std::to_string(kMostRanks) + " hosts");
    check(hosts <= places,
          "the torus has " + std::to_string(places) + " hosts, but there are " + std::to_string(hosts));
  }
  for (const Change& c : o.changes) {
    check(index(c.rank) >= 0 && index(c.rank) < o.ranks,
          "rank " + std::to_string(index(c.rank)) + " changes, but there are only " + std::to_string(o.ranks));
    check(c.at >= 0 && c.grace >= 0 && c.tasks >= 0, "times and numbers of tasks are at least 0");
    check(c.kind != Change::Kind::leave || index(c.rank) < executing, "the coordinator's rank can't leave");
  }
  for (const Rank r : o.absent) {
    check(index(r) >= 0 && index(r) < executing, "an absent rank is one that executes");
  }
  if (wrong.empty() && executing >= 1) {
    check(somebody_stays(o, executing), "at some time every rank that executes has left");
  }
  return wrong;
}

}  // namespace tessera::balancer::simulator
