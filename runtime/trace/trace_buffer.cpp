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

// Reading the clock twice may take this part of a fragment; what is shorter is short.
constexpr std::uint64_t kPartOfShort = 20;  // one in 20
// After so many short ones in turn the clock is read before one in some.
constexpr std::uint32_t kShortOnes = 32, kOneIn = 16;

TraceKey first_key(const abi::Id& id, const abi::Block& b) { return abi::fold(id.hi + b.index, kKeyFactor) ^ id.lo; }

// Whose id alone is a key.
bool runs_once(const abi::Block& b) { return b.kind == abi::Kind::atomic && (b.flags & abi::kRepeats) == 0; }

}  // namespace

TraceKey trace_key(const abi::Id& id) { return abi::fold(id.lo ^ 0x7472616365ull, id.hi | 1) ^ id.lo; }

// Ids are spread over all 128 bits already, so little is needed to keep what is mixed in apart.
TraceKey trace_key(const abi::Cf& c) {
  const abi::Block& b = *c.block;
  TraceKey key = first_key(c.id, b);
  if (b.kind == abi::Kind::range || runs_once(b)) return key;
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

// Measured (tests/cli/record_memory_test.cpp): what it becomes in trace_graph.hpp, with lists that are sorted
// meanwhile.
std::size_t trace_needs(const std::uint64_t* from, const std::uint64_t* to) {
  constexpr std::size_t kRun = 128, kBirth = 40, kValue = 24, kQuestion = 64;
  std::size_t bytes = 0;
  while (from < to) {
    const auto word = static_cast<TraceWord>(*from % (1u << kTraceShift));
    const std::size_t words = trace_words(word, *from >> kTraceShift);
    bytes += words * 2 * sizeof(std::uint64_t);
    switch (word) {
      case TraceWord::born_begin:
      case TraceWord::short_begin:
        bytes += kBirth;
        [[fallthrough]];
      case TraceWord::begin:
      case TraceWord::iteration:
      case TraceWord::next:
      case TraceWord::end_next:
        bytes += kRun;
        break;
      case TraceWord::born:
      case TraceWord::ends:
        bytes += kBirth;
        break;
      case TraceWord::input:
      case TraceWord::made:
        bytes += kValue;
        break;
      case TraceWord::asked:
        bytes += kQuestion;
        break;
      default:
        break;
    }
    from += words;
  }
  return bytes;
}

TraceBuffer::TraceBuffer(const abi::Program& program, std::int32_t ranks, std::shared_ptr<RecordRoom> room)
    : ranks_(ranks),
      short_(GroupStats::cost_here().reading * 2 * kPartOfShort),
      shapes_(program.block_count),
      writer_(std::move(room)) {
  for (std::uint32_t i = 0; i < program.block_count; ++i) {
    const abi::Block& b = *program.blocks[i];
    Shape& s = shapes_[i];
    s.once = runs_once(b);
    for (unsigned v = 0; v < b.var_count; ++v) {
      if (is_whole(b.vars[v])) s.variables.push_back(b.vars[v].word);
    }
    unsigned word = 0;
    for (const char* k = b.kind == abi::Kind::range || s.once ? "" : b.layout; *k != '\0'; ++k) {
      if (*k == 'i' || *k == 'l') s.counters.push_back(word);
      word += *k == 'n' ? 3 : 1;
    }
    s.numbers = trace_variables(b) + trace_indices(b);
    s.words = 3 + s.numbers + 2 * b.input_count;
  }
}

TraceKey TraceBuffer::key_of(const abi::Cf& c, const Shape& shape) const {
  TraceKey key = first_key(c.id, *c.block);
  for (const std::uint32_t word : shape.counters) key = abi::series_key(key, abi::frame_int(&c, word));
  return key;
}

// What its beginning was told by may be given up.
void TraceBuffer::Open::write_again(std::vector<std::uint64_t>& to) {
  const std::uint64_t* from = begin;
  if (static_cast<TraceWord>(*from % (1u << kTraceShift)) == TraceWord::short_begin) {
    const std::uint64_t payload = *from++ >> kTraceShift;
    const std::uint64_t since = kLongestSince << kTraceSinceBits;
    to.insert(to.end(), {head(TraceWord::born_begin, payload & ~since), began});
  }
  to.insert(to.end(), from, begin + words);
}

void TraceBuffer::next_chunk(std::size_t words) {
  ended_at_ = both_at_ = nullptr;
  iterated_range_ = nullptr;
  std::vector<Open*> open;
  for (Open* o = open_; o != nullptr; o = o->outer) open.push_back(o);
  std::reverse(open.begin(), open.end());
  // The chunk may go as soon as there is another one.
  std::vector<std::uint64_t> again;
  for (Open* o : open) {
    const std::size_t before = again.size();
    o->write_again(again);
    o->words = again.size() - before;
  }
  close_chunk();
  // Beside what is open there is room for three times as much.
  chunk_ = &writer_.next(words + 4 * again.size(), needed_);
  chunk_->again = again.size();
  at_ = std::copy(again.begin(), again.end(), chunk_->words.get());
  end_ = chunk_->words.get() + chunk_->room;
  std::uint64_t* begin = chunk_->words.get();
  for (Open* o : open) o->begin = std::exchange(begin, begin + o->words);
}

void TraceBuffer::close_chunk() {
  if (chunk_ == nullptr) return;
  chunk_->used = static_cast<std::size_t>(at_ - chunk_->words.get());
  needed_ = trace_needs(chunk_->words.get(), at_);
}

// For people: `mul (i=2, j=5)` assigns `C[2][5]`.
void TraceBuffer::write_indices(const abi::Cf& c, const Shape& shape, std::uint64_t*& at) {
  try {
    c.block->indices(&c, reinterpret_cast<std::int64_t*>(at));
    at += shape.numbers - shape.variables.size();
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

// Reading the clock is much of what a record costs. Before short ones it is not read each time where it has just been
// read, at the end of the run before: the others are taken to begin as soon after that as those before which it is. So
// one that is not short is seen: its end is read.
std::uint64_t TraceBuffer::read_begin(Shape& s, bool follows) const {
  const std::uint64_t now = now_here();
  if (follows) {
    // The least, but for what was once and never again.
    const std::uint64_t before = now - ended_;
    s.before = s.short_ones == 0 ? before : std::min(before, s.before + s.before / kOneIn + 1);
    s.short_ones = std::min(s.short_ones + 1, kShortOnes);
  }
  return now;
}

void TraceBuffer::read_end(Shape& s, std::uint64_t began) {
  ended_ = told_ = now_here();
  if (ended_ - began >= short_) s.short_ones = 0;
}

// The clock is read last before and first after: what recording takes is no time of the run, but of what it is in.
abi::Next TraceBuffer::run(abi::Worker& w, abi::Cf* c) {
  Shape& shape = shapes_[c->block->index];
  const bool fresh = shape.once && c == born_ && c->id == born_id_;
  TraceWord word = TraceWord::begin;
  std::uint64_t payload = c->block->index;
  if (fresh && born_waits_ && shape.numbers < kMostNumbers) {
    born_waits_ = false;  // both in one record
    word = TraceWord::born_begin;
    payload |= born_payload_ << kTraceBornBits;
  }
  std::uint64_t* const begin = room(shape.words);
  const bool follows = this->follows();
  const std::uint64_t since = shape.before / kTraceUnit;
  const bool guess =
      follows && shape.short_ones >= kShortOnes && shape.short_ones < kShortOnes + kOneIn && since <= kLongestSince;
  if (guess) {
    ++shape.short_ones;
    if (word == TraceWord::born_begin && shape.numbers < kFewNumbers) {
      word = TraceWord::short_begin;
      payload |= since << kTraceSinceBits;
    }
  }
  const std::size_t size = trace_head(word);
  std::uint64_t* at = begin + size;
  for (const std::uint32_t variable : shape.variables) *at++ = static_cast<std::uint64_t>(abi::frame_int(c, variable));
  if (shape.numbers > shape.variables.size()) write_indices(*c, shape, at);
  begin[0] = head(word, payload | static_cast<std::uint64_t>(at - begin - size) << kTraceBlockBits);
  if (word == TraceWord::begin) begin[1] = key_of(*c, shape);
  born_ = nullptr;
  if (c->block->input_count > 0) write_inputs(*c, at);
  at_ = at;
  located_ = -1;
  const std::uint64_t began = guess ? ended_ + since * kTraceUnit : read_begin(shape, follows);
  if (guess) told_ = began;
  if (word != TraceWord::short_begin) begin[size - 1] = began;
  const Open open(*this, begin, static_cast<std::size_t>(at - begin), began);
  const abi::Next next = c->block->run(&w, c);
  read_end(shape, began);
  await_end_if_sealed();
  if (next == abi::Next::wait) born(trace_key(*c), birth(located_, false));
  *room(1) = head(TraceWord::end, ended_);
  ended_at_ = ++at_;
  return next;
}

void TraceBuffer::iterate(abi::Worker& w, abi::Cf* range, std::int64_t iteration, bool at_once) {
  std::uint64_t* const to = room(4);
  const bool follows = at_once && iterated_range_ == range;
  const TraceKey key = follows ? iterated_key_ : trace_key(*range);
  const std::uint64_t began = at_once ? iterated_ : now_here();
  const std::uint64_t whole[4] = {head(TraceWord::iteration, range->block->index), key,
                                  static_cast<std::uint64_t>(iteration), began};
  if (follows && to == both_at_) {
    to[-1] = head(TraceWord::end_next, iterated_);
  } else if (follows) {
    to[0] = head(TraceWord::next, 0);
    at_ = to + 1;
  } else {
    at_ = std::copy_n(whole, 4, to);
  }
  const Open open(*this, whole, 4, began);
  range->block->iterate(&w, range, iteration);
  await_end_if_sealed();
  if (born_waits_) write_born();  // after what ended last
  if (at_ == ended_at_ && at_ != both_at_) {
    iterated_ = ended_;
    at_[-1] = head(TraceWord::end_both, ended_);
    both_at_ = at_;
  } else {
    iterated_ = at_ == ended_at_ ? ended_ : now_here();
    *room(1) = head(TraceWord::end, iterated_);
    ended_ = iterated_, ended_at_ = ++at_;
  }
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
  const std::uint64_t payload = birth(at, c.scope->ref == std::exchange(ends_scope_, kNoScope));
  const Shape& shape = shapes_[c.block->index];
  if (!shape.once) {
    born_ = nullptr;
    return born(key_of(c, shape), payload);
  }
  if (born_waits_) write_born();
  born_ = &c, born_id_ = c.id, born_block_ = c.block, born_payload_ = payload;
  born_waits_ = true;
}

void TraceBuffer::born(TraceKey key, std::uint64_t payload) { two(TraceWord::born, payload, key); }

void TraceBuffer::write_born() {
  born_waits_ = false;
  born(first_key(born_id_, *born_block_), born_payload_);
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

void TraceBuffer::asked(const abi::Id& value, bool request, std::uint64_t when) {
  await_end_if_sealed();
  two(TraceWord::asked, 2 * when + (request ? 1 : 0), trace_key(value));
}

std::vector<std::vector<std::uint64_t>> TraceBuffer::take() {
  if (born_waits_) write_born();
  close_chunk();
  at_ = end_ = nullptr;
  chunk_ = nullptr;
  return writer_.take();
}

}  // namespace tessera::runtime
