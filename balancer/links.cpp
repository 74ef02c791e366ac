#include "balancer/links.hpp"

#include <algorithm>
#include <set>

namespace tessera::balancer {

Time wire_time(const Link& link, std::int64_t bytes) {
  if (bytes <= 0 || link.bandwidth <= 0) return 0;
  return static_cast<Time>(std::min(static_cast<double>(bytes) / link.bandwidth * 1e9, 1e18));
}

Time transfer_time(const Link& link, std::int64_t bytes) { return link.latency + wire_time(link, bytes); }

Time crossing_time(const Link& link, std::int64_t bytes, std::int64_t fragments) {
  return link.latency + transfer_time(link, bytes + kShipmentBytes + fragments * kFragmentBytes);
}

bool worth_moving(Time weight, std::int64_t bytes_each, const Link& link, double margin, Time ship_cost) {
  // The latency is shared by all that move in one message, so only the wire counts per fragment.
  return may_travel(link, bytes_each) &&
         static_cast<double>(weight) >= margin * static_cast<double>(wire_time(link, bytes_each) + ship_cost);
}

Hosts::Hosts(const std::vector<std::int32_t>& by_rank) {
  const std::set<std::int32_t> all(by_rank.begin(), by_rank.end());
  if (all.size() > 1 && all.size() < by_rank.size()) by_rank_ = by_rank;
}

void Links::set(Rank from, Rank to, const Link& l) {
  of_pair_[{from, to}] = l;
  if (!hosts_.has(from) || !hosts_.has(to)) return;
  of_hosts_[{hosts_.of(from), hosts_.of(to)}] = l;
  if (hosts_.same(from, to)) return;
  Link worst = l;
  for (const auto& [pair, link] : of_hosts_) {
    if (pair.first != hosts_.of(from) || pair.second == pair.first) continue;
    worst.latency = std::max(worst.latency, link.latency);
    worst.bandwidth = std::min(worst.bandwidth, link.bandwidth);
  }
  leaving_[hosts_.of(from)] = worst;
}

const Link* Links::between_hosts(Rank from, Rank to) const {
  if (!hosts_.has(from) || !hosts_.has(to)) return nullptr;
  for (const auto& [a, b] : {std::pair{from, to}, std::pair{to, from}}) {
    if (const auto it = of_hosts_.find({hosts_.of(a), hosts_.of(b)}); it != of_hosts_.end()) return &it->second;
  }
  if (hosts_.same(from, to)) return nullptr;
  for (const Rank r : {from, to}) {
    if (const auto it = leaving_.find(hosts_.of(r)); it != leaving_.end()) return &it->second;
  }
  return &kNotMeasured;
}

void Links::measured(Rank from, Rank to, const Link& l) {
  set(from, to, l);
  Link worst = l;  // not of the guess as well: five links of 1 GB/s and a guess of 0.2 are no line of 0.2
  for (const auto& [pair, link] : of_pair_) {
    if (pair.first != from) continue;
    worst.latency = std::max(worst.latency, link.latency);
    worst.bandwidth = std::min(worst.bandwidth, link.bandwidth);
  }
  set(from, worst);
}

const Link& Links::between(Rank from, Rank to) const {
  if (const auto pair = of_pair_.find({from, to}); pair != of_pair_.end()) return pair->second;
  if (const auto back = of_pair_.find({to, from}); back != of_pair_.end()) return back->second;
  if (const Link* link = between_hosts(from, to); link != nullptr) return *link;
  if (const auto rank = of_rank_.find(from); rank != of_rank_.end()) return rank->second;
  return default_;
}

LinkDigest::News LinkDigest::measured(Rank peer, const Link& link) {
  const auto twice = [](double a, double b) { return a > 2 * b; };
  const auto latency = [](const Link& l) { return static_cast<double>(l.latency); };
  if (!known_ || link.bandwidth > 1.25 * usual_.bandwidth || twice(latency(usual_), latency(link))) {
    if (known_) {  // the better of each
      usual_.latency = std::min(usual_.latency, link.latency);
      usual_.bandwidth = std::max(usual_.bandwidth, link.bandwidth);
    } else {
      usual_ = link;
    }
    known_ = true;
    told_.erase(peer);
    return News::anybody;
  }
  const auto told = told_.find(peer);
  const Link& last = told == told_.end() ? usual_ : told->second;
  if (twice(link.bandwidth, last.bandwidth) || twice(last.bandwidth, link.bandwidth) ||
      twice(latency(link), latency(last)) || twice(latency(last), latency(link))) {
    told_[peer] = link;
    return News::this_peer;
  }
  return News::nothing;
}

}  // namespace tessera::balancer
