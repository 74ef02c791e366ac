#include "balancer/auction/messages.hpp"

#include "balancer/words.hpp"

namespace tessera::balancer {

std::string text(const AuctionQuestion& m) { return "auction question " + number(m.number); }
std::string text(const AuctionAnswer& m) {
  return "auction answer " + number(m.number) + " load " + std::to_string(m.load);
}
std::string text(const AuctionRequest& m) { return "auction request " + number(m.number); }
std::string text(const AuctionRefusal& m) { return "auction refusal " + number(m.number); }
std::string text(const AuctionUnloaded&) { return "auction unloaded"; }
std::string text(const AuctionWake&) { return "auction wake"; }

}  // namespace tessera::balancer
