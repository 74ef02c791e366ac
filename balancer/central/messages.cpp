#include "balancer/central/messages.hpp"

#include "balancer/words.hpp"

namespace tessera::balancer {

std::string text(const Report& m) {
  std::string text = "report " + list(m.ready) + " done " + list(m.finished);
  text += m.idle ? " idle" : " busy";
  if (m.workers != 1) text += " threads " + std::to_string(m.workers);
  if (m.unmoved > 0) text += " unmoved " + seconds_text(m.unmoved);
  for (const std::uint64_t t : m.arrived) text += " arrived " + number(t);
  return text;
}
std::string text(const ReportSeen& m) {
  return m.hold > 0 ? "report seen, hold " + seconds_text(m.hold) : "report seen";
}
std::string text(const Order& m) { return "order " + number(m.ticket) + " to " + name(m.to) + " " + list(m.fragments); }
std::string text(const Confirm& m) {
  return "confirm " + number(m.ticket) + " to " + name(m.to) + " " + list(m.fragments) + " " + std::to_string(m.bytes) +
         " B";
}
std::string text(const LinkReport& m) {
  return "link " + (index(m.peer) < 0 ? "to anybody" : "to " + name(m.peer)) + " " + seconds_text(m.latency) + " " +
         bandwidth_text(m.bandwidth);
}

}  // namespace tessera::balancer
