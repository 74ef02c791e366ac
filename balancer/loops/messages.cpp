#include "balancer/loops/messages.hpp"

#include "balancer/words.hpp"

namespace tessera::balancer {

std::string text(const OutsideTasks& m) {
  return "outside tasks " + seconds_text(static_cast<Time>(m.tasks * 1e9)) + " beside " + std::to_string(m.threads) +
         " threads";
}
std::string text(const LoopOpened&) { return "loop opened"; }
std::string text(const BlockRequest& m) { return "block request " + number(m.number); }
std::string text(const LoopDrained& m) { return "loop drained " + number(m.number); }

}  // namespace tessera::balancer
