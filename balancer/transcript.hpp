// Events and actions as text, one line each: for transcripts in tests and for logs.
//
//   0.000100 received 0: report {0: 14} done {} busy
//            send 0: order #1 to 2 {0: 5}
#pragma once

#include <string>

#include "balancer/event.hpp"
#include "balancer/words.hpp"

namespace tessera::balancer {

std::string to_text(const Message&);
std::string to_text(const Event&);
std::string to_text(const Action&);

}  // namespace tessera::balancer
