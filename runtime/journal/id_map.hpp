// IdMap: a table by id that only grows. Ids are random enough to be their own hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime::journal {

template <class T>
class IdMap {
 public:
  const T* find(const abi::Id& id) const {
    if (slots_.empty()) return nullptr;
    for (std::size_t at = hash(id) & mask_;; at = (at + 1) & mask_) {
      const Slot& s = slots_[at];
      if (!s.used) return nullptr;
      if (s.id == id) return &s.what;
    }
  }
  T* find(const abi::Id& id) { return const_cast<T*>(std::as_const(*this).find(id)); }
  // What is there, or `fresh`. Valid until the next one.
  std::pair<T*, bool> put(const abi::Id& id, T fresh = {}) {
    if ((used_ + 1) * 4 > slots_.size() * 3) grow();
    for (std::size_t at = hash(id) & mask_;; at = (at + 1) & mask_) {
      Slot& s = slots_[at];
      if (s.used && s.id == id) return {&s.what, false};
      if (s.used) continue;
      s = {id, std::move(fresh), true};
      ++used_;
      return {&s.what, true};
    }
  }
  std::size_t size() const { return used_; }
  // Before so many are put in the order of another table: one that grew meanwhile would be full in front, and each
  // that comes would look through all of these.
  void reserve(std::size_t count) {
    while (count * 4 > slots_.size() * 3) grow();
  }
  template <class F>
  void for_each(F f) const {
    for (const Slot& s : slots_) {
      if (s.used) f(s.id, s.what);
    }
  }

 private:
  struct Slot {
    abi::Id id;
    [[no_unique_address]] T what{};
    bool used = false;
  };
  static std::size_t hash(const abi::Id& id) { return static_cast<std::size_t>(id.lo ^ (id.hi >> 17)); }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (Slot& s : old) {
      if (!s.used) continue;
      std::size_t at = hash(s.id) & mask_;
      while (slots_[at].used) at = (at + 1) & mask_;
      slots_[at] = std::move(s);
    }
  }
  std::vector<Slot> slots_;
  std::size_t mask_ = 0, used_ = 0;
};

}  // namespace tessera::runtime::journal
