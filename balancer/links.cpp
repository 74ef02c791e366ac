#include "balancer/links.hpp"

#include <algorithm>

namespace tessera::balancer {

Time wire_time(const Link& link, std::int64_t bytes) {
  if (bytes <= 0 || link.bandwidth <= 0) return 0;
  return static_cast<Time>(std::min(static_cast<double>(bytes) / link.bandwidth * 1e9, 1e18));
}

Time transfer_time(const Link& link, std::int64_t bytes) {
  return link.latency + wire_time(link, bytes);
}

bool worth_moving(Time weight, std::int64_t bytes_each, const Link& link, double margin) {
  // The latency is shared by all that move in one message, so only the wire counts per fragment.
  return static_cast<double>(weight) >= margin * static_cast<double>(wire_time(link, bytes_each));
}

const Link& Links::between(Rank from, Rank to) const {
  if (const auto pair = of_pair_.find({from, to}); pair != of_pair_.end()) return pair->second;
  if (const auto rank = of_rank_.find(from); rank != of_rank_.end()) return rank->second;
  return default_;
}

LinkDigest::News LinkDigest::measured(const Link& link) {
  if (!known_) {
    known_ = true;
    usual_ = link;
    return News::anybody;
  }
  const auto differs = [](double a, double b) { return a > 2 * b || b > 2 * a; };
  return differs(static_cast<double>(link.latency), static_cast<double>(usual_.latency)) ||
                 differs(link.bandwidth, usual_.bandwidth)
             ? News::this_peer
             : News::nothing;
}

}  // namespace tessera::balancer
