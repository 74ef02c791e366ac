// What kernels have decoded of a value (Input::get of types with a Codec) stays with it: on each rank it is decoded
// once, and goes when the value does.
#pragma once

#include "tessera/abi.hpp"

namespace tessera::abi {

struct Decoded {
  const void* type = nullptr;  // of which there is one address
  Decoded* next = nullptr;
  Decoded() = default;
  Decoded(const Decoded&) = delete;
  Decoded& operator=(const Decoded&) = delete;
  virtual ~Decoded() = default;
};

// value_decoded returns what is kept of that type, or null. Of values of type bytes only.
const Decoded* value_decoded(const Value*, const void* type);
// value_keep keeps it, unless another thread has been faster: then it deletes it, and returns the other one.
const Decoded* value_keep(const Value*, Decoded*);

}  // namespace tessera::abi
