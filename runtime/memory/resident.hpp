// How much memory the process has just now, and has had at most since it began this program, in bytes; 0: the system
// does not say.
#pragma once

#include <cstdint>

namespace tessera::runtime {

std::int64_t resident_bytes();
std::int64_t most_resident_bytes();
void forget_most_resident();  // it begins anew

}  // namespace tessera::runtime
