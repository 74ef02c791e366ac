// Ids: numbers ids in the order in which they come first. Those that come together lie together, so a program that is
// run in about the order in which it was written down finds them in its cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime::journal {

class Ids {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Its number; kNone: it has none.
  std::uint32_t find(const abi::Id& id) const {
    if (slots_.empty()) return kNone;
    for (std::size_t at = hash(id) & mask_;; at = (at + 1) & mask_) {
      if (slots_[at] == kNone || ids_[slots_[at]] == id) return slots_[at];
    }
  }
  // The same; who knows about where it is, has it sooner.
  std::uint32_t find(const abi::Id& id, std::uint32_t near) const {
    for (std::size_t k = near; k < std::min<std::size_t>(near + kNear, ids_.size()); ++k) {
      if (ids_[k] == id) return static_cast<std::uint32_t>(k);
    }
    return find(id);
  }
  // It will be asked for soon.
  void prefetch(const abi::Id& id) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash(id) & mask_]);
  }
  // Its number, and whether it has just got it.
  std::pair<std::uint32_t, bool> put(const abi::Id& id) {
    if ((ids_.size() + 1) * 4 > slots_.size() * 3) grow();
    std::size_t at = hash(id) & mask_;
    for (; slots_[at] != kNone; at = (at + 1) & mask_) {
      if (ids_[slots_[at]] == id) return {slots_[at], false};
    }
    if (ids_.size() == kNone) throw std::length_error("the journal has more than 4 billion names");
    slots_[at] = static_cast<std::uint32_t>(ids_.size());
    ids_.push_back(id);
    return {slots_[at], true};
  }
  std::size_t size() const { return ids_.size(); }
  const abi::Id& operator[](std::uint32_t number) const { return ids_[number]; }

 private:
  static constexpr std::size_t kNear = 4;
  // Ids are random enough to be their own hash.
  static std::size_t hash(const abi::Id& id) { return static_cast<std::size_t>(id.lo ^ (id.hi >> 17)); }
  void grow() {
    slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, kNone);
    mask_ = slots_.size() - 1;
    for (std::size_t k = 0; k < ids_.size(); ++k) {
      std::size_t at = hash(ids_[k]) & mask_;
      while (slots_[at] != kNone) at = (at + 1) & mask_;
      slots_[at] = static_cast<std::uint32_t>(k);
    }
  }
  std::vector<abi::Id> ids_;
  std::vector<std::uint32_t> slots_;
  std::size_t mask_ = 0;
};

}  // namespace tessera::runtime::journal
