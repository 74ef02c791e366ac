// TraceBuffer: what one worker saw, for `tessera run --record`: which fragments ran, when and how long, under which
// numbers, what each made, read and assigned. Worker::trace is null when nothing is
// recorded: one branch per fragment and per output is all that costs.
//
// A fragment of the trace is one run of one block, or one iteration of a range: a CF that waits in its
// middle is several, each made by the one before. The buffer is a list of words that nest as the
// runs do, so who made, read or assigned something is the run that is open there:
//
//     begin (input ... | ends ... born | series born | born | made | asked | a whole run on the spot)* end
//
// They are in chunks of the rank's room for records (record_room.hpp), where the oldest may be given up: so each chunk
// begins with the runs that are open there, once more. Only its worker touches it, until that has ended.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/threads/ticks.hpp"
#include "runtime/trace/record_room.hpp"

namespace tessera::runtime {

// Names of runs and of values: 64 bits of a hash of their ids, the same on every rank.
using TraceKey = std::uint64_t;
TraceKey trace_key(const abi::Id&);
// The run that the CF would make now. A loop, or a call that repeats, comes to one block many times, with another
// counter in its frame; the bounds in a range's frame change while it runs, and tell nothing.
TraceKey trace_key(const abi::Cf&);

enum class TraceWord : std::uint8_t {  // low bits of a record's first word
  begin,                               // | block, numbers << kTraceBlockBits; key; ticks; the numbers (numbers_of)
  born_begin,                          // of what was born just before: as begin, | what `born` has << kTraceBornBits;
                                       // no key: nobody else has to do with it
  short_begin,                         // likewise, | ticks / kTraceUnit since the last end << kTraceSinceBits; no ticks
  iteration,                           // | block; key of the range; number; ticks
  next,                                // the next iteration of that range, right after it
  input,                               // | bytes; value
  born,                                // | 2 * (locator's rank + 1) + (1: under the scope of the `ends` before it); key
  made,                                // | bytes; value
  ends,                                // value, assigned when all under the next born one has ended
  series,                              // of the next born one: abi::Block::series
  end,                                 // | ticks
  end_both,                            // | ticks: of a run, and of the iteration whose last it was
  end_next,                            // ... and the next iteration of that range begins
  asked,                               // | 2 * ticks + (1: by a Request); value: another rank was asked for it; by what
                                       // is open, if anything is
};
inline constexpr unsigned kTraceShift = 4, kTraceBlockBits = 24, kTraceSinceBits = 30, kTraceBornBits = 38;
// With what was born just before.
inline constexpr std::uint32_t kMostNumbers = 1u << (kTraceBornBits - kTraceBlockBits),
                               kFewNumbers = 1u << (kTraceSinceBits - kTraceBlockBits);
inline constexpr std::uint64_t kTraceUnit = 4, kLongestSince = (1u << (kTraceBornBits - kTraceSinceBits)) - 1;
// What a record has beside its numbers.
inline std::size_t trace_head(TraceWord w) {
  switch (w) {
    case TraceWord::begin:
      return 3;
    case TraceWord::iteration:
      return 4;
    case TraceWord::short_begin:
    case TraceWord::next:
    case TraceWord::end:
    case TraceWord::end_both:
    case TraceWord::end_next:
      return 1;
    default:
      return 2;
  }
}
inline std::size_t trace_numbers(TraceWord w, std::uint64_t payload) {
  switch (w) {
    case TraceWord::begin:
      return payload >> kTraceBlockBits;
    case TraceWord::born_begin:
      return (payload >> kTraceBlockBits) % kMostNumbers;
    case TraceWord::short_begin:
      return (payload >> kTraceBlockBits) % kFewNumbers;
    default:
      return 0;
  }
}
inline std::size_t trace_words(TraceWord w, std::uint64_t payload) { return trace_head(w) + trace_numbers(w, payload); }
// Bytes that rank 0 needs for these when the run is over.
std::size_t trace_needs(const std::uint64_t* from, const std::uint64_t* to);
// What a record has of a frame: `int` and `long`.
inline bool is_whole(const abi::VarInfo& v) { return v.kind == 'i' || v.kind == 'l'; }
// How many numbers a run of the block has: its variables that are whole numbers, and the indices of its slots.
std::uint32_t trace_variables(const abi::Block&);
std::uint32_t trace_indices(const abi::Block&);

class TraceBuffer {
 public:
  static constexpr std::int64_t kMostRanks = 1 << 20;

  // `ranks`: those that locators name.
  TraceBuffer(const abi::Program&, std::int32_t ranks, std::shared_ptr<RecordRoom>);

  abi::Next run(abi::Worker&, abi::Cf*);  // its block
  // ... of its range. `at_once`: right after the one before, whose end is its beginning. An iteration whose last record
  // is the end of another run has ended with it. So the clock is read twice less.
  void iterate(abi::Worker&, abi::Cf*, std::int64_t iteration, bool at_once);
  void born(const abi::Cf&);  // by the open run
  void made(const abi::Id& value, std::uint64_t bytes);
  // Where the open run wants to go on; also when a balancer has moved it already, which makes it stay.
  void located(std::int64_t locator) { located_ = home(locator); }
  void ends(const abi::Scope&, const abi::Id& value);
  void asked(const abi::Id& value, bool request, std::uint64_t when);

  // Since when all is kept, in ticks; 0: there was room for all.
  std::uint64_t since() const { return writer_.since(); }
  // Takes the records away, in lists that end at a record's end.
  std::vector<std::vector<std::uint64_t>> take();

 private:
  // What a run of a block may need at once, and what it writes down of itself.
  struct Shape {
    std::uint32_t words = 0;                    // at most, for its begin and inputs
    std::uint32_t numbers = 0;                  // variables, then indices
    std::vector<std::uint32_t> variables = {};  // where they are in the frame
    std::vector<std::uint32_t> counters = {};   // what its key has of the frame
    bool once = false;                          // its key is the same whenever it runs
    std::uint32_t short_ones = 0;               // so many in turn were short, as far as that is counted
    std::uint64_t before = 0;                   // ticks from what ended before one to its beginning, about the least
  };
  // A run that is open, and the words with which it began.
  struct Open {
    Open(TraceBuffer& b, const std::uint64_t* at, std::size_t n, std::uint64_t ticks)
        : buffer(b), outer(b.open_), begin(at), words(n), began(ticks) {
      b.open_ = this;
    }
    ~Open() { buffer.open_ = outer; }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    TraceBuffer& buffer;
    Open* const outer;
    const std::uint64_t* begin;
    std::size_t words;
    const std::uint64_t began;
    void write_again(std::vector<std::uint64_t>&);
  };
  TraceKey key_of(const abi::Cf&, const Shape&) const;
  static void write_inputs(const abi::Cf&, std::uint64_t*& at);
  static void write_indices(const abi::Cf&, const Shape&, std::uint64_t*& at);
  void born(TraceKey, std::uint64_t payload);
  void write_born();
  static std::uint64_t birth(std::int64_t home, bool under_end) {
    return static_cast<std::uint64_t>(2 * (home + 1) + (under_end ? 1 : 0));
  }
  std::int64_t home(std::int64_t locator) const;
  static std::uint64_t head(TraceWord w, std::uint64_t payload) {
    return payload << kTraceShift | static_cast<std::uint64_t>(w);
  }
  void two(TraceWord w, std::uint64_t payload, std::uint64_t second) {
    std::uint64_t* const to = room(2);
    to[0] = head(w, payload), to[1] = second;
    at_ = to + 2;
  }
  // Where so many words go; at_ is moved by whoever has written them.
  std::uint64_t* room(std::size_t words) {
    if (born_waits_) write_born();
    if (static_cast<std::size_t>(end_ - at_) < words) [[unlikely]]
      next_chunk(words);
    return at_;
  }
  void next_chunk(std::size_t words);
  void close_chunk();
  // The run before has just ended.
  bool follows() const { return ended_at_ != nullptr && at_ - ended_at_ <= kNothingElse; }
  // One that was taken to begin later than it did has ended later.
  std::uint64_t now_here() const { return std::max(ticks(), told_); }
  std::uint64_t read_begin(Shape&, bool follows) const;
  void read_end(Shape&, std::uint64_t began);

  const std::int32_t ranks_;
  const std::uint64_t short_;      // ticks: what takes less is short
  std::vector<Shape> shapes_;      // by block
  Open* open_ = nullptr;           // the innermost
  std::int64_t located_ = -1;      // of the open run
  const abi::Cf* born_ = nullptr;  // what was born last, until something runs: mostly that
  abi::Id born_id_{};
  const abi::Block* born_block_ = nullptr;
  std::uint64_t born_payload_ = 0;
  bool born_waits_ = false;  // it has no record yet: that may be one with its beginning
  std::uint64_t ended_ = 0;  // when the last run ended, and at_ behind that
  const std::uint64_t* ended_at_ = nullptr;
  std::uint64_t told_ = 0;      // what ran last began or ended then: nothing is earlier
  std::uint64_t iterated_ = 0;  // when the last iteration ended
  TraceKey iterated_key_ = 0;
  const abi::Cf* iterated_range_ = nullptr;          // ... and of what, in this chunk
  const std::uint64_t* both_at_ = nullptr;           // at_ behind an end_both
  static constexpr std::ptrdiff_t kNothingElse = 3;  // words: `next`, a series
  static constexpr std::uint64_t kNoScope = ~std::uint64_t{0};
  std::uint64_t ends_scope_ = kNoScope;           // of the last `ends`, until something is born
  std::uint64_t *at_ = nullptr, *end_ = nullptr;  // in chunk_
  RecordRoom::Writer writer_;
  RecordRoom::Chunk* chunk_ = nullptr;  // the last one
  std::size_t needed_ = 0;              // for the one before that
};

}  // namespace tessera::runtime
