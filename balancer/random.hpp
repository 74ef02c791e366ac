// The seeded generator policies draw from: SplitMix64, the same on every machine.
#pragma once

#include <cstdint>

namespace tessera::balancer {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // below draws from 0 .. n-1, n > 0. The bias of the remainder is far under anything visible here.
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  // unit draws from [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace tessera::balancer
