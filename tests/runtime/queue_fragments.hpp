// Fragments and loops for tests of queues.
#pragma once

#include <cstdint>

#include "runtime/fragment/cf.hpp"
#include "runtime/work/ready_queue.hpp"

namespace tessera::runtime {

// Blocks of groups 0 and 1 (atomic), 2 (structured) and 3 (range).
inline const abi::Block& block(std::uint32_t group) {
  static const abi::Block* blocks = [] {
    auto* b = new abi::Block[4]{};
    for (std::uint32_t g = 0; g < 4; ++g) {
      b[g].index = b[g].group = g;
      b[g].layout = g == 3 ? "ii" : "i";
      b[g].frame_words = b[g].capacity = g == 3 ? 2 : 1;
      b[g].kind = g == 2 ? abi::Kind::sub : g == 3 ? abi::Kind::range : abi::Kind::atomic;
    }
    return b;
  }();
  return blocks[group];
}
inline Cf* fragment(std::uint32_t group, std::int64_t number) {
  Cf* c = allocate_cf(block(group), nullptr, {});
  abi::frame_int(c, 0) = number;
  return c;
}
inline Cf* range(std::int64_t first, std::int64_t last) {
  Cf* c = allocate_cf(block(3), nullptr, {});
  abi::frame_int(c, 0) = first;
  abi::frame_int(c, 1) = last;
  return c;
}
inline std::int64_t next_number(ReadyQueue& q) {
  Work w;
  if (!q.pop(w, Making::nothing, Making::all, 1)) return -1;
  const std::int64_t n = abi::frame_int(w.cf, 0);
  free_cf(w.cf);
  return n;
}

// The number of a fragment, or of a loop's next iteration.
inline std::int64_t next_made(ReadyQueue& q) {
  Work w;
  if (!q.pop(w, Making::nothing, Making::all, 1)) return -1;
  const bool loop = w.cf->block->kind == abi::Kind::range;
  const std::int64_t number = loop ? w.first : abi::frame_int(w.cf, 0);
  if (!loop || ReadyQueue::chunk_done(w.cf)) free_cf(w.cf);
  return number;
}

}  // namespace tessera::runtime
