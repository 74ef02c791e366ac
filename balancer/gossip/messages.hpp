// What the ranks of `gossip` tell each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

// What is known of one rank. Of two the one with the higher version is the later.
struct GossipLoad {
  Rank rank{0};
  std::uint64_t version = 0;
  Time load = 0;  // ns of work for each of its threads that waits there
  friend bool operator==(const GossipLoad&, const GossipLoad&) = default;
};
// a rank -> some, drawn by lot: these have little to do. Who learns something from it tells others, `rounds` times.
struct GossipNews {
  std::uint32_t rounds = 0;
  std::vector<GossipLoad> loads;
  friend bool operator==(const GossipNews&, const GossipNews&) = default;
};
// a rank with more than it runs, that knows of nobody with little -> some: who of you would like some?
struct GossipOffer {
  friend bool operator==(const GossipOffer&, const GossipOffer&) = default;
};

// One line of a transcript.
std::string text(const GossipNews&);
std::string text(const GossipOffer&);

}  // namespace tessera::balancer
