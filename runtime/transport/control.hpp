// Control: what a record on the wire is. Everything but `parcel` belongs to the barrier protocol and
// never reaches the sink.
#pragma once

#include <cstdint>

namespace tessera::runtime {

enum class Control : std::uint8_t {
  parcel = 0,
  marker = 1,   // everything I sent you before my barrier call precedes this
  drained = 2,  // to rank 0: I have the markers of all ranks
  release = 3,  // from rank 0: all ranks are drained
};

}  // namespace tessera::runtime
