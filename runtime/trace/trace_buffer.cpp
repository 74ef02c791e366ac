#include "runtime/trace/trace_buffer.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/node/node.hpp"

namespace tessera::runtime {

TraceKey trace_key(const abi::Id& id) { return abi::fold(id.lo ^ 0x7472616365ull, id.hi | 1) ^ id.lo; }

TraceKey trace_key(const abi::Cf& c) {
  const abi::Block& b = *c.block;
  abi::Id id = abi::mix(c.id, b.index);
  if (b.kind != abi::Kind::range) {
    unsigned word = 0;
    for (const char* k = b.layout; *k != '\0'; ++k) {
      if (*k == 'i') id = abi::mix(id, static_cast<std::uint64_t>(abi::frame_int(&c, word)));
      word += *k == 'n' ? 3 : 1;
    }
  }
  return trace_key(id);
}

std::uint32_t trace_variables(const abi::Block& b) {
  std::uint32_t n = 0;
  for (unsigned i = 0; i < b.var_count; ++i) n += b.vars[i].kind == 'i' ? 1 : 0;
  return n;
}
std::uint32_t trace_indices(const abi::Block& b) {
  std::uint32_t n = 0;
  if (b.indices == nullptr || b.kind != abi::Kind::atomic) return 0;
  for (unsigned i = 0; i < static_cast<unsigned>(b.input_count) + b.output_count; ++i) n += b.slots[i].indices;
  return n;
}

std::vector<std::uint64_t>& TraceBuffer::room(std::size_t words) {
  if (chunks_.empty() || chunks_.back().size() + words > kChunk) {
    if ((chunks_.size() + 1) * kChunk * sizeof(std::uint64_t) > limit_) {
      full_ = true;
      chunks_ = {};
    }
    chunks_.emplace_back().reserve(std::max(kChunk, words));
  }
  return chunks_.back();
}

template <class... Words>
void TraceBuffer::put(TraceWord w, std::uint64_t payload, Words... words) {
  if (full_) return;
  std::vector<std::uint64_t>& to = room(1 + sizeof...(words));
  to.push_back(payload << kTraceShift | static_cast<std::uint64_t>(w));
  (to.push_back(words), ...);
}

// For people: `mul (i=2, j=5)` assigns `C[2][5]`.
void TraceBuffer::numbers(const abi::Cf& c) {
  const abi::Block& b = *c.block;
  const std::uint32_t variables = trace_variables(b), indices = trace_indices(b);
  if (full_ || variables + indices == 0) return;
  std::vector<std::uint64_t>& to = room(1 + variables + indices);
  const std::size_t at = to.size();
  to.push_back(std::uint64_t{variables + indices} << kTraceShift | static_cast<std::uint64_t>(TraceWord::numbers));
  for (unsigned i = 0; i < b.var_count; ++i) {
    if (b.vars[i].kind == 'i') to.push_back(static_cast<std::uint64_t>(abi::frame_int(&c, b.vars[i].word)));
  }
  to.resize(at + 1 + variables + indices);
  if (indices == 0) return;
  try {
    b.indices(&c, reinterpret_cast<std::int64_t*>(to.data() + at + 1 + variables));
  } catch (const std::exception&) {
    to.resize(at);  // their arithmetic fails: so will the fragment's
  }
}

// The time from the beginning of open() to the end of close() is no time of the run outside: what
// recording takes is nobody's.
void TraceBuffer::open(Open& o) {
  o.outer_inside = std::exchange(inside_, 0);
  o.from = ticks();
}

void TraceBuffer::close(const Open& o) {
  const std::uint64_t now = ticks(), all = now - o.from;
  put(TraceWord::end, all > inside_ ? all - inside_ : 0, now);
  inside_ = o.outer_inside + (ticks() - o.seen);
}

void TraceBuffer::inputs(const abi::Cf& c) {
  const abi::Block& b = *c.block;
  if (full_ || b.input_count == 0 || (c.flags & kGathered) == 0) return;
  const InputNames names(&c);
  for (unsigned k = 0; k < b.input_count; ++k) {
    const abi::Value* v = abi::input(&c, b, k);
    if (!abi::is_needed(names[k]) || v == nullptr) continue;
    put(TraceWord::input, v->size, trace_key(names[k].id));
  }
}

abi::Next TraceBuffer::run(abi::Worker& w, abi::Cf* c) {
  Open o{ticks(), 0, 0};
  put(TraceWord::begin, c->block->index, trace_key(*c), o.seen);
  numbers(*c);
  inputs(*c);
  open(o);
  located_ = -1;
  const abi::Next next = c->block->run(&w, c);
  if (next == abi::Next::wait) born(trace_key(*c), located_, false);
  close(o);
  return next;
}

void TraceBuffer::iterate(abi::Worker& w, abi::Cf* range, std::int64_t iteration) {
  Open o{ticks(), 0, 0};
  put(TraceWord::iteration, range->block->index, trace_key(*range), static_cast<std::uint64_t>(iteration), o.seen);
  open(o);
  range->block->iterate(&w, range, iteration);
  close(o);
}

std::int64_t TraceBuffer::home(std::int64_t locator) const {
  if (locator >= 0 && locator < kMostRanks) return locator;
  const std::int64_t rest = locator % ranks_;
  return rest < 0 ? rest + ranks_ : rest;
}

void TraceBuffer::born(const abi::Cf& c) {
  std::int64_t at = -1;
  if (c.block->locator != nullptr) {
    try {
      at = home(c.block->locator(&c));
      if (c.block->series != nullptr) put(TraceWord::series, 0, c.block->series(&c));
    } catch (const std::exception&) {
      // Its arithmetic fails. One rank asks no locators; where it matters the run will fail by itself.
    }
  }
  born(trace_key(c), at, c.scope->ref == std::exchange(ends_scope_, kNoScope));
}

void TraceBuffer::born(TraceKey key, std::int64_t home, bool under_end) {
  put(TraceWord::born, static_cast<std::uint64_t>(2 * (home + 1) + (under_end ? 1 : 0)), key);
}

void TraceBuffer::made(const abi::Id& value, std::uint64_t bytes) { put(TraceWord::made, bytes, trace_key(value)); }

void TraceBuffer::ends(const abi::Scope& scope, const abi::Id& value) {
  ends_scope_ = scope.ref;
  put(TraceWord::ends, 0, trace_key(value));
}

std::vector<std::vector<std::uint64_t>> TraceBuffer::take() { return std::exchange(chunks_, {}); }

}  // namespace tessera::runtime
