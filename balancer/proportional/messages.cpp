#include "balancer/proportional/messages.hpp"

#include "balancer/words.hpp"

namespace tessera::balancer {

std::string text(const ShareDone& m) {
  return "share " + number(m.ticket) + " of " + std::to_string(m.units) + " done";
}
std::string text(const HandOver& m) {
  std::string text = "hand over " + name(m.group) + " to";
  for (const Rank r : m.to) text += " " + name(r);
  return text;
}

}  // namespace tessera::balancer
