#include "balancer/mirror/messages.hpp"

#include "balancer/words.hpp"

namespace tessera::balancer {

std::string text(const MirrorState& m) {
  return "mirror state " + seconds_text(m.units) + " at " + decimal(m.speed) + " among " + decimal(m.tasks);
}
std::string text(const MirrorRequest& m) {
  return "mirror request " + number(m.number) + " at " + decimal(m.speed) + " among " + decimal(m.tasks) +
         (m.idle ? " idle" : "") + (m.done > 0 ? ", has run " + seconds_text(m.done) : "");
}
std::string text(const MirrorRefusal& m) { return "mirror refusal " + number(m.number); }

}  // namespace tessera::balancer
