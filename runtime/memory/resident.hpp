// How much memory the process has just now, in bytes; 0: the system does not say.
#pragma once

#include <cstdint>

namespace tessera::runtime {

std::int64_t resident_bytes();

}  // namespace tessera::runtime
