#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera {

extern std::atomic<std::int64_t> live_values;  // values made and not yet freed in this process

}  // namespace tessera
