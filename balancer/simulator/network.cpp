#include "balancer/simulator/network.hpp"

#include <algorithm>

#include "balancer/random.hpp"

namespace tessera::balancer::simulator {
namespace {

Time wire(std::int64_t bytes, double bandwidth) {
  return std::max<Time>(1, static_cast<Time>(static_cast<double>(bytes) / bandwidth * 1e9));
}

// What is free from `free` on carries something for `takes` from `from` on.
Time occupy(Time& free, Time from, Time takes) { return free = std::max(free, from) + takes; }

std::size_t count(const std::vector<std::int32_t>& of, std::size_t otherwise) {
  return of.empty() ? otherwise : static_cast<std::size_t>(*std::max_element(of.begin(), of.end()) + 1);
}

}  // namespace

Network::Network(const Options& o)
    : hosts_(o.hosts),
      sites_(o.sites),
      near_{o.latency, o.bandwidth, o.jitter},
      inside_(o.inside_host),
      wide_(o.between_sites),
      seed_(o.seed) {
  const auto ranks = static_cast<std::size_t>(o.ranks);
  const std::size_t hosts = count(hosts_, ranks);
  least_latency_ = near_.latency;
  host_out_.resize(hosts);
  host_in_.resize(hosts);
  if (!hosts_.empty()) {
    rank_out_.resize(ranks);
    rank_in_.resize(ranks);
    least_latency_ = std::min(least_latency_, inside_.latency);
  }
  if (!sites_.empty()) {
    const std::size_t sites = count(sites_, hosts);
    site_out_.resize(sites);
    site_in_.resize(sites);
    least_latency_ = std::min(least_latency_, wide_.latency);
  }
  fabric_ = Fabric(o.tiers, o.torus, hosts);
  fabric_free_.resize(fabric_.lines());
}

LinkModel Network::link(Rank from, Rank to) const {
  LinkModel l = kind(from, to);
  if (fabric_.empty() || inside(from, to)) return l;
  fabric_.route(host(from), host(to), route_);
  l.latency += route_.latency;
  for (const std::uint32_t line : route_.lines) l.bandwidth = std::min(l.bandwidth, fabric_.bandwidth(line));
  return l;
}

// A straight line between random points, `most` apart in time and each from 0 to `most`: its slope
// is never below -1.
Time Network::jitter(Time at, Rank from, Rank to, Time most) const {
  if (most <= 0) return 0;
  const auto point = [&](Time k) {
    Random r(seed_ ^ static_cast<std::uint64_t>(index(from)) << 40 ^ static_cast<std::uint64_t>(index(to)) << 20 ^
             static_cast<std::uint64_t>(k) * 0xD6E8FEB86659FD93u);
    r.next();
    return static_cast<Time>(r.below(static_cast<std::uint64_t>(most) + 1));
  };
  const Time k = at / most;
  const Time a = point(k), b = point(k + 1);
  return a + (b - a) * (at % most) / most;  // fits: check_options limits the jitter
}

Time Network::depart(Time now, Rank from, Rank to, std::int64_t bytes) {
  const LinkModel& l = kind(from, to);
  Time out = 0, passing = 0;
  if (&l == &inside_) {
    out = occupy(rank_out_[static_cast<std::size_t>(index(from))], now, wire(bytes, l.bandwidth));
  } else {
    out = occupy(host_out_[host(from)], now, wire(bytes, near_.bandwidth));
    if (&l == &wide_) {
      const Time takes = wire(bytes, wide_.bandwidth);
      // The lines pass on what they get as it comes: the slower one of them sets the pace.
      out = occupy(site_out_[site(from)], out - wire(bytes, near_.bandwidth), takes);
      out = occupy(site_in_[site(to)], out - takes, takes);
    }
    if (!fabric_.empty()) {
      fabric_.route(host(from), host(to), route_);
      Time before = wire(bytes, near_.bandwidth);
      for (const std::uint32_t line : route_.lines) {
        const Time takes = wire(bytes, fabric_.bandwidth(line));
        out = occupy(fabric_free_[line], out - std::min(before, takes), takes);
        before = takes;
      }
      passing = route_.latency;
    }
  }
  const Time at = out + l.latency + passing;
  return at + jitter(at, from, to, l.jitter);
}

Time Network::enter(Time now, Rank from, Rank to, std::int64_t bytes) {
  const bool inside = this->inside(from, to);
  Time& free = inside ? rank_in_[static_cast<std::size_t>(index(to))] : host_in_[host(to)];
  const Time takes = wire(bytes, inside ? inside_.bandwidth : near_.bandwidth);
  // It came in as it went along the line, if nothing else did.
  return occupy(free, now - takes, takes);
}

}  // namespace tessera::balancer::simulator
