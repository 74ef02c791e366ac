#include "balancer/gossip/messages.hpp"

#include "balancer/words.hpp"

namespace tessera::balancer {

std::string text(const GossipNews& m) {
  std::string line = "gossip news, rounds " + std::to_string(m.rounds);
  for (const GossipLoad& l : m.loads) {
    line += ", rank " + std::to_string(index(l.rank)) + " " + number(l.version) + " has " + seconds_text(l.load);
  }
  return line;
}
std::string text(const GossipOffer&) { return "gossip offer"; }

}  // namespace tessera::balancer
