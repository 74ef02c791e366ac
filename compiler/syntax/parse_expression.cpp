// Expressions. Priorities, loosest first: `?:`, `||`, `&&`, comparisons, `+ -`, `* / %`, unary minus and `!`.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "compiler/syntax/parser.hpp"

namespace tessera::compiler::syntax {
namespace {

constexpr int kLevels = 5;
constexpr int kComparisons = 2;
constexpr std::uint16_t kDeepestTree = 1000;

// operator_at returns the operator that `t` is on a level of priority, or nothing.
const Operator* operator_at(const Token& t, int level) {
  static constexpr Operator kOr[] = {Operator::lor};
  static constexpr Operator kAnd[] = {Operator::land};
  static constexpr Operator kCompare[] = {Operator::lt, Operator::gt, Operator::le,
                                          Operator::ge, Operator::eq, Operator::ne};
  static constexpr Operator kSum[] = {Operator::add, Operator::sub};
  static constexpr Operator kProduct[] = {Operator::mul, Operator::div, Operator::mod};
  static constexpr struct {
    const Operator* first;
    int count;
  } kTable[kLevels] = {{kOr, 1}, {kAnd, 1}, {kCompare, 6}, {kSum, 2}, {kProduct, 3}};
  for (int k = 0; k < kTable[level].count; ++k) {
    if (t.is(spelling(kTable[level].first[k]))) return kTable[level].first + k;
  }
  return nullptr;
}

}  // namespace

void Parser::grow(Expr& e) {
  std::uint16_t deepest = 0;
  for (const ExprPtr& k : e.kids) deepest = std::max(deepest, k->depth);
  for (const ExprPtr& k : e.id.indices) deepest = std::max(deepest, k->depth);
  e.depth = static_cast<std::uint16_t>(deepest + 1);
  if (e.depth > kDeepestTree) fail("T130", e.at, "this expression is too long: name parts of it with `let`");
}

ExprPtr Parser::expression() {
  const Depth depth(*this);
  return choice();
}

ExprPtr Parser::choice() {
  ExprPtr condition = binary(0);
  if (!accept("?")) return condition;
  auto e = std::make_unique<Expr>();
  e->kind = Expr::Kind::choice;
  e->kids.push_back(std::move(condition));
  e->kids.push_back(expression());
  expect(":", "between the two values of `?`");
  e->kids.push_back(binary(0));
  e->at = join(e->kids[0]->at, behind());
  if (peek().is("?")) {
    fail("T140", peek().extent, "`a ? b : c ? d : e` reads differently in different systems: use brackets");
  }
  grow(*e);
  return e;
}

ExprPtr Parser::make_binary(Operator op, ExprPtr left, ExprPtr right) {
  auto e = std::make_unique<Expr>();
  e->kind = Expr::Kind::binary;
  e->op = op;
  e->at = join(left->at, right->at);
  if (is_comparison(op) && left->kind == Expr::Kind::binary && is_comparison(left->op) && !left->bracketed) {
    diagnostics_.warning("T224", e->at,
                         std::string("comparisons in a chain read from the left: this compares 0 or "
                                     "1 by `") +
                             spelling(op) + "`; write `a < b && b < c`, or brackets");
  }
  if (is_comparison(op) && left->kind == Expr::Kind::lnot && !left->bracketed) {
    diagnostics_.warning("T148", e->at,
                         std::string("`!` belongs to what is left of `") + spelling(op) +
                             "` alone: this compares 0 or 1; write `!(a " + spelling(op) + " b)`, or `(!a) " +
                             spelling(op) + " b`");
  }
  e->kids.push_back(std::move(left));
  e->kids.push_back(std::move(right));
  grow(*e);
  return e;
}

ExprPtr Parser::binary(int level) {
  if (level == kLevels) return unary();
  ExprPtr left = binary(level + 1);
  while (const Operator* op = operator_at(peek(), level)) {
    take();
    left = make_binary(*op, std::move(left), binary(level + 1));
  }
  return left;
}

ExprPtr Parser::unary() {
  const bool minus = peek().is("-");
  if (!minus && !peek().is("!")) return primary();
  const Depth depth(*this);
  const Extent begin = take().extent;
  if (minus && peek().kind == TokenKind::integer) return number(true, join(begin, peek().extent));
  auto e = std::make_unique<Expr>();
  e->kind = minus ? Expr::Kind::negate : Expr::Kind::lnot;
  e->kids.push_back(unary());
  e->at = join(begin, behind());
  grow(*e);
  return e;
}

ExprPtr Parser::number(bool negative, Extent at) {
  const Token& t = take();
  auto e = std::make_unique<Expr>();
  e->at = at;
  const std::string digits(t.text);
  if (t.kind == TokenKind::real) {
    e->kind = Expr::Kind::real;
    e->text = digits;
    if (std::isinf(std::strtod(digits.c_str(), nullptr))) {
      diagnostics_.error("T141", at, quote(digits) + " is too large for a real (1.8e308)");
      e->text = "0.0";
    }
    return e;
  }
  errno = 0;
  const std::string written = (negative ? "-" : "") + digits;
  e->integer = std::strtoll(written.c_str(), nullptr, 10);
  if (errno != 0) {
    diagnostics_.error("T141", at, quote(written) + " does not fit long (-9223372036854775808 .. 9223372036854775807)");
    e->integer = 0;
  }
  return e;
}

Id Parser::id() {
  Id result;
  result.name = name("a name");
  const Extent begin = result.name.at;
  while (accept("[")) {
    result.indices.push_back(expression());
    expect("]", "after the index");
  }
  result.at = join(begin, behind());
  return result;
}

ExprPtr Parser::primary() {
  const Token& t = peek();
  auto e = std::make_unique<Expr>();
  const Extent begin = t.extent;
  if (t.kind == TokenKind::integer || t.kind == TokenKind::real) return number(false, begin);
  if (t.kind == TokenKind::string) {
    e->kind = Expr::Kind::string;
    e->text = t.value;
    take();
  } else if (t.kind == TokenKind::name && !(t.text == "long" && peek(1).is("("))) {
    e->kind = Expr::Kind::id;
    e->id = id();
    if (peek().is("(")) {
      fail("T142", e->id.at,
           quote(e->id.name.text) +
               " is called inside an expression: only int(..), long(..), real(..) and "
               "string(..) can be; a kernel gives its result to a data fragment");
    }
    grow(*e);
  } else if (t.is("int") || t.is("real") || t.is("string") || t.kind == TokenKind::name) {
    e->kind = Expr::Kind::cast;
    e->type = t.is("int")      ? TypeName::integer
              : t.is("real")   ? TypeName::real
              : t.is("string") ? TypeName::string
                               : TypeName::longint;
    take();
    expect("(", "after the type");
    e->kids.push_back(expression());
    expect(")", "after the value");
    grow(*e);
  } else if (accept("(")) {
    e = expression();
    no_assignment();
    e->bracketed = true;
    expect(")", "to close the bracket");
  } else {
    unexpected("an expression");
  }
  e->at = join(begin, behind());
  return e;
}

}  // namespace tessera::compiler::syntax
