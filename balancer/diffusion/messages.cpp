#include "balancer/diffusion/messages.hpp"

#include "balancer/words.hpp"

namespace tessera::balancer {

std::string text(const DiffusionLoad& m) { return "diffusion load " + seconds_text(m.load) + (m.idle ? ", idle" : ""); }

}  // namespace tessera::balancer
