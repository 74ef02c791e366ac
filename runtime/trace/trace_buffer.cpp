#include "runtime/trace/trace_buffer.hpp"

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

std::vector<std::uint64_t>& TraceBuffer::room() {
  constexpr std::size_t kLongest = 3;
  if (chunks_.empty() || chunks_.back().size() + kLongest > kChunk) {
    if ((chunks_.size() + 1) * kChunk * sizeof(std::uint64_t) > limit_) {
      full_ = true;
      chunks_ = {};
    }
    chunks_.emplace_back().reserve(kChunk);
  }
  return chunks_.back();
}

void TraceBuffer::put(TraceWord w, std::uint64_t payload, std::uint64_t a, std::uint64_t b) {
  if (full_) return;
  std::vector<std::uint64_t>& to = room();
  to.push_back(payload << kTraceShift | static_cast<std::uint64_t>(w));
  to.push_back(a);
  if (w == TraceWord::iteration) to.push_back(b);
}

void TraceBuffer::put_end(std::uint64_t ticks) {
  if (full_) return;
  room().push_back(ticks << kTraceShift | static_cast<std::uint64_t>(TraceWord::end));
}

// The time from the beginning of open() to the end of close() is no time of the run outside: what
// recording takes is nobody's.
void TraceBuffer::open(Open& o) {
  o.outer_inside = std::exchange(inside_, 0);
  o.from = ticks();
}

void TraceBuffer::close(const Open& o) {
  const std::uint64_t all = ticks() - o.from;
  put_end(all > inside_ ? all - inside_ : 0);
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
  put(TraceWord::begin, c->block->group, trace_key(*c));
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
  put(TraceWord::iteration, range->block->group, trace_key(*range), static_cast<std::uint64_t>(iteration));
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
