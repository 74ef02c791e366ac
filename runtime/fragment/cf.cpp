#include "runtime/fragment/cf.hpp"

#include <algorithm>
#include <cstring>

namespace tessera::runtime {

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
  p.due = (c->flags & kDue) != 0;
  p.frame.assign(c->words(), c->words() + c->block->frame_words);
  if ((c->block->flags & abi::kHolds) != 0) p.frame[c->block->hold_word] = 0;
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
  if (p.moved) c->flags |= kMoved;
  if (p.due) c->flags |= kDue;
  std::copy(p.frame.begin(), p.frame.end(), c->words());
  for_each_value(block, [&](unsigned w) {
    if (p.frame[w] == 0) return;
    abi::frame_value(c, w) = p.held.at(p.frame[w] - 1).value.take();
  });
  return c;
}

abi::Hulls hulls_of(const Cf* c) {
  abi::Hulls hulls;
  if ((c->block->flags & abi::kHolds) == 0) return hulls;
  const bool range = c->block->kind == abi::Kind::range;
  c->block->hulls(c, range ? abi::frame_int(c, 0) : 0, range ? abi::frame_int(c, 1) : 0, &hulls);
  return hulls;
}

Cf* copy_range(const Cf* c, std::int64_t first, std::int64_t last) {
  Cf* copy = allocate_words(*c->block, c->capacity, c->scope, c->id);
  std::memcpy(copy->words(), c->words(), c->block->frame_words * sizeof(std::uint64_t));
  for_each_value(*c->block, [copy](unsigned w) { abi::retain(abi::frame_value(copy, w)); });
  copy->flags |= c->flags & kDue;
  abi::frame_int(copy, 0) = first;
  abi::frame_int(copy, 1) = last;
  if ((c->block->flags & abi::kHolds) != 0) abi::frame_int(copy, c->block->hold_word) = 0;
  return copy;
}

}  // namespace tessera::runtime
