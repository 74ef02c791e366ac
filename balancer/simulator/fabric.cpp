#include "balancer/simulator/fabric.hpp"

#include <algorithm>

namespace tessera::balancer::simulator {

Fabric::Fabric(const std::vector<Tier>& tiers, const Torus& torus, std::size_t hosts) : tiers_(tiers), torus_(torus) {
  std::size_t in = 1;
  for (const Tier& t : tiers_) {
    in *= static_cast<std::size_t>(t.of);
    hosts_in_.push_back(in);
    first_line_.push_back(lines_);
    lines_ += ((hosts + in - 1) / in) * 2 * static_cast<std::size_t>(t.lines);
  }
  if (!torus_.sides.empty()) {
    std::size_t all = 1;
    for (const std::int32_t side : torus_.sides) all *= static_cast<std::size_t>(side);
    lines_ = all * 2 * torus_.sides.size();
  }
}

double Fabric::bandwidth(std::uint32_t line) const {
  if (!torus_.sides.empty()) return torus_.bandwidth;
  const auto after = std::upper_bound(first_line_.begin(), first_line_.end(), line);
  return tiers_[static_cast<std::size_t>(after - first_line_.begin()) - 1].bandwidth;
}

void Fabric::route(std::size_t from, std::size_t to, Route& into) const {
  into.lines.clear();
  into.latency = 0;
  if (from == to) return;
  if (!torus_.sides.empty()) return route_in_torus(from, to, into);
  std::size_t crossed = 0;
  while (crossed < tiers_.size() && from / hosts_in_[crossed] != to / hosts_in_[crossed]) ++crossed;
  // The pair decides which of several lines it takes, so what it sends keeps its order.
  const std::size_t pair = (from * 0x9E3779B97F4A7C15u) ^ (to * 0xC2B2AE3D27D4EB4Fu);
  const auto line = [&](std::size_t tier, std::size_t host, bool in) {
    const auto of_group = static_cast<std::size_t>(tiers_[tier].lines);
    const std::size_t group = host / hosts_in_[tier];
    return static_cast<std::uint32_t>(first_line_[tier] + group * 2 * of_group + (in ? of_group : 0) +
                                      (pair >> 32) % of_group);
  };
  for (std::size_t t = 0; t < crossed; ++t) {
    into.lines.push_back(line(t, from, false));
    into.latency += tiers_[t].latency;
  }
  for (std::size_t t = crossed; t-- > 0;) into.lines.push_back(line(t, to, true));
}

void Fabric::route_in_torus(std::size_t from, std::size_t to, Route& into) const {
  const std::size_t dimensions = torus_.sides.size();
  std::size_t stride = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const auto side = static_cast<std::size_t>(torus_.sides[d]);
    const std::size_t at = from / stride % side, goal = to / stride % side;
    const std::size_t up = (goal + side - at) % side;
    const bool counts_up = 2 * up <= side;
    for (std::size_t left = counts_up ? up : side - up; left > 0; --left) {
      into.lines.push_back(static_cast<std::uint32_t>((from * dimensions + d) * 2 + (counts_up ? 0 : 1)));
      into.latency += torus_.latency;
      const std::size_t here = from / stride % side;
      from = from - here * stride + (here + (counts_up ? 1 : side - 1)) % side * stride;
    }
    stride *= side;
  }
}

}  // namespace tessera::balancer::simulator
