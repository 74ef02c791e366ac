// How the files of a small world count ranks, and sets of eight.
#pragma once

#include <cstdint>

#include "balancer/types.hpp"

namespace tessera::protocol {

inline constexpr int kHome = 0;

inline std::uint8_t bit(int k) { return static_cast<std::uint8_t>(1u << k); }
inline bool in(std::uint8_t set, int k) { return (set >> k & 1) != 0; }
inline balancer::Rank rank_of(int r) { return balancer::Rank{r}; }
inline int number(balancer::Rank r) { return balancer::index(r); }

}  // namespace tessera::protocol
