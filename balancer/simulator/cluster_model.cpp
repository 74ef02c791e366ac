#include "balancer/simulator/cluster_model.hpp"

#include <algorithm>

namespace tessera::balancer::simulator {

std::int32_t ClusterModel::ranks() const {
  std::int32_t sum = 0;
  for (const Nodes& n : nodes) sum += n.count;
  return sum;
}

void apply_cluster(const ClusterModel& m, std::int32_t executing, std::int32_t coordinators, Options& o) {
  o.ranks = executing + coordinators;
  o.threads = m.threads;
  o.latency = m.link.latency;
  o.bandwidth = m.link.bandwidth;
  o.jitter = m.link.jitter;
  o.processing = m.processing;
  o.coordinator = m.coordinator;
  o.speeds.clear();
  o.cores.clear();
  const std::int64_t described = m.ranks();
  for (std::int64_t r = 0; r < executing; ++r) {
    std::int64_t at = r * described / std::max(executing, 1);
    std::size_t kind = 0;
    while (at >= m.nodes[kind].count) at -= m.nodes[kind++].count;
    o.speeds.push_back(m.nodes[kind].speed);
    o.cores.push_back(m.nodes[kind].cores > 0 ? m.nodes[kind].cores : m.threads);
  }
  o.inside_host = m.inside_host;
  o.between_sites = m.between_sites;
  o.tiers = m.tiers;
  o.torus = m.torus;
  o.hosts.clear();
  o.sites.clear();
  if (m.ranks_per_host > 1) {
    for (std::int32_t r = 0; r < o.ranks; ++r) o.hosts.push_back(r / m.ranks_per_host);
  }
  if (!m.hosts_per_site.empty()) {
    const std::int32_t hosts = (o.ranks - 1) / m.ranks_per_host + 1;
    std::int32_t site = 0, left = m.hosts_per_site[0];
    for (std::int32_t h = 0; h < hosts; ++h, --left) {
      if (left == 0 && static_cast<std::size_t>(site) + 1 < m.hosts_per_site.size()) {
        left = m.hosts_per_site[static_cast<std::size_t>(++site)];
      }
      o.sites.push_back(site);
    }
  }
  // What the file says of ranks that are not there this time says nothing.
  const auto there = [&](Rank r) { return index(r) < executing; };
  o.changes.clear();
  o.absent.clear();
  std::copy_if(m.changes.begin(), m.changes.end(), std::back_inserter(o.changes),
               [&](const Change& c) { return there(c.rank); });
  std::copy_if(m.absent.begin(), m.absent.end(), std::back_inserter(o.absent), there);
}

}  // namespace tessera::balancer::simulator
