// Of several groups the one that became ready last runs first. Where there is a balancer, one that is much lighter goes
// before it, for it may be what others wait for; until there is plenty to share out. Of the ready queue, live and simulated.
#pragma once

#include <cstdint>

namespace tessera::balancer {

inline constexpr double kMuchLighter = 4;                 // times
inline constexpr std::int64_t kPlenty = 4;                // ready fragments of the group, for each rank; or
inline constexpr std::int64_t kPlentyBytes = 64 << 20;    // their inputs, in bytes

}  // namespace tessera::balancer
