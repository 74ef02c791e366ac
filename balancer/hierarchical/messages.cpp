#include "balancer/hierarchical/messages.hpp"

#include "balancer/words.hpp"

namespace tessera::balancer {

std::string text(const GroupReport& m) {
  std::string text = "group report load " + seconds_text(m.load) + " movable " + seconds_text(m.movable) + " in " +
                     std::to_string(m.fragments) + " capacity " + seconds_text(static_cast<Time>(m.capacity * 1e9));
  for (const TransferSeen& t : m.seen) {
    text += " seen " + number(t.transfer) + (t.given > 0 ? " gave " + seconds_text(t.given) : "");
  }
  return text;
}
std::string text(const GroupReportSeen&) { return "group report seen"; }
std::string text(const GroupInvite& m) {
  return "invite " + number(m.transfer) + ": " + std::to_string(m.count) + " of " + seconds_text(m.weight) +
         " from the group of " + name(m.giver);
}
std::string text(const GroupNeed& m) {
  std::string text = "need " + number(m.transfer) + ":";
  for (const RankCount& r : m.receivers) {
    text += " " + name(r.rank) + " takes " + std::to_string(r.count);
  }
  return text + " of " + seconds_text(m.weight);
}
std::string text(const GroupSent& m) {
  std::string text = "sent " + number(m.transfer);
  if (m.ticket != 0) {
    text += " by " + number(m.ticket) + " " + name(m.from) + " -> " + name(m.to) + " " + list(m.fragments) + " " +
            std::to_string(m.bytes) + " B";
  }
  return m.last ? text + ", the last" : text;
}

}  // namespace tessera::balancer
