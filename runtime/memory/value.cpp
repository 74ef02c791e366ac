// Values: how they are allocated and freed (abi.hpp says what they are).
#include "runtime/memory/value.hpp"

#include <sys/sysinfo.h>

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/abi/tessera/decoded.hpp"
#include "runtime/memory/held.hpp"
#include "runtime/memory/no_memory.hpp"
#include "runtime/memory/pool.hpp"
#include "runtime/memory/sanitizer.hpp"

namespace tessera::runtime {
constinit thread_local std::int64_t block_bytes = 0;
}

namespace tessera::abi {
namespace {

// kSampled, kWanted (memory/value.hpp) and kNoted (abi.hpp) beside one of the others.
enum Pool : std::uint8_t { kPooled = 0, kBlock = 1, kSampled = 2 };

bool is_block(const Value* v) { return (__atomic_load_n(&v->pool, __ATOMIC_RELAXED) & kBlock) != 0; }

constexpr std::size_t kAlign = 64;

Value* scalar(Type type) {
  auto* v = static_cast<Value*>(runtime::pool_allocate(sizeof(Value)));
  v->refs = 1;
  v->type = type;
  v->pool = kPooled;
  v->borne = 0;
  return v;
}

// One block: header, the ranks that have the value, what kernels have decoded, a guard, the
// payload on the next 64-byte boundary, a guard.
struct LargeValue {
  Value value;
  std::uint64_t ranks;
  Decoded* decoded;
};
LargeValue* large(const Value* v) { return reinterpret_cast<LargeValue*>(const_cast<Value*>(v)); }

void delete_decoded(Decoded* d) {
  while (d != nullptr) delete std::exchange(d, d->next);
}

// Nobody writes there but a kernel that leaves its output.
constexpr std::uint64_t kGuard = 0xB5A96E3D17C2F48Bu;
char* payload(const Value* v) { return static_cast<char*>(v->data); }
std::size_t room(const Value* v) { return v->size + (v->type == Type::string ? 1 : 0); }
void set_guards(Value* v) {
  std::memcpy(payload(v) - sizeof kGuard, &kGuard, sizeof kGuard);
  std::memcpy(payload(v) + room(v), &kGuard, sizeof kGuard);
}
// Where AddressSanitizer is told that nobody may read there, this may.
__attribute__((no_sanitize("address"))) bool is_guard(const char* at) {
  using Anywhere [[gnu::aligned(1), gnu::may_alias]] = std::uint64_t;
  return *reinterpret_cast<const Anywhere*>(at) == kGuard;
}

// The system may promise more than there is, and kill who then uses it.
constexpr std::uint64_t kAskFirst = std::uint64_t{1} << 30;
bool there_is(std::uint64_t size) {
  if (size < kAskFirst) return true;
  struct sysinfo machine {};
  if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) || sysinfo(&machine) != 0)
    return false;
  return size / machine.mem_unit < std::uint64_t{machine.totalram} + machine.totalswap;
}

Value* block(Type type, std::uint64_t size, std::size_t extra) {
  if (!there_is(size)) runtime::no_memory(size);
  const std::size_t bytes = sizeof(LargeValue) + 2 * sizeof kGuard + kAlign + size + extra;
  auto* b = static_cast<LargeValue*>(runtime::block_allocate(bytes));
  b->ranks = 0;
  b->decoded = nullptr;
  Value* v = &b->value;
  v->refs = 1;
  v->type = type;
  v->pool = kBlock;
  v->borne = 0;
  v->size = size;
  runtime::block_bytes += static_cast<std::int64_t>(size);
  const auto at = reinterpret_cast<std::uintptr_t>(v) + sizeof(LargeValue) + sizeof kGuard;
  v->data = reinterpret_cast<void*>((at + kAlign - 1) & ~(kAlign - 1));
  set_guards(v);
  runtime::forbid(b + 1, v->data);
  runtime::forbid(payload(v) + room(v), reinterpret_cast<char*>(b) + bytes);
  return v;
}

}  // namespace

Value* value_int(std::int32_t i) {
  Value* v = scalar(Type::integer);
  v->size = sizeof i;
  v->data = nullptr;
  v->i = i;
  return v;
}
Value* value_long(std::int64_t l) {
  Value* v = scalar(Type::longint);
  v->size = sizeof l;
  v->l = l;
  return v;
}
Value* value_real(double r) {
  Value* v = scalar(Type::real);
  v->size = sizeof r;
  v->r = r;
  return v;
}
Value* value_memo() {
  Value* v = scalar(Type::memo);
  v->size = 0;
  v->data = nullptr;
  return v;
}
Value* value_string(const char* text, std::uint64_t size) {
  Value* v = block(Type::string, size, 1);
  if (text != nullptr) std::memcpy(v->data, text, size);
  static_cast<char*>(v->data)[size] = '\0';
  return v;
}
Value* value_bytes(std::uint64_t size) {
  Value* v = runtime::value_to_fill(size);
  std::memset(v->data, 0, size);
  return v;
}
void value_free(Value* v) {
  // A sweep may mark a noted one meanwhile.
  const std::uint8_t pool = __atomic_load_n(&v->pool, __ATOMIC_RELAXED);
  if (pool == kPooled) return runtime::pool_free(v, sizeof(Value));
  if (pool == kNoted) {
    if (runtime::lets_go(v)) runtime::pool_free(v, sizeof(Value));
    return;
  }
  // What only a journal holds until it is written is nobody's pile.
  if ((pool & kSampled) != 0) {
    __atomic_fetch_and(&v->pool, static_cast<std::uint8_t>(~kSampled), __ATOMIC_RELAXED);
    runtime::no_longer_held(v);
  }
  if ((pool & kNoted) != 0 && !runtime::lets_go(v)) return;
  if (!is_block(v)) return runtime::pool_free(v, sizeof(Value));
  delete_decoded(large(v)->decoded);
  runtime::block_bytes -= static_cast<std::int64_t>(v->size);
  runtime::block_free(v);
}

const Decoded* value_decoded(const Value* v, const void* type) {
  const Decoded* d = __atomic_load_n(&large(v)->decoded, __ATOMIC_ACQUIRE);
  while (d != nullptr && d->type != type) d = d->next;
  return d;
}
const Decoded* value_keep(const Value* v, Decoded* d) {
  Decoded** const first = &large(v)->decoded;
  d->next = __atomic_load_n(first, __ATOMIC_ACQUIRE);
  do {
    if (const Decoded* other = value_decoded(v, d->type)) {
      delete d;
      return other;
    }
  } while (!__atomic_compare_exchange_n(first, &d->next, d, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return d;
}

}  // namespace tessera::abi

namespace tessera::runtime {
namespace {

std::uint64_t bit(balancer::Rank r) { return std::uint64_t{1} << (balancer::index(r) & 63); }
// In `borne`, whose lowest and highest bits mean something else.
std::uint16_t small_bit(balancer::Rank r) { return static_cast<std::uint16_t>(2u << (balancer::index(r) % 14)); }

}  // namespace

Overrun overrun_of_block(const abi::Value* v) {
  static_assert(abi::kPooled == 0);
  if (!abi::is_guard(abi::payload(v) + abi::room(v))) return Overrun::behind;
  return abi::is_guard(abi::payload(v) - sizeof abi::kGuard) ? Overrun::none : Overrun::before;
}
// A sample (held.hpp) may be a number, which a kernel passes on.
Overrun overrun_of_marked(const abi::Value* v) { return abi::is_block(v) ? overrun_of_block(v) : Overrun::none; }
void mark_sampled(abi::Value* v) { __atomic_fetch_or(&v->pool, std::uint8_t{abi::kSampled}, __ATOMIC_RELAXED); }
void mark_wanted(abi::Value* v) { __atomic_fetch_or(&v->pool, kWanted, __ATOMIC_RELAXED); }

abi::Value* value_to_fill(std::uint64_t size) { return abi::block(abi::Type::bytes, size, 0); }

void believe_on(abi::Value* v, balancer::Rank r) {
  if (abi::is_block(v)) {
    __atomic_fetch_or(&reinterpret_cast<abi::LargeValue*>(v)->ranks, bit(r), __ATOMIC_RELAXED);
  } else {
    __atomic_fetch_or(&v->borne, small_bit(r), __ATOMIC_RELAXED);
  }
}
bool believed_on(const abi::Value* v, balancer::Rank r) {
  if (!abi::is_block(v)) return (__atomic_load_n(&v->borne, __ATOMIC_RELAXED) & small_bit(r)) != 0;
  return (__atomic_load_n(&reinterpret_cast<const abi::LargeValue*>(v)->ranks, __ATOMIC_RELAXED) & bit(r)) != 0;
}

constexpr std::uint16_t kRanks = 0x7ffe;  // of `borne`
int ranks_that_have(const abi::Value* v) {
  if (!abi::is_block(v))
    return std::popcount(static_cast<unsigned>(__atomic_load_n(&v->borne, __ATOMIC_RELAXED) & kRanks));
  return std::popcount(__atomic_load_n(&reinterpret_cast<const abi::LargeValue*>(v)->ranks, __ATOMIC_RELAXED));
}
// Of a block `borne` counts there how often it has been read.
constexpr int kMostReads = 4096;
int read_here(const abi::Value* v) {
  return abi::is_block(v) ? (__atomic_load_n(&v->borne, __ATOMIC_RELAXED) & kRanks) >> 1 : 0;
}
void note_read(abi::Value* v) {
  if (abi::is_block(v) && read_here(v) < kMostReads) __atomic_fetch_add(&v->borne, std::uint16_t{2}, __ATOMIC_RELAXED);
}
bool believed_on_others(const abi::Value* v, balancer::Rank r) {
  if (!abi::is_block(v)) return (__atomic_load_n(&v->borne, __ATOMIC_RELAXED) & kRanks & ~small_bit(r)) != 0;
  return (__atomic_load_n(&reinterpret_cast<const abi::LargeValue*>(v)->ranks, __ATOMIC_RELAXED) & ~bit(r)) != 0;
}

}  // namespace tessera::runtime
