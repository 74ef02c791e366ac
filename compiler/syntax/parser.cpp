#include "compiler/syntax/parser.hpp"

#include <algorithm>

namespace tessera::compiler::syntax {
namespace {

constexpr int kDeepest = 200;

std::string shown(const Token& t) {
  if (t.kind == TokenKind::end) return "the end of the program";
  if (t.kind == TokenKind::foreign) return "a foreign block";
  if (t.kind == TokenKind::string) return "a string";
  if (t.kind == TokenKind::keyword) return "the keyword " + quote(t.text);
  return quote(t.text);
}

void add_names(const Expr& e, std::vector<std::string>& names) {
  if (e.kind == Expr::Kind::id) {
    names.push_back(e.id.name.text);
    for (const ExprPtr& i : e.id.indices) add_names(*i, names);
  }
  for (const ExprPtr& k : e.kids) add_names(*k, names);
}

}  // namespace

const char* spelling(Operator op) {
  static constexpr const char* kText[] = {"+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&&", "||"};
  return kText[static_cast<int>(op)];
}

Operator opposite(Operator op) {
  switch (op) {
    case Operator::lt:
      return Operator::ge;
    case Operator::ge:
      return Operator::lt;
    case Operator::gt:
      return Operator::le;
    case Operator::le:
      return Operator::gt;
    case Operator::eq:
      return Operator::ne;
    default:
      return Operator::eq;
  }
}

const char* spelling(TypeName t) {
  static constexpr const char* kText[] = {"int", "real", "string", "name", "value", "long"};
  return kText[static_cast<int>(t)];
}

Parser::Depth::Depth(Parser& p) : parser(p) {
  if (++p.depth_ > kDeepest) {
    --p.depth_;
    p.fail("T130", p.peek().extent,
           "this is nested too deeply: move the inner part into a `sub`, or name it with `let`");
  }
}

// ---------------------------------------------------------------------------- tokens

const Token& Parser::peek(std::size_t ahead) const { return tokens_[std::min(pos_ + ahead, tokens_.size() - 1)]; }

const Token& Parser::take() {
  const Token& t = peek();
  if (pos_ + 1 < tokens_.size()) ++pos_;
  return t;
}

bool Parser::accept(std::string_view word) {
  if (!peek().is(word)) return false;
  take();
  return true;
}

Extent Parser::behind() const {
  if (pos_ == 0) return peek().extent;
  const Extent last = tokens_[pos_ - 1].extent;
  return {last.end == 0 ? 0 : last.end - 1, last.end};
}

void Parser::fail(std::string_view code, Extent at, std::string text) const {
  diagnostics_.error(code, at, std::move(text));
  throw Failure{};
}

void Parser::unexpected(std::string_view wanted) const {
  std::string hint;
  if (peek().is("&") || peek().text == "and") hint = "; `and` is written `&&`";
  if (peek().kind == TokenKind::name && peek().text == "or") hint = "; `or` is written `||`";
  if (pos_ > 0 && tokens_[pos_ - 1].kind == TokenKind::name && tokens_[pos_ - 1].text == "not") {
    hint = "; `not` is written `!`";
  }
  fail("T131", peek().extent, "expected " + std::string(wanted) + ", found " + shown(peek()) + hint);
}

const Token& Parser::expect(std::string_view word, std::string_view where) {
  if (peek().is(word)) return take();
  const std::string wanted = quote(word) + " " + std::string(where);
  if (word == ";") {
    // What is missing is missing behind the last token, not at the next one.
    fail("T132", behind(), "expected " + wanted + ", found " + shown(peek()));
  }
  unexpected(wanted);
}

// This keyword has been told of: what follows of it, and can't be one, is the same name.
void Parser::meant_as_name(std::string_view keyword) {
  for (std::size_t k = pos_ + 1; k + 1 < tokens_.size(); ++k) {
    if (tokens_[k].kind != TokenKind::keyword || tokens_[k].text != keyword) continue;
    for (const char* follower :
         {"[", "]", ",", ")", ";", "+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "?"}) {
      if (tokens_[k + 1].is(follower)) tokens_[k].kind = TokenKind::name;
    }
  }
}

Word Parser::name(std::string_view what) {
  const Token& t = peek();
  if (t.kind == TokenKind::name) {
    take();
    return {std::string(t.text), t.extent};
  }
  if (t.kind == TokenKind::keyword) {
    diagnostics_.error("T133", t.extent,
                       quote(t.text) + " is a keyword and can't be " + std::string(what) + ": choose another name");
    for (const char* follower : {",", ")", "(", ";", "=", "["}) {
      if (!peek(1).is(follower)) continue;
      meant_as_name(t.text);
      take();  // clearly meant as a name: go on as if it were one
      return {std::string(t.text), t.extent};
    }
    throw Failure{};
  }
  unexpected(what);
}

// ---------------------------------------------------------------------------- declarations

Program Parser::program() {
  Program result;
  while (peek().kind != TokenKind::end) {
    try {
      declaration(result);
    } catch (const Failure&) {
      depth_ = 0;
      if (!declaring_.empty()) result.broken.push_back(declaring_);
      skip_declaration();
    }
  }
  result.in_pragmas = std::move(in_pragmas_);
  return result;
}

void Parser::declaration(Program& program) {
  declaring_.clear();
  if (peek().is("sub")) return sub(program);
  if (peek().is("import")) return import(program);
  if (peek().is("C++")) return cxx(program);
  const Token& t = peek();
  std::string hint;
  if (t.kind == TokenKind::name) {
    hint = did_you_mean(t.text, {"sub", "import"});
    if (t.text == "C") hint = "; did you mean `C++ sub`?";
  }
  fail("T134", t.extent, "expected `sub`, `import` or `C++ sub`, found " + shown(t) + hint);
}

void Parser::skip_declaration() {
  // The failing token may itself begin a declaration; otherwise at least one token is dropped.
  if (peek().is("sub") || peek().is("import") || peek().is("C++")) {
    if (!(pos_ > 0 && tokens_[pos_ - 1].is("C++"))) return;
  }
  int depth = 0;
  while (peek().kind != TokenKind::end) {
    const Token& t = take();
    if (t.is("{")) ++depth;
    if (t.is("}") && depth > 0) --depth;
    if (depth == 0 && (peek().is("sub") || peek().is("import") || peek().is("C++"))) return;
  }
}

void Parser::pragma() {
  if (!accept("<<")) return;
  const Word word = name("a pragma's name");
  static const std::vector<std::string> kKnown = {"rush", "static", "static_for", "unrolling"};
  if (std::find(kKnown.begin(), kKnown.end(), word.text) == kKnown.end()) {
    diagnostics_.warning("T240", word.at,
                         "unknown pragma " + quote(word.text) + " is ignored" + did_you_mean(word.text, kKnown));
  } else {
    diagnostics_.remark("T245", word.at, quote(word.text) + ": it has no effect: every body is made when it is needed");
  }
  for (int k = 0; k < 2 && accept(","); ++k) add_names(*expression(), in_pragmas_);
  expect(">>", "at the end of the pragma");
}

std::string Parser::spelled(std::size_t from) const {
  std::string text;
  for (std::size_t k = from; k < pos_; ++k) (text += tokens_[k].text) += '\n';
  return text;
}

void Parser::sub(Program& program) {
  const std::size_t from = pos_;
  expect("sub", "");
  pragma();
  Sub result;
  result.name = name("a sub's name");
  declaring_ = result.name.text;
  result.parameters = parameters(true);
  result.body = block();
  result.spelled = spelled(from);
  program.subs.push_back(std::move(result));
}

std::vector<Parameter> Parser::parameters(bool names_needed) {
  std::vector<Parameter> result;
  expect("(", "before the parameters");
  if (accept(")")) return result;
  do {
    Parameter p;
    static constexpr TypeName kTypes[] = {TypeName::integer, TypeName::real, TypeName::string, TypeName::name,
                                          TypeName::value};
    bool found = false;
    for (const TypeName t : kTypes) {
      if (peek().is(spelling(t))) {
        p.type = t;
        found = true;
      }
    }
    if (peek().kind == TokenKind::name && peek().text == "long") {  // no keyword: old programs may have it as a name
      p.type = TypeName::longint;
      found = true;
    }
    if (!found) unexpected("a type (`int`, `long`, `real`, `string`, `name` or `value`)");
    take();
    if (p.type == TypeName::value) accept("&");
    if (names_needed || peek().kind == TokenKind::name || peek().kind == TokenKind::keyword) {
      p.name = name("a parameter's name");
    } else {
      p.name.at = behind();
    }
    result.push_back(std::move(p));
  } while (accept(","));
  expect(")", "after the parameters");
  return result;
}

void Parser::import(Program& program) {
  expect("import", "");
  Import result;
  result.symbol = name("a kernel's name");
  declaring_ = result.symbol.text;
  result.parameters = parameters(false);
  result.alias = result.symbol;
  if (accept("as")) result.alias = name("a kernel's name");
  declaring_ = result.alias.text;
  if (accept(":")) {
    const auto word = [&](std::string_view wanted) {
      if (peek().text != wanted) unexpected(quote(wanted));
      diagnostics_.remark("T245", peek().extent, quote(wanted) + ": it has no effect: kernels run on the CPU");
      take();
    };
    word("CUDA");
    if (accept(",")) word("NOCPU");
  }
  program.imports.push_back(std::move(result));
  expect(";", "after the import");
}

ForeignText Parser::foreign() {
  if (peek().kind != TokenKind::foreign) unexpected("C++ text in `${{ ... $}}` or `${<END} ... END`");
  const Token& t = take();
  const auto begin = t.value_begin;
  return {t.value, {begin, begin + static_cast<std::uint32_t>(t.value.size())}, t.braces};
}

void Parser::cxx(Program& program) {
  const std::size_t from = pos_;
  expect("C++", "");
  if (accept("sub")) {
    CxxSub result;
    result.name = name("a kernel's name");
    declaring_ = result.name.text;
    result.parameters = parameters(true);
    result.body = foreign();
    result.spelled = spelled(from);
    program.cxx_subs.push_back(std::move(result));
  } else if (peek().kind == TokenKind::name && peek().text == "head") {
    take();
    program.heads.push_back(foreign());
  } else {
    unexpected("`sub` or `head` after `C++`");
  }
  accept(";");
}

}  // namespace tessera::compiler::syntax
