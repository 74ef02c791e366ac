#include "runtime/node/balance_kept.hpp"

#include "runtime/balance/link_meter.hpp"
#include "runtime/balance/policy_host.hpp"
#include "runtime/journal/journal.hpp"
#include "runtime/node/node.hpp"

namespace tessera::runtime {
namespace {

const std::string& host_of(const Node& node, Rank r) {
  return node.facts.hosts[static_cast<std::size_t>(balancer::index(r))];
}
bool hosts_known(const Node& node) { return static_cast<std::int32_t>(node.facts.hosts.size()) == node.ranks(); }

}  // namespace

journal::SeriesPlaces places_of_series(const Node& node) {
  journal::SeriesPlaces p{balancer::index(node.self()), node.ranks(), {}, {}};
  for (const auto& [series, to] : node.retained.all()) {
    p.series.push_back(series);
    p.lives.push_back(balancer::index(to));
  }
  return p;
}

journal::HostLinks measured_links(const Node& node) {
  journal::HostLinks all;
  if (!hosts_known(node)) return all;
  for (const LinkMeter::Measured& m : node.links->measured())
    all.push_back({host_of(node, node.self()), host_of(node, m.peer), m.latency, m.bandwidth});
  return all;
}

void recall_balance(Node& node) {
  if (node.journal == nullptr || node.journal->known() == nullptr || !node.facts.balancing) return;
  const journal::Known& known = *node.journal->known();
  if (const auto at = known.places.find({node.ranks(), balancer::index(node.self())}); at != known.places.end()) {
    for (std::size_t k = 0; k < at->second.series.size(); ++k) {
      const std::int32_t to = at->second.lives[k];
      if (node.members.takes_part(Rank{to})) node.retained.put(at->second.series[k], Rank{to});
    }
  }
  if (!hosts_known(node)) return;
  for (const Rank peer : node.links->peers()) {
    const auto at = known.links.find({host_of(node, node.self()), host_of(node, peer)});
    if (at != known.links.end()) node.policy->measured(peer, at->second.latency, at->second.bandwidth);
  }
}

}  // namespace tessera::runtime
