// Quantities as people write them: `60ms`, `2.6 us`, `2MB`, `1 Gbit/s`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "balancer/types.hpp"

namespace tessera::balancer {

// parse_number reads `1`, `0.5`, `1e6`. Not `nan`, not `0x10`.
std::optional<double> parse_number(std::string_view text);
// parse_duration reads a number with ns, us, ms, s, min or h, and 0 without; in ns.
std::optional<Time> parse_duration(std::string_view text);
// parse_bytes reads a number of bytes, or one with B, kB, MB, GB, KiB, MiB or GiB.
std::optional<std::int64_t> parse_bytes(std::string_view text);
// parse_bandwidth reads a number with kbit/s, Mbit/s, Gbit/s, or a unit of bytes and /s; in
// bytes/s.
std::optional<double> parse_bandwidth(std::string_view text);

// For people, three digits: `1.23 ms`, `45.6 MB`.
std::string duration_text(Time);
std::string bytes_text(double bytes);

}  // namespace tessera::balancer
