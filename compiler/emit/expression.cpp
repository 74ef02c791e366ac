#include "compiler/emit/expression.hpp"

namespace tessera::compiler::emit {
namespace {

using semantics::Expr;
using semantics::Operator;
using semantics::Type;

const char* abi_name(Operator op) {
  static constexpr const char* kText[] = {"add", "sub", "mul", "div", "mod",  "lt", "gt",
                                          "le",  "ge",  "eq",  "ne",  "land", "lor"};
  return kText[static_cast<int>(op)];
}

bool is_number(Type t) { return t == Type::integer || t == Type::longint || t == Type::real; }

// The type in which two numbers are compared.
Type wider(Type a, Type b) {
  if (a == b) return a;
  return a == Type::real || b == Type::real ? Type::real : Type::longint;
}

}  // namespace

Environment::Environment(const block::Chain& chain) {
  for (const block::FrameVariable& f : chain.frame) {
    const std::string word = "(c, " + std::to_string(f.word) + ")";
    switch (f.variable->letter) {
      case 'n':
        set(f.variable, "frame_name" + word);
        break;
      case 'i':
        set(f.variable, "whole" + word);
        break;
      case 'r':
        set(f.variable, "frame_real" + word);
        break;
      case 'l':
      case 'h':
        set(f.variable, "frame_int" + word);
        break;
      default:
        set(f.variable, "frame_value" + word);
        break;
    }
  }
}

const std::string& Environment::operator[](const semantics::Variable* v) const {
  static const std::string kRanks = "ranks()";
  return v->kind == semantics::Variable::Kind::run ? kRanks : text_.at(v);
}

std::string ExpressionWriter::name(const semantics::NameUse& n) const {
  std::string out = environment_[n.base];
  for (const auto& i : n.indices) out = "index(" + out + ", " + integer(*i) + ")";
  return out;
}

std::string ExpressionWriter::borrowed(const Expr& e) const {
  if (e.kind == Expr::Kind::input) {
    if (!inputs_.empty()) return "&" + inputs_ + "[" + std::to_string(e.integer) + "]";
    return "input(c, " + hole(Hole::known, "B" + std::to_string(block_), "*c->block") + ", " +
           std::to_string(e.integer) + ")";
  }
  if (e.kind == Expr::Kind::variable && !is_number(e.type)) return environment_[e.variable];
  return "";
}

std::string ExpressionWriter::integer(const Expr& e) const {
  if (const std::string value = borrowed(e); !value.empty()) {
    return "read_int(" + value + ", " + pos(e) + ")";
  }
  switch (e.type) {
    case Type::integer:
      return native(e);
    case Type::longint:
      return "narrow(" + native(e) + ", " + pos(e) + ")";
    case Type::real:
      return "truncate(" + native(e) + ", " + pos(e) + ")";
    default:
      return "arg_int(" + native(e) + ", " + pos(e) + ")";
  }
}

std::string ExpressionWriter::longint(const Expr& e) const {
  if (const std::string value = borrowed(e); !value.empty()) {
    return "read_long(" + value + ", " + pos(e) + ")";
  }
  switch (e.type) {
    case Type::integer:
      return "std::int64_t(" + native(e) + ")";
    case Type::longint:
      return native(e);
    case Type::real:
      return "truncate_long(" + native(e) + ", " + pos(e) + ")";
    default:
      return "arg_long(" + native(e) + ", " + pos(e) + ")";
  }
}

std::string ExpressionWriter::real(const Expr& e) const {
  if (const std::string value = borrowed(e); !value.empty()) {
    return "read_real(" + value + ", " + pos(e) + ")";
  }
  switch (e.type) {
    case Type::integer:
    case Type::longint:
      return "double(" + native(e) + ")";
    case Type::real:
      return native(e);
    default:
      return "arg_real(" + native(e) + ", " + pos(e) + ")";
  }
}

std::string ExpressionWriter::dyn(const Expr& e) const {
  return is_number(e.type) ? "Dyn(" + native(e) + ")" : native(e);
}

std::string ExpressionWriter::condition(const Expr& e) const {
  if (e.kind == Expr::Kind::binary && e.type == Type::integer) {
    if (syntax::is_logic(e.op)) {
      return "(" + condition(*e.kids[0]) + (e.op == Operator::land ? " && " : " || ") + condition(*e.kids[1]) + ")";
    }
    if (syntax::is_comparison(e.op) && is_number(e.kids[0]->type) && is_number(e.kids[1]->type)) {
      const Type as = wider(e.kids[0]->type, e.kids[1]->type);
      return "(" + number(*e.kids[0], as) + " " + syntax::spelling(e.op) + " " + number(*e.kids[1], as) + ")";
    }
  }
  if (is_number(e.type)) return "(" + native(e) + " != 0)";
  return "(truth(" + native(e) + ", " + pos(e) + "))";
}

std::string ExpressionWriter::number(const Expr& e, Type as) const {
  return as == Type::real ? real(e) : as == Type::longint ? longint(e) : native(e);
}

std::string ExpressionWriter::new_string(const Expr& e) const {
  if (e.kind == Expr::Kind::variable && e.type == Type::string) {
    return "retain(" + environment_[e.variable] + ")";
  }
  return "arg_string(" + dyn(e) + ", " + pos(e) + ")";
}

std::string ExpressionWriter::new_value(const Expr& e) const {
  const std::string text = borrowed(e);
  return text.empty() ? "to_value(" + dyn(e) + ")" : "retain(" + text + ")";
}

std::string ExpressionWriter::binary(const Expr& e) const {
  const Expr& a = *e.kids[0];
  const Expr& b = *e.kids[1];
  if (syntax::is_logic(e.op)) return "int(" + condition(e) + ")";
  const bool numbers = is_number(a.type) && is_number(b.type);
  if (syntax::is_comparison(e.op)) {
    if (numbers) return "int" + condition(e);
    return std::string("dyn_op(Op::") + abi_name(e.op) + ", " + dyn(a) + ", " + dyn(b) + ", " + pos(e) + ").i";
  }
  if (!numbers) {
    return std::string("dyn_op(Op::") + abi_name(e.op) + ", " + dyn(a) + ", " + dyn(b) + ", " + pos(e) + ")";
  }
  if (e.type == Type::integer) {
    return std::string(abi_name(e.op)) + "(" + native(a) + ", " + native(b) + ", " + pos(e) + ")";
  }
  if (e.type == Type::longint) {
    return std::string(abi_name(e.op)) + "(" + longint(a) + ", " + longint(b) + ", " + pos(e) + ")";
  }
  if (e.op == Operator::div) return "div_real(" + real(a) + ", " + real(b) + ", " + pos(e) + ")";
  return "(" + real(a) + " " + syntax::spelling(e.op) + " " + real(b) + ")";
}

std::string ExpressionWriter::native(const Expr& e) const {
  switch (e.kind) {
    case Expr::Kind::integer:
      if (e.type == Type::longint) {
        return e.integer == INT64_MIN ? "(-INT64_MAX - 1)" : "std::int64_t(" + std::to_string(e.integer) + ")";
      }
      return hole(Hole::number, e.integer == INT32_MIN ? "(-2147483647 - 1)" : std::to_string(e.integer));
    case Expr::Kind::real:
      return e.text;
    case Expr::Kind::string:
      return "dyn_string(" + literal(e.text) + ", " + std::to_string(e.text.size()) + ")";
    case Expr::Kind::variable:
      if (is_number(e.type)) return environment_[e.variable];
      return "dyn_read(" + environment_[e.variable] + ", " + pos(e) + ")";
    case Expr::Kind::input:
      return "dyn_read(" + borrowed(e) + ", " + pos(e) + ")";
    case Expr::Kind::binary:
      return binary(e);
    case Expr::Kind::negate:
      if (e.type == Type::integer) return "sub(0, " + native(*e.kids[0]) + ", " + pos(e) + ")";
      if (e.type == Type::longint) return "sub(std::int64_t(0), " + native(*e.kids[0]) + ", " + pos(e) + ")";
      if (e.type == Type::real) return "(-" + native(*e.kids[0]) + ")";
      return "dyn_negate(" + dyn(*e.kids[0]) + ", " + pos(e) + ")";
    case Expr::Kind::choice: {
      const auto part = [&](const Expr& k) { return is_number(e.type) ? number(k, e.type) : dyn(k); };
      return "(" + condition(*e.kids[0]) + " ? " + part(*e.kids[1]) + " : " + part(*e.kids[2]) + ")";
    }
    case Expr::Kind::cast: {
      const Expr& k = *e.kids[0];
      if (e.type == Type::integer) {
        return is_number(k.type) ? integer(k) : "cast_int(" + dyn(k) + ", " + pos(e) + ")";
      }
      if (e.type == Type::longint) {
        return is_number(k.type) ? longint(k) : "cast_long(" + dyn(k) + ", " + pos(e) + ")";
      }
      if (e.type == Type::real) {
        return is_number(k.type) ? real(k) : "cast_real(" + dyn(k) + ", " + pos(e) + ")";
      }
      return "cast_string(" + dyn(k) + ", " + pos(e) + ")";
    }
    case Expr::Kind::read:
    case Expr::Kind::extreme:
      break;
  }
  // Bounds are written by bound() (emit/block.cpp), reads are gone since pass match-inputs; verify() has checked it.
  return "0";
}

}  // namespace tessera::compiler::emit
