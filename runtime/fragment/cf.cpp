#include "runtime/fragment/cf.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/memory/pool.hpp"

namespace tessera::runtime {
namespace {

// Calls f(word) for each Value* of the frame.
template <class F>
void for_each_value(const abi::Block& block, F f) {
  unsigned word = 0;
  for (const char* k = block.layout; *k != '\0'; ++k) {
    if (*k == 's' || *k == 'v') f(word);
    word += *k == 'n' ? 3 : 1;
  }
}

std::size_t bytes_of(const Cf* c) { return sizeof(Cf) + c->capacity * sizeof(std::uint64_t); }

Cf* allocate_words(const abi::Block& block, std::uint16_t capacity, abi::Scope* scope, abi::Id id) {
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

}  // namespace

Cf* allocate_cf(const abi::Block& block, abi::Scope* scope, abi::Id id) {
  return allocate_words(block, block.capacity, scope, id);
}

void free_cf(Cf* c) {
  for_each_value(*c->block, [c](unsigned w) { abi::release(abi::frame_value(c, w)); });
  pool_free(c, bytes_of(c));
}

void release_inputs(Cf* c) {
  if ((c->flags & kGathered) == 0) return;
  c->flags &= static_cast<std::uint16_t>(~kGathered);
  std::uint64_t* slots = c->words() + c->block->frame_words;
  for (unsigned k = 0; k < c->block->input_count; ++k) {
    abi::release(reinterpret_cast<abi::Value*>(slots[k]));
    slots[k] = 0;
  }
}

std::int64_t input_bytes(const abi::Block& block, const Cf* c) {
  if ((c->flags & kGathered) == 0) return 0;
  std::int64_t sum = 0;
  for (unsigned k = 0; k < block.input_count; ++k) {
    if (const abi::Value* v = abi::input(c, block, k)) sum += static_cast<std::int64_t>(v->size);
  }
  return sum;
}

PackedCf pack(const Cf* c) {
  PackedCf p;
  p.block = c->block->index;
  p.id = c->id;
  p.scope = c->scope->ref;
  p.frame.assign(c->words(), c->words() + c->block->frame_words);
  for_each_value(*c->block, [&](unsigned w) {
    if (p.frame[w] == 0) return;
    p.held.push_back({ValueRef(abi::retain(abi::frame_value(c, w)))});
    p.frame[w] = p.held.size();  // 1-based: zero stays "none"
  });
  return p;
}

Cf* unpack(const abi::Program& program, PackedCf&& p, abi::Scope* scope) {
  const abi::Block& block = *program.blocks[p.block];
  Cf* c = allocate_cf(block, scope, p.id);
  std::copy(p.frame.begin(), p.frame.end(), c->words());
  for_each_value(block, [&](unsigned w) {
    if (p.frame[w] == 0) return;
    abi::frame_value(c, w) = p.held.at(p.frame[w] - 1).value.take();
  });
  return c;
}

Cf* copy_range(const Cf* c, std::int64_t first, std::int64_t last) {
  Cf* copy = allocate_words(*c->block, c->capacity, c->scope, c->id);
  std::memcpy(copy->words(), c->words(), c->block->frame_words * sizeof(std::uint64_t));
  for_each_value(*c->block, [copy](unsigned w) { abi::retain(abi::frame_value(copy, w)); });
  abi::frame_int(copy, 0) = first;
  abi::frame_int(copy, 1) = last;
  return copy;
}

}  // namespace tessera::runtime
