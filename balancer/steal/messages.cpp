#include "balancer/steal/messages.hpp"

#include "balancer/words.hpp"

namespace tessera::balancer {

std::string text(const StealRequest& m) { return "steal request " + number(m.number) + (m.idle ? " idle" : ""); }
std::string text(const StealRefuse& m) { return "steal refuse " + number(m.number); }
std::string text(const StealRevoke& m) { return "steal revoke " + number(m.number); }
std::string text(const StealWake& m) { return m.call ? "steal call" : "steal wake"; }

}  // namespace tessera::balancer
