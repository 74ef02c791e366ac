#include "compiler/semantics/expression.hpp"

namespace tessera::compiler::semantics {
namespace {

std::shared_ptr<Expr> make(Expr::Kind kind, Type type, Extent at) {
  auto e = std::make_shared<Expr>();
  e->kind = kind;
  e->type = type;
  e->at = at;
  return e;
}

void adopt(Expr& e, ExprPtr kid) {
  e.reads = e.reads || kid->reads;
  e.size += kid->size;
  e.kids.push_back(std::move(kid));
}

bool is_string(const ExprPtr& e) { return e->type == Type::string; }

// joined is the type of `a op b` on numbers, and of the two values of a choice.
Type joined(Type a, Type b) {
  if (a == b) return a;
  if (a == Type::dynamic || b == Type::dynamic) return Type::dynamic;
  const auto whole = [](Type t) { return t == Type::integer || t == Type::longint; };
  return whole(a) && whole(b) ? Type::longint : Type::real;
}

}  // namespace

const char* spelling(Type t) {
  static constexpr const char* kText[] = {"int", "real", "string", "a data fragment", "long"};
  return kText[static_cast<int>(t)];
}

ExprPtr make_integer(std::int64_t value, Extent at) {
  const bool fits = value >= INT32_MIN && value <= INT32_MAX;
  auto e = make(Expr::Kind::integer, fits ? Type::integer : Type::longint, at);
  e->integer = value;
  return e;
}

ExprPtr make_real(std::string text, Extent at) {
  auto e = make(Expr::Kind::real, Type::real, at);
  e->text = std::move(text);
  return e;
}

ExprPtr make_string(std::string value, Extent at) {
  auto e = make(Expr::Kind::string, Type::string, at);
  e->text = std::move(value);
  return e;
}

ExprPtr make_variable(const Variable* variable, Extent at) {
  const Type type = variable->letter == 'i' || variable->letter == 'h' ? Type::integer
                    : variable->letter == 'l'                          ? Type::longint
                    : variable->letter == 'r'                          ? Type::real
                    : variable->letter == 's'                          ? Type::string
                                                                       : Type::dynamic;
  auto e = make(Expr::Kind::variable, type, at);
  e->variable = variable;
  return e;
}

ExprPtr make_read(NameUse name) {
  auto e = make(Expr::Kind::read, Type::dynamic, name.at);
  e->reads = true;
  for (const ExprPtr& i : name.indices) e->size += i->size;
  e->name = std::move(name);
  return e;
}

ExprPtr make_unknown(Type type, Extent at, const std::vector<ExprPtr>& parts) {
  auto e = make(Expr::Kind::cast, type, at);
  adopt(*e, make_string("?" + std::to_string(at.begin), at));
  for (const ExprPtr& part : parts) adopt(*e, part);
  return e;
}

ExprPtr make_negate(ExprPtr kid, Extent at, Diagnostics& diagnostics) {
  if (is_string(kid)) {
    diagnostics.mistyped("T220", at, "`-` can't be applied to a string; convert it with int(..) or real(..)");
    return make_unknown(Type::integer, at, {kid});
  }
  auto e = make(Expr::Kind::negate, kid->type, at);
  adopt(*e, std::move(kid));
  return e;
}

ExprPtr make_binary(Operator op, ExprPtr a, ExprPtr b, Extent at, Diagnostics& diagnostics) {
  Type type = joined(a->type, b->type);
  const bool strings = is_string(a) || is_string(b);
  bool computable = true;
  const auto wrong = [&](const std::string& why) {
    computable = false;
    diagnostics.mistyped(
        "T220", at,
        quote(syntax::spelling(op)) + " can't be applied to " + spelling(a->type) + " and " + spelling(b->type) + why);
  };
  if (strings && op == Operator::add) {
    type = Type::string;
    if (a->type == Type::real || b->type == Type::real) {
      wrong("; convert the real with string(..)");
    }
  } else if (op == Operator::eq || op == Operator::ne) {
    type = Type::integer;
    const bool other = a->type == Type::dynamic || b->type == Type::dynamic;
    if (strings && a->type != b->type && !other) wrong("; convert one of them");
  } else if (strings) {
    wrong("; strings can be joined by `+` and compared by `==` and `!=`");
    type = Type::integer;
  } else if (syntax::is_comparison(op) || syntax::is_logic(op)) {
    type = Type::integer;
  } else if (op == Operator::mod) {
    if (a->type == Type::real || b->type == Type::real) wrong("; it is for ints and longs");
    if (type == Type::real) type = Type::integer;
  } else if (type == Type::dynamic && (a->type == Type::real || b->type == Type::real)) {
    type = Type::dynamic;  // with a number it is real, with a string in the fragment an error
  }
  if (!computable) return make_unknown(type, at, {a, b});
  auto e = make(Expr::Kind::binary, type, at);
  e->op = op;
  adopt(*e, std::move(a));
  adopt(*e, std::move(b));
  return e;
}

ExprPtr make_choice(ExprPtr condition, ExprPtr yes, ExprPtr no, Extent at, Diagnostics& diagnostics) {
  check_condition(*condition, diagnostics);
  const bool other = yes->type == Type::dynamic || no->type == Type::dynamic;
  Type type = joined(yes->type, no->type);
  if (yes->type != no->type && !other && (is_string(yes) || is_string(no))) {
    diagnostics.mistyped("T221", at,
                         std::string("the two values of `?` are ") + spelling(yes->type) + " and " +
                             spelling(no->type) + "; convert one");
    // It fits everywhere: no second message for the same mistake.
    return make_unknown(Type::dynamic, at, {condition, yes, no});
  }
  auto e = make(Expr::Kind::choice, type, at);
  adopt(*e, std::move(condition));
  adopt(*e, std::move(yes));
  adopt(*e, std::move(no));
  return e;
}

ExprPtr make_not(ExprPtr e, Diagnostics& diagnostics) {
  const Extent at = e->at;
  return make_not(std::move(e), diagnostics, at);
}

ExprPtr make_not(ExprPtr e, Diagnostics& diagnostics, Extent at) {
  if (e->kind == Expr::Kind::binary && syntax::is_logic(e->op)) {
    const Operator other = e->op == Operator::land ? Operator::lor : Operator::land;
    ExprPtr a = make_not(e->kids[0], diagnostics), b = make_not(e->kids[1], diagnostics);
    return make_binary(other, std::move(a), std::move(b), at, diagnostics);
  }
  const auto is_int = [](const ExprPtr& k) { return k->type == Type::integer; };
  if (e->kind == Expr::Kind::binary && syntax::is_comparison(e->op)) {
    // No number is less than one that is no number (NaN), nor is it not less.
    const bool whole = is_int(e->kids[0]) && is_int(e->kids[1]);
    if (whole || e->op == Operator::eq || e->op == Operator::ne) {
      return make_binary(syntax::opposite(e->op), e->kids[0], e->kids[1], at, diagnostics);
    }
  }
  if (is_string(e)) return make_unknown(Type::integer, at, {e});  // check_condition has said it
  return make_binary(Operator::eq, std::move(e), make_integer(0, at), at, diagnostics);
}

ExprPtr make_cast(Type to, ExprPtr kid, Extent at) {
  auto e = make(Expr::Kind::cast, to, at);
  adopt(*e, std::move(kid));
  return e;
}

void check_condition(const Expr& e, Diagnostics& diagnostics) {
  if (e.type != Type::string) return;
  diagnostics.mistyped("T222", e.at, "a condition must be a number, this is a string; compare it: `s == \"yes\"`");
}

void check_index(const Expr& e, std::string_view what, Diagnostics& diagnostics) {
  if (e.type != Type::string) return;
  diagnostics.mistyped("T223", e.at, std::string(what) + " must be an int, this is a string; convert it with int(..)");
}

std::string key(const NameUse& name) {
  std::string out = "n" + std::to_string(name.base->id);
  for (const ExprPtr& i : name.indices) out += "[" + key(*i) + "]";
  return out;
}

std::string key(const Expr& e) {
  switch (e.kind) {
    case Expr::Kind::integer:
      return std::to_string(e.integer);
    case Expr::Kind::real:
      return e.text + "r";
    case Expr::Kind::string:
      return std::to_string(e.text.size()) + "\"" + e.text;
    case Expr::Kind::variable:
      return "v" + std::to_string(e.variable->id);
    case Expr::Kind::input:
      return "in" + std::to_string(e.integer);
    case Expr::Kind::read:
      return key(e.name);
    default:
      break;
  }
  std::string out = e.kind == Expr::Kind::cast ? std::string("(") + spelling(e.type) : "(";
  out += e.kind == Expr::Kind::binary ? syntax::spelling(e.op) : std::to_string(static_cast<int>(e.kind));
  for (const ExprPtr& k : e.kids) out += " " + key(*k);
  return out + ")";
}

}  // namespace tessera::compiler::semantics
