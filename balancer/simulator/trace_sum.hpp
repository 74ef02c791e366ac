// TraceSum: of the bytes of a trace, by which it is known whether it is as it was written.
#pragma once

#define XXH_STATIC_LINKING_ONLY  // a state on the stack
#include <xxhash.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace tessera::balancer::simulator {

class TraceSum {
 public:
  TraceSum() { XXH3_64bits_reset(&state_); }
  void add(std::string_view bytes) { XXH3_64bits_update(&state_, bytes.data(), bytes.size()); }
  std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(XXH3_64bits_digest(&state_)));
    return digits;
  }

 private:
  XXH3_state_t state_;
};

}  // namespace tessera::balancer::simulator
