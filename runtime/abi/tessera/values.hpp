// The first room of the contract (abi.hpp): what things are called and what they hold. Ids and names,
// values, positions in the source.
#pragma once

#include <cstdint>

// Generated code is compiled with little optimisation, to be compiled fast. What it does for every fragment is
// inlined all the same, unless that makes it long.
#define TESSERA_HOT [[gnu::always_inline]] inline

namespace tessera::abi {

// ---------------------------------------------------------------------------- identity

// Id names a data fragment, a scope instance or a CF: 128 bits, derived only from the program's
// own structure, hence the same on any number of ranks, threads and under any policy.
struct Id {
  std::uint64_t lo = 0;
  std::uint64_t hi = 0;
  friend bool operator==(const Id&, const Id&) = default;
};

inline std::uint64_t fold(std::uint64_t x, std::uint64_t k) {
  const unsigned __int128 p = static_cast<unsigned __int128>(x) * k;
  return static_cast<std::uint64_t>(p) ^ static_cast<std::uint64_t>(p >> 64);
}

// mix_here, and mix, derive the id of child number `v` of `a`. For one parent it is injective in v, and for one
// v injective in the parent (each line is a bijection of the 128-bit state).
TESSERA_HOT Id mix_here(Id a, std::uint64_t v) {
  a.lo ^= (v + 1) * 0x9E3779B97F4A7C15u;
  a.hi ^= fold(a.lo, 0xD6E8FEB86659FD93u);
  a.lo ^= fold(a.hi, 0xA0761D6478BD642Fu);
  a.hi ^= fold(a.lo, 0xE7037ED1A0B428DBu);
  return a;
}

// A name is indexed several times for each fragment (mix_here, in index). All else is called: written out at each
// statement, it takes half as long again to compile a program of 300 of them.
inline Id mix(Id a, std::uint64_t v) { return mix_here(a, v); }

inline std::uint64_t series_key(std::uint64_t key, std::int64_t v) {
  return fold(key + static_cast<std::uint64_t>(v) * 0x9E3779B97F4A7C15u, 0xD6E8FEB86659FD93u);
}

// Name is a data fragment as code holds it: its id, and the scope instance that declared it
// (where its directory entry lives: an opaque word that only runtime/scope reads).
struct Name {
  Id id;
  std::uint64_t scope = 0;
};

TESSERA_HOT Name index(Name base, std::int64_t i) {
  return {mix_here(base.id, static_cast<std::uint64_t>(i)), base.scope};
}

// A name with known uses: whoever assigns one of its fragments says how many fragments will read it,
// and it is freed with the last of them. The mark travels with the name; scopes ignore it. A sub that is passed such a
// name assigns it for one fragment (pass count-passed).
inline constexpr std::uint64_t kUsesKnown = std::uint64_t{1} << 47;
TESSERA_HOT Name uses_known(Name n) { return {n.id, n.scope | kUsesKnown}; }
TESSERA_HOT bool has_known_uses(const Name& n) { return (n.scope & kUsesKnown) != 0; }

// A swept name (pass sweep-names): its fragments have no counted uses, but go when nobody is left who may read them.
// Such a name is marked as if they had, more than can be counted.
inline constexpr std::uint64_t kSwept = std::uint64_t{1} << 46;
TESSERA_HOT bool is_swept(const Name& n) { return (n.scope & kSwept) != 0; }
TESSERA_HOT Name horizon_name(std::int64_t horizon, Name n) {
  return horizon == 0 ? n : Name{n.id, n.scope | kUsesKnown | kSwept};
}

// not_needed stands among a block's inputs for one that this fragment can do without: it is not
// waited for, and its slot holds no value.
inline Name not_needed() { return {}; }
TESSERA_HOT bool is_needed(const Name& n) { return (n.id.hi | n.id.lo) != 0; }

// ---------------------------------------------------------------------------- values

// memo: stands for a value that nobody needs any more, in a run that goes on from a journal (docs/recovery.md).
enum class Type : std::uint8_t { none = 0, integer = 1, real = 2, string = 3, bytes = 4, longint = 5, memo = 6 };

// Value is an immutable reference-counted value. Scalars sit in the header; strings (zero
// terminated) and bytes (64-byte aligned) behind `data`.
struct Value {
  std::uint32_t refs;  // touched with atomic operations only
  Type type;
  std::uint8_t pool;    // how to free it; the runtime's business
  std::uint16_t borne;  // lowest bit: a fragment that waits has borne its size; ranks that have it; highest: kUsesTold
                        // (memory/value.hpp)
  std::uint64_t size;   // bytes of payload
  union {
    std::int32_t i;
    std::int64_t l;
    double r;
    void* data;
  };
  void* noted;  // with a journal, if `pool` says so: where it is noted
};

// In `pool`: it is noted, and may be written down when it is nobody's any more. So it is never changed.
inline constexpr std::uint8_t kNoted = 8;
inline bool is_noted(const Value* v) { return (__atomic_load_n(&v->pool, __ATOMIC_RELAXED) & kNoted) != 0; }

Value* value_int(std::int32_t);
Value* value_long(std::int64_t);
Value* value_real(double);
Value* value_string(const char* text, std::uint64_t size);
Value* value_bytes(std::uint64_t size);  // zeroed
Value* value_memo();
void value_free(Value*);  // called by release() when the last reference goes

inline Value* retain(Value* v) {
  if (v != nullptr) __atomic_fetch_add(&v->refs, 1u, __ATOMIC_RELAXED);
  return v;
}
inline void release(Value* v) {
  if (v == nullptr) return;
  // The only reference is ours: nobody else can make another.
  if (__atomic_load_n(&v->refs, __ATOMIC_ACQUIRE) == 1 || __atomic_fetch_sub(&v->refs, 1u, __ATOMIC_ACQ_REL) == 1) {
    value_free(v);
  }
}

// Df is what a kernel receives for a `value` or `name` parameter (by pointer or reference). The
// class DF of ucenv.h has exactly this layout.
struct Df {
  Value* value = nullptr;       // owned reference; null: not assigned
  const char* label = nullptr;  // source name for messages, static
};

// ---------------------------------------------------------------------------- places in the source

// Pos packs a position: file number (16 bits) | line (32) | column (16). Zero is "no position".
using Pos = std::uint64_t;
constexpr Pos make_pos(std::uint32_t file, std::uint32_t line, std::uint32_t column) {
  return (static_cast<Pos>(file) << 48) | (static_cast<Pos>(line) << 16) | (column > 0xFFFF ? 0xFFFF : column);
}

}  // namespace tessera::abi
