// Messages for a person who reads a transcript.
#pragma once

#include <string>

#include "runtime/comm/messages.hpp"

namespace tessera::whole {

// message_text names the message and its members in the order of the struct. Addresses (`ack`) are not told: they
// differ from one process to the next.
std::string message_text(const runtime::Message& m);

}  // namespace tessera::whole
