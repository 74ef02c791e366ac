// Computation-fragment records: allocation, frames, and how they travel.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/comm/messages.hpp"
#include "runtime/memory/pool.hpp"

namespace tessera::runtime {

using abi::Cf;

// Cf::flags
inline constexpr std::uint16_t kEnrolled = 1;  // holds a count of its scope
inline constexpr std::uint16_t kPlaced = 2;    // on the rank it was sent to: its locator is done
inline constexpr std::uint16_t kGathered = 4;  // its input slots hold values
inline constexpr std::uint16_t kMoved = 8;     // it had its inputs on another rank
// 16 is abi::kRecalled.
inline constexpr std::uint16_t kHolding = 32;  // hulls (fragment/horizon.hpp): in its block's hold_word
inline constexpr std::uint16_t kWithin = 64;  // made by an iteration of a `for` of its family, or by what that has made
// It waited for data when many did, or was made by what has: who is far ahead may still make fragments by it (Lead).
inline constexpr std::uint16_t kDue = 128;
// What makes others: its family, by a number that few have; 0: none. All that the turns of a `while` make is of one,
// and all that calls of a sub do, of which each may make the next.
inline constexpr std::uint16_t kFamily = 0xff00;

// By what the program says of the founder, not by its address: it decides which loop goes first.
inline std::uint16_t family_of(std::uint64_t founder) {
  const std::uint64_t number = founder % 255 + 1;
  return static_cast<std::uint16_t>(number << std::countr_zero(kFamily));
}

// Of what the turns of a `while` make: its own, unless it runs in each iteration of a `for` of that.
inline std::uint16_t family_of_turns(const Cf* loop) {
  const std::uint16_t own = __atomic_load_n(&loop->flags, __ATOMIC_RELAXED) & (kFamily | kWithin);
  return (own & kFamily) == 0 || (own & kWithin) != 0 ? family_of(loop->id.lo) : own;
}

// Whose family `c` is of, made by `maker`: of that of its maker, or it founds one.
inline void join_family(Cf* c, const Cf* maker) {
  const abi::Kind kind = maker->block->kind;
  // Of a loop whose iterations run on several workers: one of them may have taken the last ones (kHolding).
  const std::uint16_t made_by = __atomic_load_n(&maker->flags, __ATOMIC_RELAXED);
  std::uint16_t family = made_by & (kFamily | kWithin);
  if (kind == abi::Kind::loop) family = family_of_turns(maker);
  if (family == 0) {
    const bool call = c->block->kind == abi::Kind::sub || c->block->kind == abi::Kind::eval;
    family = call ? family_of(c->block->group) : 0;
  } else if (kind == abi::Kind::range) {
    family |= kWithin;
  }
  c->flags |= family | (made_by & kDue);
}

// Calls f(word) for each Value* of the frame.
template <class F>
void for_each_value(const abi::Block& block, F f) {
  if ((block.values & abi::kMoreValues) == 0) [[likely]] {
    for (std::uint64_t left = block.values; left != 0; left &= left - 1)
      f(static_cast<unsigned>(std::countr_zero(left)));
    return;
  }
  unsigned word = 0;
  for (const char* k = block.layout; *k != '\0'; ++k) {
    if (*k == 's' || *k == 'v') f(word);
    word += *k == 'n' ? 3 : 1;
  }
}

inline std::size_t bytes_of(const Cf* c) { return sizeof(Cf) + c->capacity * sizeof(std::uint64_t); }

// A CF with all words zero.
inline Cf* allocate_words(const abi::Block& block, std::uint16_t capacity, abi::Scope* scope, abi::Id id) {
  const std::size_t bytes = sizeof(Cf) + capacity * sizeof(std::uint64_t);
  auto* c = static_cast<Cf*>(pool_allocate(bytes));
  c->next = nullptr;
  c->block = &block;
  c->scope = scope;
  c->id = id;
  c->pending = 0;
  c->flags = 0;
  c->capacity = capacity;
  std::memset(c->words(), 0, capacity * sizeof(std::uint64_t));
  return c;
}

// ... of the chain that starts with `block`.
inline Cf* allocate_cf(const abi::Block& block, abi::Scope* scope, abi::Id id) {
  return allocate_words(block, block.capacity, scope, id);
}

// Releases what the frame holds and the record itself (not the scope, not the inputs).
inline void free_cf(Cf* c) {
  for_each_value(*c->block, [c](unsigned w) { abi::release(abi::frame_value(c, w)); });
  pool_free(c, bytes_of(c));
}

// Releases the values in the input slots, which are those of block `b`.
inline void release_inputs(Cf* c, const abi::Block& b) {
  c->flags &= static_cast<std::uint16_t>(~kGathered);
  std::uint64_t* slot = c->words() + b.frame_words;
  for (std::uint64_t* const end = slot + b.input_count; slot != end; ++slot) {
    abi::release(reinterpret_cast<abi::Value*>(*slot));
    *slot = 0;
  }
}
inline void release_inputs(Cf* c) {
  if ((c->flags & kGathered) != 0) release_inputs(c, *c->block);
}

// The bytes of everything its inputs hold; each value counts once per fragment.
std::int64_t input_bytes(const abi::Block&, const Cf*);

// pack copies the frame (a fragment in transit shares the values it holds); unpack rebuilds it.
PackedCf pack(const Cf*);
Cf* unpack(const abi::Program&, PackedCf&&, abi::Scope*);

// What it may still read of swept names (fragment/horizon.hpp).
abi::Hulls hulls_of(const Cf*);

// A copy of a range CF with its own bounds, for splitting.
Cf* copy_range(const Cf*, std::int64_t first, std::int64_t last);

// The first of its counters; 0: it has none. Of fragments of a group this is about the order of the program.
inline std::int64_t first_counter(const Cf* c) {
  const abi::Block& b = *c->block;
  for (unsigned v = 0; v < b.var_count; ++v) {
    if (b.vars[v].kind == 'i') return abi::frame_int(c, b.vars[v].word);
  }
  return 0;
}

}  // namespace tessera::runtime
