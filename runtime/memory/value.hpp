// What the runtime alone knows of values (abi.hpp says what they are).
#pragma once

#include <utility>

#include "balancer/types.hpp"
#include "runtime/abi/tessera/abi.hpp"
#include "runtime/memory/pool.hpp"

namespace tessera::runtime {

// Bytes of values that are blocks (all but numbers) which this thread has made, less those it has freed.
extern constinit thread_local std::int64_t block_bytes;
// What each value takes beside them: header and entry.
inline constexpr std::int64_t kBesideValue = 96;

// What this thread has made of values and not freed, for the difference of two such.
class ValuesHere {
 public:
  ValuesHere() = default;
  static ValuesHere now() { return {block_bytes, pool_listed(sizeof(abi::Value))}; }
  // Bytes, of blocks and of some hundred other values at most: the pool moves as many at a time between lists.
  std::int64_t since(const ValuesHere& before) const {
    static_assert(pool::kBatch == 1 << 8);
    return blocks_ - before.blocks_ + kBesideValue * static_cast<std::int8_t>(before.listed_ - listed_);
  }

  // What has been freed since then counts for nobody that this thread runs. Bytes, of blocks.
  static std::int64_t set_aside_since(const ValuesHere& before) {
    return before.blocks_ - std::exchange(block_bytes, before.blocks_);
  }

 private:
  ValuesHere(std::int64_t blocks, std::uint32_t listed) : blocks_(blocks), listed_(listed) {}
  std::int64_t blocks_ = 0;
  std::uint32_t listed_ = 0;
};

// It is one of those by which held bytes are counted (memory/held.hpp), which are to know when it is freed.
void mark_sampled(abi::Value*);

// For journals: somebody may read it again of whom this rank's journal does not know that he has: it has been put into
// a message to another rank, which is marked only where a journal wants to know (comm/messages.hpp); or what the
// program does depends on it, and that is done anew when a run goes on.
void mark_wanted(abi::Value*);
inline constexpr std::uint8_t kWanted = 4;  // in `pool`
inline bool is_wanted(const abi::Value* v) { return (__atomic_load_n(&v->pool, __ATOMIC_RELAXED) & kWanted) != 0; }

// It is noted by a journal, which is told when its last reference goes: true, it is freed.
inline void mark_noted(abi::Value* v) { __atomic_fetch_or(&v->pool, abi::kNoted, __ATOMIC_RELAXED); }
inline bool (*lets_go)(abi::Value*) = nullptr;

// A value of type bytes whose payload is not set yet; abi::value_bytes is zeroed.
abi::Value* value_to_fill(std::uint64_t size);

// Has somebody written outside the bytes of this value? There are guards around those of strings and arrays.
enum class Overrun : std::uint8_t { none, before, behind };
Overrun overrun_of_block(const abi::Value*);
Overrun overrun_of_marked(const abi::Value*);
inline Overrun overrun(const abi::Value* v) {
  return __atomic_load_n(&v->pool, __ATOMIC_RELAXED) == 0 ? Overrun::none : overrun_of_marked(v);
}

// Ranks that are believed to have a value, since they sent it or were sent it. For choosing only: ranks
// whose numbers are 64 apart (of small values 14) are taken for one, and nobody says when a copy is gone.
void believe_on(abi::Value*, balancer::Rank);
bool believed_on(const abi::Value*, balancer::Rank);
bool believed_on_others(const abi::Value*, balancer::Rank);
int ranks_that_have(const abi::Value*);  // so many others

// How often a fragment that would have taken it along has run with it here: so often others may come (small values: 0).
int read_here(const abi::Value*);
void note_read(abi::Value*);

// Who begins to run with this value has that counted by its home (DataFragments::note_uses).
inline constexpr std::uint16_t kUsesTold = 0x8000;  // in `borne`
inline void tell_uses(abi::Value* v) { __atomic_fetch_or(&v->borne, kUsesTold, __ATOMIC_RELAXED); }
inline bool uses_told(const abi::Value* v) { return (__atomic_load_n(&v->borne, __ATOMIC_RELAXED) & kUsesTold) != 0; }

}  // namespace tessera::runtime
