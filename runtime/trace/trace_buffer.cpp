#include "runtime/trace/trace_buffer.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "runtime/fragment/cf.hpp"
#include "runtime/fragment/input_names.hpp"
#include "runtime/trace/trace_seal.hpp"
#include "runtime/work/worker.hpp"

namespace tessera::runtime {

namespace {

constexpr std::uint64_t kKeyFactor = 0xA0761D6478BD642Fu;

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

TraceBuffer::TraceBuffer(const abi::Program& program, std::int32_t ranks, std::shared_ptr<RecordRoom> room)
    : ranks_(ranks), shapes_(program.block_count), writer_(std::move(room)) {
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

void TraceBuffer::next_chunk(std::size_t words) {
  born_at_ = ended_at_ = nullptr;
  iterated_range_ = nullptr;
  std::vector<Open*> open;
  for (Open* o = open_; o != nullptr; o = o->outer) open.push_back(o);
  std::reverse(open.begin(), open.end());
  // The chunk may go as soon as there is another one.
  std::vector<std::uint64_t> again;
  for (const Open* o : open) again.insert(again.end(), o->begin, o->begin + o->words);
  close_chunk();
  // Beside what is open there is room for three times as much.
  chunk_ = &writer_.next(words + 4 * again.size());
  chunk_->again = again.size();
  at_ = std::copy(again.begin(), again.end(), chunk_->words.get());
  end_ = chunk_->words.get() + chunk_->room;
  std::uint64_t* begin = chunk_->words.get();
  for (Open* o : open) o->begin = std::exchange(begin, begin + o->words);
}

void TraceBuffer::close_chunk() {
  if (chunk_ != nullptr) chunk_->used = static_cast<std::size_t>(at_ - chunk_->words.get());
}

// For people: `mul (i=2, j=5)` assigns `C[2][5]`.
void TraceBuffer::write_numbers(const abi::Cf& c, const Shape& shape, std::uint64_t*& at) {
  for (const std::uint32_t word : shape.variables) *at++ = static_cast<std::uint64_t>(abi::frame_int(&c, word));
  const std::size_t indices = shape.numbers - shape.variables.size();
  if (indices == 0) return;
  try {
    c.block->indices(&c, reinterpret_cast<std::int64_t*>(at));
    at += indices;
  } catch (const std::exception&) {
    // Their arithmetic fails: so will the fragment's.
  }
}

void TraceBuffer::write_inputs(const abi::Cf& c, std::uint64_t*& at) {
  const abi::Block& b = *c.block;
  if ((c.flags & kGathered) == 0) return;
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
  const bool fresh = shape.once && c == born_ && c->id == born_id_;
  TraceWord word = TraceWord::begin;
  std::uint64_t payload = c->block->index;
  if (fresh && at_ == born_at_ && shape.numbers < kMostNumbers) {
    at_ -= 2;  // both in one record
    word = TraceWord::born_begin;
    payload |= *at_ >> kTraceShift << kTraceBornBits;
  }
  std::uint64_t* const begin = room(shape.words);
  std::uint64_t* at = begin + 3;
  if (shape.numbers > 0) write_numbers(*c, shape, at);
  begin[0] = head(word, payload | static_cast<std::uint64_t>(at - begin - 3) << kTraceBlockBits);
  begin[1] = fresh ? born_key_ : key_of(*c, shape);
  born_ = nullptr;
  if (c->block->input_count > 0) write_inputs(*c, at);
  at_ = at;
  located_ = -1;
  const Open open(*this, begin, static_cast<std::size_t>(at - begin));
  begin[2] = ticks();
  const abi::Next next = c->block->run(&w, c);
  ended_ = ticks();
  await_end_if_sealed();
  if (next == abi::Next::wait) born(trace_key(*c), located_, false);
  *room(1) = head(TraceWord::end, ended_);
  ended_at_ = ++at_;
  return next;
}

void TraceBuffer::iterate(abi::Worker& w, abi::Cf* range, std::int64_t iteration, bool at_once) {
  std::uint64_t* const to = room(4);
  const bool follows = at_once && iterated_range_ == range;
  const TraceKey key = follows ? iterated_key_ : trace_key(*range);
  const std::uint64_t whole[4] = {head(TraceWord::iteration, range->block->index), key,
                                  static_cast<std::uint64_t>(iteration), at_once ? iterated_ : ticks()};
  if (follows) {
    to[0] = head(TraceWord::next, range->block->index);
    at_ = to + 1;
  } else {
    at_ = std::copy_n(whole, 4, to);
  }
  const Open open(*this, whole, 4);
  range->block->iterate(&w, range, iteration);
  iterated_ = at_ == ended_at_ ? ended_ : ticks();
  await_end_if_sealed();
  *room(1) = head(TraceWord::end, iterated_);
  ++at_;
  iterated_range_ = range;
  iterated_key_ = key;
}

std::int64_t TraceBuffer::home(std::int64_t locator) const {
  if (locator >= 0 && locator < kMostRanks) return locator;
  const std::int64_t rest = locator % ranks_;
  return rest < 0 ? rest + ranks_ : rest;
}

void TraceBuffer::born(const abi::Cf& c) {
  await_end_if_sealed();
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
  born_at_ = at_;
}

void TraceBuffer::made(const abi::Id& value, std::uint64_t bytes) {
  await_end_if_sealed();
  two(TraceWord::made, bytes, trace_key(value));
}

void TraceBuffer::ends(const abi::Scope& scope, const abi::Id& value) {
  await_end_if_sealed();
  ends_scope_ = scope.ref;
  two(TraceWord::ends, 0, trace_key(value));
}

std::vector<std::vector<std::uint64_t>> TraceBuffer::take() {
  close_chunk();
  at_ = end_ = nullptr;
  chunk_ = nullptr;
  return writer_.take();
}

}  // namespace tessera::runtime
