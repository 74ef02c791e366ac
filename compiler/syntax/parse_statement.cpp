// Blocks and statements.
#include "compiler/syntax/parser.hpp"

namespace tessera::compiler::syntax {
namespace {

bool begins_statement(const Token& t) {
  return t.is("cf") || t.is("for") || t.is("while") || t.is("if") || t.is("let");
}
bool begins_declaration(const Token& t) { return t.is("sub") || t.is("import") || t.is("C++"); }

}  // namespace

Block Parser::block() {
  const Depth depth(*this);
  Block result;
  const Extent begin = peek().extent;
  if (!peek().is("{")) {
    if (peek().is(";")) {  // behind a loop's bounds, a condition: what follows is its body all the same
      diagnostics_.error("T131", peek().extent, "expected a statement, found `;`");
      take();
      if (peek().is("}") || peek().kind == TokenKind::end || begins_declaration(peek())) return result;
    }
    result.statements.push_back(statement());
    result.at = join(begin, behind());
    return result;
  }
  take();
  while (!peek().is("}")) {
    if (peek().kind == TokenKind::end || begins_declaration(peek())) {
      diagnostics_.error("T135", peek().extent, "expected `}`: a block is not closed")
          .note(begin, "the block begins here");
      throw Failure{};
    }
    const std::size_t before = pos_;
    const int depth_before = depth_;
    try {
      if (peek().is("df")) {
        names(result);
      } else if (!c_variable(&result)) {
        result.statements.push_back(statement());
      }
    } catch (const Failure&) {
      depth_ = depth_before;
      if (pos_ == before && !begins_declaration(peek())) take();
      skip_statement();
    }
  }
  take();
  result.advice = advice();
  result.at = join(begin, behind());
  return result;
}

void Parser::names(Block& block) {
  expect("df", "");
  do {
    block.names.push_back(name("a data fragment's name"));
  } while (accept(","));
  expect(";", "after the names of data fragments");
}

// Behind the broken statement: its `;`, its `}`, or before what begins another one.
void Parser::skip_statement() {
  int depth = 0;
  while (peek().kind != TokenKind::end) {
    const Token& t = peek();
    if (depth == 0 && (t.is("}") || begins_statement(t) || t.is("df"))) return;
    if (begins_declaration(t)) return;
    if (t.is("{")) ++depth;
    const bool closes = t.is("}") && --depth == 0;
    take();
    if (closes || (t.is(";") && depth == 0)) {
      if (accept("else") && peek().is("{")) skip_statement();  // of an `if` that had the mistake
      return;
    }
  }
}

std::vector<Id> Parser::id_list() {
  std::vector<Id> ids;
  expect("(", "before the names");
  do {
    ids.push_back(id());
  } while (accept(","));
  expect(")", "after the names");
  return ids;
}

void Parser::call(Call& call) {
  if (accept("cf")) {
    call.label = id();
    expect(":", "after the label");
  }
  c_word();
  call.callee = name("the name of a kernel or sub");
  c_change();
  const bool looks_like_a_loop = peek().kind == TokenKind::name && peek(1).text == "=";
  expect("(", looks_like_a_loop ? "before the arguments (a loop is written `for i = first .. last`)"
                                : "before the arguments");
  if (!accept(")")) {
    do {
      call.arguments.push_back(expression());
      no_assignment();
    } while (accept(","));
    expect(")", "after the arguments");
  }
}

Statement Parser::statement() {
  const Depth depth(*this);
  Statement result;
  const Extent begin = peek().extent;
  if (accept("for")) {
    For node;
    pragma();
    c_loop(node);
    if (node.first == nullptr) {
      node.counter = name("a counter's name");
      expect("=", "after the counter");
      node.first = expression();
      expect("..", "between the bounds");
      node.last = expression();
    }
    result.at = join(begin, behind());
    node.body = block();
    result.node = std::move(node);
  } else if (accept("while")) {
    While node;
    pragma();
    node.condition = expression();
    no_assignment();
    expect(",", "after the condition (`while condition, i = start .. out name`)");
    node.counter = name("a counter's name");
    expect("=", "after the counter");
    node.start = expression();
    expect("..", "after the start");
    expect("out", "and the name that gets the last index");
    node.out = id();
    result.at = join(begin, behind());
    node.body = block();
    result.node = std::move(node);
  } else if (accept("if")) {
    If node;
    node.condition = expression();
    no_assignment();
    result.at = join(begin, behind());
    node.body = block();
    if (peek().is("else")) {
      node.else_at = take().extent;
      node.otherwise = block();
    }
    result.node = std::move(node);
  } else if (accept("let")) {
    Let node;
    do {
      Binding b;
      b.name = name("a name to bind");
      expect("=", "after the name");
      b.value = expression();
      node.bindings.push_back(std::move(b));
    } while (accept(","));
    result.at = join(begin, behind());
    if (peek().is(";")) {
      fail("T131", peek().extent,
           "there are no variables: `let` names an expression for the statement or block behind it, `let " +
               node.bindings.back().name.text + " = ... { }`");
    }
    node.body = block();
    result.node = std::move(node);
  } else if (peek().is("else")) {
    fail("T137", peek().extent, "this `else` belongs to no `if`: it stands right behind the body of one");
  } else if (peek().is("{")) {
    diagnostics_.error("T138", peek().extent, "a block must belong to `sub`, `for`, `while`, `if` or `let`");
    Let node;  // its statements may have mistakes of their own
    node.body = block();
    result.at = begin;
    result.node = std::move(node);
  } else if (peek().is("df")) {
    fail("T139", peek().extent, "`df` declares names only directly inside `{ ... }`");
  } else if (c_variable(nullptr)) {
    throw Failure{};
  } else if (peek().kind == TokenKind::name || peek().is("cf")) {
    Call node;
    call(node);
    result.at = join(begin, behind());
    if (accept(">>")) node.done = id_list();
    if (accept("-->")) node.deletes = id_list();
    node.advice = advice();
    result.node = std::move(node);
    if (peek().is(";")) {
      take();
    } else {  // the statement itself is fine: keep it
      diagnostics_.error("T132", behind(), "expected `;` after the call");
      if (!peek().is("}") && !begins_statement(peek()) && !begins_declaration(peek()) &&
          peek().kind != TokenKind::name) {
        skip_statement();
      }
    }
  } else {
    c_change();  // ++i;
    unexpected("a statement");
  }
  return result;
}

}  // namespace tessera::compiler::syntax
