// The last room of the contract (abi.hpp): expressions of the source, and the faults that they end in.
#pragma once

#include "tessera/values.hpp"

namespace tessera::abi {

// ---------------------------------------------------------------------------- errors of the program

enum class Fault : std::uint8_t {
  division_by_zero,
  overflow,
  overflow_long,
  wrong_type,  // `detail` says what was expected and found
  bad_argument,
};
[[noreturn]] void fail(Fault, Pos, const char* detail);
[[noreturn]] void fail_type(Pos, const char* expected, Type found);

// ---------------------------------------------------------------------------- expressions

// Statically typed arithmetic on int and on long; the rest of static arithmetic is plain C++.
inline std::int32_t add(std::int32_t a, std::int32_t b, Pos p) {
  std::int32_t r;
  if (__builtin_add_overflow(a, b, &r)) fail(Fault::overflow, p, "+");
  return r;
}
inline std::int32_t sub(std::int32_t a, std::int32_t b, Pos p) {
  std::int32_t r;
  if (__builtin_sub_overflow(a, b, &r)) fail(Fault::overflow, p, "-");
  return r;
}
inline std::int32_t mul(std::int32_t a, std::int32_t b, Pos p) {
  std::int32_t r;
  if (__builtin_mul_overflow(a, b, &r)) fail(Fault::overflow, p, "*");
  return r;
}
inline std::int32_t div(std::int32_t a, std::int32_t b, Pos p) {
  if (b == 0) fail(Fault::division_by_zero, p, "/");
  if (b == -1 && a == -2147483647 - 1) fail(Fault::overflow, p, "/");
  return a / b;
}
inline std::int32_t mod(std::int32_t a, std::int32_t b, Pos p) {
  if (b == 0) fail(Fault::division_by_zero, p, "%");
  return b == -1 ? 0 : a % b;
}
inline std::int64_t add(std::int64_t a, std::int64_t b, Pos p) {
  std::int64_t r;
  if (__builtin_add_overflow(a, b, &r)) fail(Fault::overflow_long, p, "+");
  return r;
}
inline std::int64_t sub(std::int64_t a, std::int64_t b, Pos p) {
  std::int64_t r;
  if (__builtin_sub_overflow(a, b, &r)) fail(Fault::overflow_long, p, "-");
  return r;
}
inline std::int64_t mul(std::int64_t a, std::int64_t b, Pos p) {
  std::int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) fail(Fault::overflow_long, p, "*");
  return r;
}
inline std::int64_t div(std::int64_t a, std::int64_t b, Pos p) {
  if (b == 0) fail(Fault::division_by_zero, p, "/");
  if (b == -1 && a == INT64_MIN) fail(Fault::overflow_long, p, "/");
  return a / b;
}
inline std::int64_t mod(std::int64_t a, std::int64_t b, Pos p) {
  if (b == 0) fail(Fault::division_by_zero, p, "%");
  return b == -1 ? 0 : a % b;
}
inline double div_real(double a, double b, Pos p) {
  if (b == 0) fail(Fault::division_by_zero, p, "/");
  return a / b;
}
std::int32_t truncate(double, Pos);       // real -> int, overflow is an error
std::int64_t truncate_long(double, Pos);  // real -> long
std::int32_t narrow(std::int64_t, Pos);   // long -> int

// Dyn is a value whose type is known when it runs: int, long, real or an owned string.
struct Dyn {
  Type type = Type::none;
  union {
    std::int32_t i;
    std::int64_t l;
    double r;
    Value* s;
  };
  Dyn() : i(0) {}
  Dyn(std::int32_t v) : type(Type::integer), i(v) {}
  Dyn(std::int64_t v) : type(Type::longint), l(v) {}
  Dyn(double v) : type(Type::real), r(v) {}
  struct Take {};
  Dyn(Value* string, Take) : type(Type::string), s(string) {}
  Dyn(Dyn&& o) noexcept : type(o.type), r(o.r) { o.type = Type::none; }
  Dyn(const Dyn& o) : type(o.type), r(o.r) {
    if (type == Type::string) retain(s);
  }
  Dyn& operator=(Dyn o) noexcept {
    const Type t = type;
    const double bits = r;
    type = o.type;
    r = o.r;
    o.type = t;
    o.r = bits;
    return *this;
  }
  ~Dyn() {
    if (type == Type::string) release(s);
  }
};

Dyn dyn_string(const char* text, std::uint64_t size);
Dyn dyn_read_slow(const Value*, Pos);
// dyn_read reads a fragment's value in an expression; opaque bytes are a fault.
inline Dyn dyn_read(const Value* v, Pos p) {
  if (v->type == Type::integer) return Dyn(v->i);
  if (v->type == Type::real) return Dyn(v->r);
  return dyn_read_slow(v, p);
}

enum class Op : std::uint8_t { add, sub, mul, div, mod, lt, gt, le, ge, eq, ne, land, lor };
Dyn dyn_op_slow(Op, const Dyn&, const Dyn&, Pos);
Dyn dyn_negate(const Dyn&, Pos);
// dyn_op: int op int as above; a real operand makes it real; + joins strings; comparisons give int.
inline Dyn dyn_op(Op op, const Dyn& a, const Dyn& b, Pos p) {
  if (a.type == Type::integer && b.type == Type::integer) {
    switch (op) {
      case Op::add:
        return add(a.i, b.i, p);
      case Op::sub:
        return sub(a.i, b.i, p);
      case Op::mul:
        return mul(a.i, b.i, p);
      case Op::div:
        return div(a.i, b.i, p);
      case Op::mod:
        return mod(a.i, b.i, p);
      case Op::lt:
        return static_cast<std::int32_t>(a.i < b.i);
      case Op::gt:
        return static_cast<std::int32_t>(a.i > b.i);
      case Op::le:
        return static_cast<std::int32_t>(a.i <= b.i);
      case Op::ge:
        return static_cast<std::int32_t>(a.i >= b.i);
      case Op::eq:
        return static_cast<std::int32_t>(a.i == b.i);
      case Op::ne:
        return static_cast<std::int32_t>(a.i != b.i);
      case Op::land:
        return static_cast<std::int32_t>(a.i && b.i);
      case Op::lor:
        return static_cast<std::int32_t>(a.i || b.i);
    }
  }
  return dyn_op_slow(op, a, b, p);
}
// Conversions for arguments (an int parameter from a real value is a fault without a cast) ...
std::int32_t arg_int(const Dyn&, Pos);  // of a long that fits, too
std::int64_t arg_long(const Dyn&, Pos);
double arg_real(const Dyn&, Pos);
// ... of a fragment's value itself, without a Dyn: the usual case, and cheap to compile
std::int32_t read_int_slow(const Value*, Pos);
std::int64_t read_long(const Value*, Pos);
double read_real_slow(const Value*, Pos);
TESSERA_HOT std::int32_t read_int(const Value* v, Pos p) {
  return v->type == Type::integer ? v->i : read_int_slow(v, p);
}
TESSERA_HOT double read_real(const Value* v, Pos p) { return v->type == Type::real ? v->r : read_real_slow(v, p); }
Value* arg_string(const Dyn&, Pos);  // new reference; int and real are not converted
bool truth(const Dyn&, Pos);
// ... and casts int(e), long(e), real(e), string(e), which convert.
std::int32_t cast_int(const Dyn&, Pos);
std::int64_t cast_long(const Dyn&, Pos);
double cast_real(const Dyn&, Pos);
Dyn cast_string(const Dyn&, Pos);
Value* to_value(const Dyn&);  // new reference: an expression as a fragment's value

// Holds a Value for the time of a kernel call (string arguments, temporaries).
struct Hold {
  Value* v;
  explicit Hold(Value* value) : v(value) {}
  ~Hold() { release(v); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  const char* c_str() const { return static_cast<const char*>(v->data); }
};

// Holds what a kernel call receives as `const InputDF &` / `OutputDF &`.
struct DfHold : Df {
  explicit DfHold(const char* name) { label = name; }  // output
  DfHold(Value* v, const char* name) {
    value = retain(v);
    label = name;
  }  // input
  ~DfHold() { release(value); }
  DfHold(const DfHold&) = delete;
  DfHold& operator=(const DfHold&) = delete;
};

}  // namespace tessera::abi
