// Expressions over values whose types are known only when they run (language reference, types).
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "runtime/abi/tessera/abi.hpp"
#include "runtime/words/program_error.hpp"

namespace tessera::abi {
namespace {

const char* symbol(Op op) {
  switch (op) {
    case Op::add:
      return "+";
    case Op::sub:
      return "-";
    case Op::mul:
      return "*";
    case Op::div:
      return "/";
    case Op::mod:
      return "%";
    case Op::lt:
      return "<";
    case Op::gt:
      return ">";
    case Op::le:
      return "<=";
    case Op::ge:
      return ">=";
    case Op::eq:
      return "==";
    case Op::ne:
      return "!=";
    case Op::land:
      return "&&";
    case Op::lor:
      return "||";
  }
  return "?";
}

std::string_view text(const Dyn& d) { return {static_cast<const char*>(d.s->data), d.s->size}; }

std::string shown(const Dyn& d) {
  switch (d.type) {
    case Type::integer:
      return std::to_string(d.i);
    case Type::longint:
      return std::to_string(d.l);
    case Type::real: {
      // The shortest text that reads back as the same number, and that still looks like a real.
      std::string s = fmt::format("{}", d.r);
      return s;
    }
    case Type::string:
      return std::string(text(d));
    default:
      return {};
  }
}

// What it is, and which: a person finds by it who has made it.
std::string shown_with_type(const Dyn& d) {
  constexpr std::size_t kMost = 40;
  std::string value = shown(d);
  if (value.size() > kMost) value = value.substr(0, kMost) + "...";
  if (d.type == Type::string) value = "\"" + value + "\"";
  return fmt::format("{}, {}", runtime::type_name(d.type), value);
}

[[noreturn]] void fail_value(Pos p, const char* expected, const Dyn& d, const char* advice = "") {
  throw runtime::ProgramError(
      p, runtime::coded(fmt::format("{} is needed here, but the value is {}{}", expected, shown_with_type(d), advice),
                        "T404"));
}

[[noreturn]] void fail_operands(Op op, const Dyn& a, const Dyn& b, Pos p) {
  throw runtime::ProgramError(
      p, runtime::coded(fmt::format("`{}` cannot be applied to {} and to {}; convert one with int(..), real(..) "
                                    "or string(..)",
                                    symbol(op), shown_with_type(a), shown_with_type(b)),
                        "T404"));
}

bool is_whole(const Dyn& d) { return d.type == Type::integer || d.type == Type::longint; }
std::int64_t whole(const Dyn& d) { return d.type == Type::integer ? d.i : d.l; }
double number(const Dyn& d) { return is_whole(d) ? static_cast<double>(whole(d)) : d.r; }

// Two whole numbers, one of them a long.
Dyn whole_op(Op op, std::int64_t a, std::int64_t b, Pos p) {
  switch (op) {
    case Op::add:
      return add(a, b, p);
    case Op::sub:
      return sub(a, b, p);
    case Op::mul:
      return mul(a, b, p);
    case Op::div:
      return div(a, b, p);
    case Op::mod:
      return mod(a, b, p);
    case Op::lt:
      return static_cast<std::int32_t>(a < b);
    case Op::gt:
      return static_cast<std::int32_t>(a > b);
    case Op::le:
      return static_cast<std::int32_t>(a <= b);
    case Op::ge:
      return static_cast<std::int32_t>(a >= b);
    case Op::eq:
      return static_cast<std::int32_t>(a == b);
    case Op::ne:
      return static_cast<std::int32_t>(a != b);
    case Op::land:
      return static_cast<std::int32_t>(a != 0 && b != 0);
    case Op::lor:
      break;
  }
  return static_cast<std::int32_t>(a != 0 || b != 0);
}

// The whole text as a number of type T.
template <class T>
T parsed(std::string_view text, const char* type, const char* what, Pos p) {
  T out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw runtime::ProgramError(
        p, runtime::coded(fmt::format("{}(\"{}\"): this string is not {}", type, text, what), "T408"));
  }
  return out;
}

}  // namespace

void fail(Fault f, Pos p, const char* detail) {
  switch (f) {
    case Fault::division_by_zero:
      throw runtime::ProgramError(p, runtime::coded("division by zero", "T406"));
    case Fault::overflow:
      throw runtime::ProgramError(
          p, runtime::coded(fmt::format("int overflow in `{}`: the result does not fit 32 bits; compute with "
                                        "long(..) or real(..)",
                                        detail),
                            "T407"));
    case Fault::overflow_long:
      throw runtime::ProgramError(
          p, runtime::coded(fmt::format("long overflow in `{}`: the result does not fit 64 bits; compute with "
                                        "reals: real(..)",
                                        detail),
                            "T407"));
    case Fault::wrong_type:
    case Fault::bad_argument:
      throw runtime::ProgramError(p, runtime::coded(detail, "T404"));
  }
  throw runtime::ProgramError(p, detail);
}

void fail_type(Pos p, const char* expected, Type found) {
  throw runtime::ProgramError(
      p, runtime::coded(fmt::format("{} is needed here, but the value is {}", expected, runtime::type_name(found)),
                        "T404"));
}

std::int32_t truncate(double d, Pos p) {
  if (!(d > -2147483649.0 && d < 2147483648.0)) {
    throw runtime::ProgramError(p, runtime::coded(fmt::format("{} does not fit an int (32 bits)", d), "T407"));
  }
  return static_cast<std::int32_t>(d);
}

std::int64_t truncate_long(double d, Pos p) {
  constexpr double kBeyond = 9223372036854775808.0;  // 2 to the 63rd
  if (!(d >= -kBeyond && d < kBeyond)) {
    throw runtime::ProgramError(p, runtime::coded(fmt::format("{} does not fit a long (64 bits)", d), "T407"));
  }
  return static_cast<std::int64_t>(d);
}

std::int32_t narrow(std::int64_t v, Pos p) {
  if (v < INT32_MIN || v > INT32_MAX) {
    throw runtime::ProgramError(p, runtime::coded(fmt::format("{} does not fit an int (32 bits)", v), "T407"));
  }
  return static_cast<std::int32_t>(v);
}

Dyn dyn_string(const char* t, std::uint64_t size) { return Dyn(value_string(t, size), Dyn::Take{}); }

Dyn dyn_read_slow(const Value* v, Pos p) {
  if (v->type == Type::string) return Dyn(retain(const_cast<Value*>(v)), Dyn::Take{});
  if (v->type == Type::longint) return Dyn(v->l);
  fail_type(p, "an int, a long, a real or a string", v->type);
}

Dyn dyn_op_slow(Op op, const Dyn& a, const Dyn& b, Pos p) {
  if (a.type == Type::string || b.type == Type::string) {
    if (op == Op::add) {
      const std::string joined = shown(a) + shown(b);
      return dyn_string(joined.data(), joined.size());
    }
    if (a.type == b.type && op == Op::eq) return static_cast<std::int32_t>(text(a) == text(b));
    if (a.type == b.type && op == Op::ne) return static_cast<std::int32_t>(text(a) != text(b));
    fail_operands(op, a, b, p);
  }
  if (is_whole(a) && is_whole(b)) return whole_op(op, whole(a), whole(b), p);
  const double x = number(a), y = number(b);
  switch (op) {
    case Op::add:
      return x + y;
    case Op::sub:
      return x - y;
    case Op::mul:
      return x * y;
    case Op::div:
      return div_real(x, y, p);
    case Op::mod:
      fail_operands(op, a, b, p);
    case Op::lt:
      return static_cast<std::int32_t>(x < y);
    case Op::gt:
      return static_cast<std::int32_t>(x > y);
    case Op::le:
      return static_cast<std::int32_t>(x <= y);
    case Op::ge:
      return static_cast<std::int32_t>(x >= y);
    case Op::eq:
      return static_cast<std::int32_t>(x == y);
    case Op::ne:
      return static_cast<std::int32_t>(x != y);
    case Op::land:
      return static_cast<std::int32_t>(x != 0 && y != 0);
    case Op::lor:
      return static_cast<std::int32_t>(x != 0 || y != 0);
  }
  fail_operands(op, a, b, p);
}

Dyn dyn_negate(const Dyn& d, Pos p) {
  if (d.type == Type::integer) return sub(0, d.i, p);
  if (d.type == Type::longint) return sub(std::int64_t{0}, d.l, p);
  if (d.type == Type::real) return -d.r;
  fail_value(p, "a number", d);
}

std::int32_t arg_int(const Dyn& d, Pos p) {
  if (d.type == Type::integer) return d.i;
  if (d.type == Type::longint) return narrow(d.l, p);
  fail_value(p, "an int", d, d.type == Type::real ? "; write int(..) to cut it" : "");
}
std::int64_t arg_long(const Dyn& d, Pos p) {
  if (is_whole(d)) return whole(d);
  fail_value(p, "a long", d, d.type == Type::real ? "; write long(..) to cut it" : "");
}
double arg_real(const Dyn& d, Pos p) {
  if (d.type == Type::real || is_whole(d)) return number(d);
  fail_value(p, "a real", d);
}
std::int32_t read_int_slow(const Value* v, Pos p) { return arg_int(dyn_read(v, p), p); }
std::int64_t read_long(const Value* v, Pos p) { return arg_long(dyn_read(v, p), p); }
double read_real_slow(const Value* v, Pos p) { return arg_real(dyn_read(v, p), p); }
Value* arg_string(const Dyn& d, Pos p) {
  if (d.type != Type::string) fail_value(p, "a string", d);
  return retain(d.s);
}
bool truth(const Dyn& d, Pos p) {
  if (is_whole(d)) return whole(d) != 0;
  if (d.type == Type::real) return d.r != 0;
  fail_value(p, "a number", d);
}

std::int32_t cast_int(const Dyn& d, Pos p) {
  if (d.type == Type::integer) return d.i;
  if (d.type == Type::longint) return narrow(d.l, p);
  if (d.type == Type::real) return truncate(d.r, p);
  return parsed<std::int32_t>(text(d), "int", "an int", p);
}
std::int64_t cast_long(const Dyn& d, Pos p) {
  if (is_whole(d)) return whole(d);
  if (d.type == Type::real) return truncate_long(d.r, p);
  return parsed<std::int64_t>(text(d), "long", "a long", p);
}
double cast_real(const Dyn& d, Pos p) {
  if (d.type == Type::real || is_whole(d)) return number(d);
  return parsed<double>(text(d), "real", "a number", p);
}
Dyn cast_string(const Dyn& d, Pos) {
  if (d.type == Type::string) return d;
  const std::string s = shown(d);
  return dyn_string(s.data(), s.size());
}

Value* to_value(const Dyn& d) {
  switch (d.type) {
    case Type::integer:
      return value_int(d.i);
    case Type::longint:
      return value_long(d.l);
    case Type::real:
      return value_real(d.r);
    default:
      return retain(d.s);
  }
}

}  // namespace tessera::abi
