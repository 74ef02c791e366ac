// What one rank has heard of others that have little to do.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "balancer/gossip/messages.hpp"
#include "balancer/random.hpp"

namespace tessera::balancer {

// Rumours keeps the latest word about each rank it has heard of. A word serves once: when something was sent to the
// rank, it counts no more until there is a later one.
//
// Invariant: a word that has been used up does not come back by an older one.
class Rumours {
 public:
  // hear returns whether the word is news.
  bool hear(Time now, const GossipLoad& word);
  // The mean load of all that were heard of, and of this rank: what waits shrinks as time passes.
  Time mean(Time now, Time own) const;
  void forget(Rank);  // it has left; a later word of it counts
  bool has_little(Rank rank) const { return little_.contains(rank); }
  void gave(Rank, Time load);  // so much more is there
  bool nobody() const { return little_.empty(); }

  // Those with less than `load`. In the order of ranks, at most kMost: then some drawn by lot.
  std::vector<GossipLoad> below(Time load, Random&) const;
  void use_up(Rank);
  // All of them: who has sent us something had heard them, too.
  void use_up_all() { little_.clear(); }

 private:
  static constexpr std::size_t kMost = 64;  // in a message, and to choose from

  std::vector<GossipLoad> draw(std::vector<GossipLoad>, Random&) const;

  struct Heard {
    std::uint64_t version = 0;
    Time at = 0, load = 0;
  };
  std::map<Rank, Heard> heard_;
  std::map<Rank, GossipLoad> little_;
};

}  // namespace tessera::balancer
