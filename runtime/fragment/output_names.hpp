// What a call of a kernel may assign, as far as its record tells: it knows the names that it has in hand, but not which
// of them is written as what. Indices may fail (ProgramError), as an output may that it could not assign.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/fragment/cf.hpp"

namespace tessera::runtime {

using Indices = std::vector<std::int64_t>;

inline abi::Name element(abi::Name n, const Indices& indices) {
  for (const std::int64_t i : indices) n = abi::index(n, i);
  return n;
}

// In the order of the frame.
template <class F>
void for_each_name(const abi::Cf* c, F f) {
  unsigned word = 0;
  for (const char* k = c->block->layout; *k != '\0'; ++k) {
    if (*k == 'n') f(abi::frame_name(c, word));
    word += *k == 'n' ? 3 : 1;
  }
}
std::vector<abi::Name> names_in_hand(const abi::Cf*);
// Of all inputs, then outputs, one after the other.
Indices all_indices(const abi::Cf*);
std::vector<Indices> indices_of(const abi::Cf*);

// Whether `f` is true for one of the names that an output may be.
template <class F>
bool may_assign(const abi::Cf* c, F f) {
  const abi::Block& b = *c->block;
  if (b.kind != abi::Kind::atomic || b.output_count == 0) return false;
  const Indices indices = all_indices(c);
  bool any = false;
  for_each_name(c, [&](const abi::Name& base) {
    const auto* at = indices.data();
    for (unsigned k = 0; k < static_cast<unsigned>(b.input_count) + b.output_count && !any; ++k) {
      if (k < b.input_count) {
        at += b.slots[k].indices;
        continue;
      }
      abi::Name n = base;
      for (const auto* const end = at + b.slots[k].indices; at != end; ++at) n = abi::index(n, *at);
      any = f(n);
    }
  });
  return any;
}

}  // namespace tessera::runtime
