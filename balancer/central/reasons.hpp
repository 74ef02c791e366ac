// Why a coordinator moves nothing, in words that a run's summary knows.
#pragma once

namespace tessera::balancer {

inline constexpr const char* kCosts = "transfer costs more than it saves";

}  // namespace tessera::balancer
