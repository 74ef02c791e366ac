// Computation-fragment records: allocation, frames, and how they travel.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/comm/messages.hpp"

namespace tessera::runtime {

using abi::Cf;

// Cf::flags
inline constexpr std::uint16_t kEnrolled = 1;  // holds a count of its scope
inline constexpr std::uint16_t kPlaced = 2;    // on the rank it was sent to: its locator is done
inline constexpr std::uint16_t kGathered = 4;  // its input slots hold values

// A CF of the chain that starts with `block`, all words zero.
Cf* allocate_cf(const abi::Block& block, abi::Scope* scope, abi::Id id);
// Releases what the frame holds and the record itself (not the scope, not the inputs).
void free_cf(Cf*);
// Releases the values in the input slots.
void release_inputs(Cf*);

// The bytes of everything its inputs hold; each value counts once per fragment.
std::int64_t input_bytes(const abi::Block&, const Cf*);

// pack copies the frame (a fragment in transit shares the values it holds); unpack rebuilds it.
PackedCf pack(const Cf*);
Cf* unpack(const abi::Program&, PackedCf&&, abi::Scope*);

// A copy of a range CF with its own bounds, for splitting.
Cf* copy_range(const Cf*, std::int64_t first, std::int64_t last);

}  // namespace tessera::runtime
