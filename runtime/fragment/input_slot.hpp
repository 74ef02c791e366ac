// An input slot of a waiting CF is a link in the waiter list of the data fragment it waits for:
// one word holding the address of the next waiting CF (48 bits) and the number of that CF's slot
// (16 bits). When the value arrives, the same word holds the value.
#pragma once

#include <cstdint>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

struct Waiter {
  abi::Cf* cf;
  unsigned slot;
};
inline std::uint64_t link_to(abi::Cf* cf, unsigned slot) {
  return reinterpret_cast<std::uint64_t>(cf) | (static_cast<std::uint64_t>(slot) << 48);
}
inline Waiter waiter_of(std::uint64_t link) {
  return {reinterpret_cast<abi::Cf*>(link & 0xFFFFFFFFFFFFu), static_cast<unsigned>(link >> 48)};
}
inline std::uint64_t& slot_word(abi::Cf* cf, unsigned slot) { return cf->words()[cf->block->frame_words + slot]; }

}  // namespace tessera::runtime
