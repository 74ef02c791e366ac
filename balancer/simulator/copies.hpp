// Which rank has a copy of which value: a flat hash table, for there are many values on few ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer::simulator {

// Copies maps (value, rank) to a few flags, and how often it has been read there by who would have taken it along;
// absent pairs have none.
class Copies {
 public:
  using Flags = std::uint16_t;
  static constexpr Flags kUnderWay = 1, kHere = 2, kBorne = 4, kRead = 8;
  static std::int64_t read(Flags f) { return f / kRead; }

  Copies() : slots_(1024) {}

  // The reference holds until the next call.
  Flags& at(std::uint64_t value, Rank rank) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& s = slots_[find(value, index(rank))];
    if (s.rank < 0) {
      s = {value, index(rank), 0};
      ++used_;
    }
    return s.flags;
  }
  Flags flags(std::uint64_t value, Rank rank) const { return slots_[find(value, index(rank))].flags; }

 private:
  struct Slot {
    std::uint64_t value = 0;
    std::int32_t rank = -1;
    Flags flags = 0;
  };
  static std::uint64_t mix(std::uint64_t value, std::int32_t rank) {
    std::uint64_t z = value * 0x9E3779B97F4A7C15u ^ (static_cast<std::uint64_t>(rank) + 1) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 29)) * 0x94D049BB133111EBu;
    return z ^ (z >> 32);
  }
  std::size_t find(std::uint64_t value, std::int32_t rank) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = mix(value, rank) & mask;
    while (slots_[i].rank >= 0 && (slots_[i].value != value || slots_[i].rank != rank)) {
      i = (i + 1) & mask;
    }
    return i;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& s : old) {
      if (s.rank >= 0) slots_[find(s.value, s.rank)] = s;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace tessera::balancer::simulator
