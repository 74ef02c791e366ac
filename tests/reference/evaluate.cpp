#include "evaluate.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

namespace tessera::reference {
namespace {

using compiler::semantics::Expr;
using compiler::semantics::NameUse;
using compiler::semantics::Type;
using compiler::syntax::Operator;

std::int32_t fits(std::int64_t v) {
  if (v < INT32_MIN || v > INT32_MAX) throw Failure("int overflow");
  return static_cast<std::int32_t>(v);
}

std::int64_t long_cut(double d) {
  if (!(d >= -9223372036854775808.0 && d < 9223372036854775808.0)) throw Failure("a real does not fit a long");
  return static_cast<std::int64_t>(d);
}

std::int32_t cut(double d) {
  if (!(d > -2147483649.0 && d < 2147483648.0)) throw Failure("a real does not fit an int");
  return static_cast<std::int32_t>(d);
}

bool is_int(const Value& v) { return std::holds_alternative<std::int32_t>(v); }
bool is_whole(const Value& v) { return is_int(v) || std::holds_alternative<std::int64_t>(v); }
std::int64_t whole(const Value& v) { return is_int(v) ? std::get<std::int32_t>(v) : std::get<std::int64_t>(v); }
bool is_string(const Value& v) { return std::holds_alternative<std::string>(v); }

double number(const Value& v) {
  if (is_whole(v)) return static_cast<double>(whole(v));
  if (const auto* r = std::get_if<double>(&v)) return *r;
  throw Failure("a number is needed");
}

std::string shown(const Value& v) {
  if (is_whole(v)) return std::to_string(whole(v));
  if (const auto* r = std::get_if<double>(&v)) return fmt::format("{}", *r);
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  throw Failure("bytes have no text");
}

// In 128 bits, so that nothing overflows here.
Value integers(Operator op, __int128 a, __int128 b, bool longs) {
  const auto result = [&](__int128 v) {
    if (!longs) return Value(fits(static_cast<std::int64_t>(v)));
    if (v < INT64_MIN || v > INT64_MAX) throw Failure("long overflow");
    return Value(static_cast<std::int64_t>(v));
  };
  switch (op) {
    case Operator::add:
      return result(a + b);
    case Operator::sub:
      return result(a - b);
    case Operator::mul:
      return result(a * b);
    case Operator::div:
      if (b == 0) throw Failure("division by zero");
      return result(a / b);
    case Operator::mod:
      if (b == 0) throw Failure("division by zero");
      return result(a % b);
    case Operator::lt:
      return a < b ? 1 : 0;
    case Operator::gt:
      return a > b ? 1 : 0;
    case Operator::le:
      return a <= b ? 1 : 0;
    case Operator::ge:
      return a >= b ? 1 : 0;
    case Operator::eq:
      return a == b ? 1 : 0;
    case Operator::ne:
      return a != b ? 1 : 0;
    default:
      throw std::logic_error("reference: logic is not arithmetic");
  }
}

Value reals(Operator op, double a, double b) {
  switch (op) {
    case Operator::add:
      return a + b;
    case Operator::sub:
      return a - b;
    case Operator::mul:
      return a * b;
    case Operator::div:
      if (b == 0) throw Failure("division by zero");
      return a / b;
    case Operator::mod:
      throw Failure("% is for ints");
    case Operator::lt:
      return a < b ? 1 : 0;
    case Operator::gt:
      return a > b ? 1 : 0;
    case Operator::le:
      return a <= b ? 1 : 0;
    case Operator::ge:
      return a >= b ? 1 : 0;
    case Operator::eq:
      return a == b ? 1 : 0;
    case Operator::ne:
      return a != b ? 1 : 0;
    default:
      throw std::logic_error("reference: logic is not arithmetic");
  }
}

Value cast(Type to, const Value& v) {
  if (to == Type::string) return shown(v);
  if (const auto* s = std::get_if<std::string>(&v)) {
    char* end = nullptr;
    if (to == Type::real) {
      const double d = std::strtod(s->c_str(), &end);
      if (s->empty() || *end != '\0') throw Failure("this string is not a number");
      return d;
    }
    const long long n = std::strtoll(s->c_str(), &end, 10);
    if (s->empty() || *end != '\0') throw Failure("this string is not an int");
    if (to == Type::longint) return static_cast<std::int64_t>(n);
    return fits(n);
  }
  if (to == Type::real) return number(v);
  if (to == Type::longint) return is_whole(v) ? whole(v) : long_cut(number(v));
  if (is_whole(v)) return fits(whole(v));
  return is_int(v) ? v : Value(cut(number(v)));
}

}  // namespace

Name Evaluator::name(const NameUse& use) const {
  Name n = std::get<Name>(environment_[use.base]);
  for (const auto& i : use.indices) n.indices.push_back(integer(*i));
  return n;
}

Value Evaluator::binary(const Expr& e) const {
  if (e.op == Operator::land) return condition(*e.kids[0]) && condition(*e.kids[1]) ? 1 : 0;
  if (e.op == Operator::lor) return condition(*e.kids[0]) || condition(*e.kids[1]) ? 1 : 0;
  const Value a = value(*e.kids[0]);
  const Value b = value(*e.kids[1]);
  if (is_string(a) || is_string(b)) {
    if (e.op == Operator::add) return shown(a) + shown(b);
    if (is_string(a) && is_string(b)) {
      if (e.op == Operator::eq) return a == b ? 1 : 0;
      if (e.op == Operator::ne) return a != b ? 1 : 0;
    }
    throw Failure("this operator is not for strings");
  }
  if (is_whole(a) && is_whole(b)) return integers(e.op, whole(a), whole(b), !is_int(a) || !is_int(b));
  return reals(e.op, number(a), number(b));
}

Value Evaluator::value(const Expr& e) const {
  switch (e.kind) {
    case Expr::Kind::integer:
      return e.type == Type::longint ? Value(e.integer) : Value(static_cast<std::int32_t>(e.integer));
    case Expr::Kind::real:
      return std::strtod(e.text.c_str(), nullptr);
    case Expr::Kind::string:
      return e.text;
    case Expr::Kind::variable:
      // `ranks`: no result may depend on how many.
      if (e.variable->kind == compiler::semantics::Variable::Kind::run) return 4;
      return std::get<Value>(environment_[e.variable]);
    case Expr::Kind::read:
      return store_.read(name(e.name));
    case Expr::Kind::input:
      return store_.read(inputs_.at(static_cast<std::size_t>(e.integer)));
    case Expr::Kind::binary:
      return binary(e);
    case Expr::Kind::cast:
      return cast(e.type, value(*e.kids[0]));
    case Expr::Kind::negate: {
      const Value v = value(*e.kids[0]);
      if (is_whole(v)) return integers(Operator::sub, 0, whole(v), !is_int(v));
      return -number(v);
    }
    case Expr::Kind::choice: {
      const Value v = value(*e.kids[condition(*e.kids[0]) ? 1 : 2]);
      if (e.type == Type::longint) return whole(v);        // int and long make long
      return e.type == Type::real ? Value(number(v)) : v;  // int and real make real
    }
    case Expr::Kind::extreme:
      break;
  }
  throw std::logic_error("reference: an unknown expression");
}

std::int32_t Evaluator::integer(const Expr& e) const {
  const Value v = value(e);
  if (is_whole(v)) return fits(whole(v));
  if (e.type == Type::real) return cut(number(v));  // known before the run: it is cut
  throw Failure("an int is needed");
}

std::int64_t Evaluator::longint(const Expr& e) const {
  const Value v = value(e);
  if (is_whole(v)) return whole(v);
  if (e.type == Type::real) return long_cut(number(v));
  throw Failure("a long is needed");
}

double Evaluator::real(const Expr& e) const { return number(value(e)); }

std::string Evaluator::string(const Expr& e) const {
  const Value v = value(e);
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  throw Failure("a string is needed");
}

bool Evaluator::condition(const Expr& e) const { return number(value(e)) != 0; }

void Evaluator::need(const NameUse& use, std::set<Name>& seen) const {
  for (const auto& i : use.indices) need(*i, seen);
}

void Evaluator::need(const Expr& e, std::set<Name>& seen) const {
  if (e.kind == Expr::Kind::read) {
    need(e.name, seen);
    const Name n = name(e.name);
    store_.read(n);
    seen.insert(n);
  }
  const bool logic = e.kind == Expr::Kind::binary && compiler::syntax::is_logic(e.op);
  if ((e.kind != Expr::Kind::choice && !logic) || e.kids[0]->reads) {
    for (const auto& k : e.kids) need(*k, seen);
    return;
  }
  // What is known beforehand not to be evaluated is not waited for, unless its reads are counted.
  const bool first = condition(*e.kids[0]);
  for (std::size_t k = 1; k < e.kids.size(); ++k) {
    const bool evaluated = logic ? first == (e.op == Operator::land) : first == (k == 1);
    if (evaluated) {
      need(*e.kids[k], seen);
    } else {
      need_counted(*e.kids[k], seen);
    }
  }
}

void Evaluator::need_counted(const Expr& e, std::set<Name>& seen) const {
  if (e.kind == Expr::Kind::read && e.name.base->counted) return need(e, seen);
  for (const auto& i : e.name.indices) need_counted(*i, seen);
  for (const auto& k : e.kids) need_counted(*k, seen);
}

}  // namespace tessera::reference
