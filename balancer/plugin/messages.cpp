#include "balancer/plugin/messages.hpp"

namespace tessera::balancer {

std::string text(const PluginMessage& m) {
  return "plugin message " + std::to_string(m.number) +
         (m.bytes.empty() ? "" : " and " + std::to_string(m.bytes.size()) + " bytes");
}

}  // namespace tessera::balancer
