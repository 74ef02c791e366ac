#include "runtime/trace/trace_buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/work/worker.hpp"

namespace tessera::runtime {

namespace {

constexpr std::uint64_t kKeyFactor = 0xA0761D6478BD642Fu;
// Where memory comes in large pages a chunk is one, so that each page is not asked for by itself; less where that would
// be much of the limit.
constexpr std::size_t kLeastChunk = std::size_t{1} << 18, kMostChunk = std::size_t{1} << 21;  // bytes

TraceKey first_key(const abi::Cf& c, const abi::Block& b) { return abi::fold(c.id.hi + b.index, kKeyFactor) ^ c.id.lo; }

}  // namespace

TraceKey trace_key(const abi::Id& id) { return abi::fold(id.lo ^ 0x7472616365ull, id.hi | 1) ^ id.lo; }

// Ids are spread over all 128 bits already, so little is needed to keep what is mixed in apart.
TraceKey trace_key(const abi::Cf& c) {
  const abi::Block& b = *c.block;
  TraceKey key = first_key(c, b);
  if (b.kind == abi::Kind::range) return key;
  unsigned word = 0;
  for (const char* k = b.layout; *k != '\0'; ++k) {
    if (*k == 'i' || *k == 'l') key = abi::series_key(key, abi::frame_int(&c, word));
    word += *k == 'n' ? 3 : 1;
  }
  return key;
}

std::uint32_t trace_variables(const abi::Block& b) {
  std::uint32_t n = 0;
  for (unsigned i = 0; i < b.var_count; ++i) n += is_whole(b.vars[i]) ? 1 : 0;
  return n;
}
std::uint32_t trace_indices(const abi::Block& b) {
  std::uint32_t n = 0;
  if (b.indices == nullptr || b.kind != abi::Kind::atomic) return 0;
  for (unsigned i = 0; i < static_cast<unsigned>(b.input_count) + b.output_count; ++i) n += b.slots[i].indices;
  return n;
}

TraceBuffer::TraceBuffer(const abi::Program& program, std::int32_t ranks, std::size_t limit)
    : ranks_(ranks),
      limit_(limit),
      chunk_words_(std::clamp(std::bit_floor(limit / 16), kLeastChunk, kMostChunk) / sizeof(std::uint64_t)),
      shapes_(program.block_count) {
  for (std::uint32_t i = 0; i < program.block_count; ++i) {
    const abi::Block& b = *program.blocks[i];
    Shape& s = shapes_[i];
    for (unsigned v = 0; v < b.var_count; ++v) {
      if (is_whole(b.vars[v])) s.variables.push_back(b.vars[v].word);
    }
    unsigned word = 0;
    for (const char* k = b.kind == abi::Kind::range ? "" : b.layout; *k != '\0'; ++k) {
      if (*k == 'i' || *k == 'l') s.counters.push_back(word);
      word += *k == 'n' ? 3 : 1;
    }
    s.once = b.kind == abi::Kind::atomic && (b.flags & abi::kRepeats) == 0;
    s.numbers = trace_variables(b) + trace_indices(b);
    s.words = 3 + s.numbers + 2 * b.input_count;
  }
}

TraceKey TraceBuffer::key_of(const abi::Cf& c, const Shape& shape) const {
  TraceKey key = first_key(c, *c.block);
  for (const std::uint32_t word : shape.counters) key = abi::series_key(key, abi::frame_int(&c, word));
  return key;
}

void TraceBuffer::close_chunk() {
  if (full_since_ == 0 && !chunks_.empty())
    chunks_.back().size = static_cast<std::size_t>(at_ - chunks_.back().words.get());
}

void TraceBuffer::next_chunk(std::size_t words) {
  close_chunk();
  if (full_since_ == 0 && (chunks_.size() + 1) * chunk_words_ * sizeof(std::uint64_t) > limit_) full_since_ = ticks();
  if (full_since_ != 0) {
    lost_.resize(std::max({chunk_words_, words, lost_.size()}));
    at_ = lost_.data(), end_ = at_ + lost_.size();
    return;
  }
  const std::size_t size = std::max(chunk_words_, words);
  const std::size_t bytes = (size * sizeof(std::uint64_t) + kMostChunk - 1) / kMostChunk * kMostChunk;
  void* memory = size * sizeof(std::uint64_t) < kMostChunk ? std::malloc(size * sizeof(std::uint64_t))
                                                           : std::aligned_alloc(kMostChunk, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  if (size * sizeof(std::uint64_t) >= kMostChunk) madvise(memory, bytes, MADV_HUGEPAGE);
  chunks_.push_back({{static_cast<std::uint64_t*>(memory), std::free}, size});
  at_ = chunks_.back().words.get();
  end_ = at_ + size;
}

// For people: `mul (i=2, j=5)` assigns `C[2][5]`.
void TraceBuffer::write_numbers(const abi::Cf& c, const Shape& shape, std::uint64_t* begin, std::uint64_t*& at) {
  for (const std::uint32_t word : shape.variables) *at++ = static_cast<std::uint64_t>(abi::frame_int(&c, word));
  const std::size_t indices = shape.numbers - shape.variables.size();
  if (indices == 0) return;
  try {
    c.block->indices(&c, reinterpret_cast<std::int64_t*>(at));
    at += indices;
  } catch (const std::exception&) {
    // Their arithmetic fails: so will the fragment's.
    begin[0] = head(TraceWord::begin, c.block->index | shape.variables.size() << kTraceBlockBits);
  }
}

void TraceBuffer::write_inputs(const abi::Cf& c, std::uint64_t*& at) {
  const abi::Block& b = *c.block;
  if (b.input_count == 0 || (c.flags & kGathered) == 0) return;
  const InputNames names(&c);
  for (unsigned k = 0; k < b.input_count; ++k) {
    const abi::Value* v = abi::input(&c, b, k);
    if (!abi::is_needed(names[k]) || v == nullptr) continue;
    *at++ = head(TraceWord::input, v->size);
    *at++ = trace_key(names[k].id);
  }
}

// The clock is read last before and first after: what recording takes is no time of the run, but of what it is in.
abi::Next TraceBuffer::run(abi::Worker& w, abi::Cf* c) {
  const Shape& shape = shapes_[c->block->index];
  std::uint64_t* const begin = room(shape.words);
  std::uint64_t* at = begin + 3;
  begin[0] = head(TraceWord::begin, c->block->index | std::uint64_t{shape.numbers} << kTraceBlockBits);
  begin[1] = shape.once && c == born_ && c->id == born_id_ ? born_key_ : key_of(*c, shape);
  born_ = nullptr;
  if (shape.numbers > 0) write_numbers(*c, shape, begin, at);
  write_inputs(*c, at);
  at_ = at;
  located_ = -1;
  begin[2] = ticks();
  const abi::Next next = c->block->run(&w, c);
  const std::uint64_t now = ticks();
  if (next == abi::Next::wait) born(trace_key(*c), located_, false);
  *room(1) = head(TraceWord::end, now);
  ++at_;
  return next;
}

void TraceBuffer::iterate(abi::Worker& w, abi::Cf* range, std::int64_t iteration, bool at_once) {
  std::uint64_t* const begin = room(4);
  begin[0] = head(TraceWord::iteration, range->block->index);
  begin[1] = trace_key(*range);
  begin[2] = static_cast<std::uint64_t>(iteration);
  at_ = begin + 4;
  begin[3] = at_once ? iterated_ : ticks();
  range->block->iterate(&w, range, iteration);
  iterated_ = ticks();
  *room(1) = head(TraceWord::end, iterated_);
  ++at_;
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
      if (c.block->series != nullptr) two(TraceWord::series, 0, c.block->series(&c));
    } catch (const std::exception&) {
      // Its arithmetic fails. One rank asks no locators; where it matters the run will fail by itself.
    }
  }
  born_ = &c, born_id_ = c.id, born_key_ = key_of(c, shapes_[c.block->index]);
  born(born_key_, at, c.scope->ref == std::exchange(ends_scope_, kNoScope));
}

void TraceBuffer::born(TraceKey key, std::int64_t home, bool under_end) {
  two(TraceWord::born, static_cast<std::uint64_t>(2 * (home + 1) + (under_end ? 1 : 0)), key);
}

void TraceBuffer::made(const abi::Id& value, std::uint64_t bytes) { two(TraceWord::made, bytes, trace_key(value)); }

void TraceBuffer::ends(const abi::Scope& scope, const abi::Id& value) {
  ends_scope_ = scope.ref;
  two(TraceWord::ends, 0, trace_key(value));
}

std::vector<std::vector<std::uint64_t>> TraceBuffer::take() {
  close_chunk();
  at_ = end_ = nullptr;
  std::vector<std::vector<std::uint64_t>> all;
  for (Chunk& c : chunks_) {
    all.emplace_back(c.words.get(), c.words.get() + c.size);
    c.words.reset();
  }
  chunks_.clear();
  return all;
}

}  // namespace tessera::runtime
