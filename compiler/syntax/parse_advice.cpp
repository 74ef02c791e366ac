// Advice: `@ { locator_cyclic: i; req_count x = 3; }`. Its words are known to semantics, not here.
#include "compiler/syntax/parser.hpp"

namespace tessera::compiler::syntax {

Advice Parser::advice() {
  Advice rules;
  while (accept("@")) {
    expect("{", "after `@`");
    while (!accept("}")) {
      if (peek().kind == TokenKind::end) unexpected("`}` after the advice");
      try {
        rules.push_back(rule());
      } catch (const Failure&) {  // the rest of the advice, and the statement, are fine
        while (peek().kind != TokenKind::end && !peek().is("}") && !peek().is(";")) take();
        if (!accept(";") && !peek().is("}")) throw;
      }
    }
  }
  return rules;
}

Rule Parser::rule() {
  const Depth depth(*this);
  Rule r;
  r.name = name("the name of a piece of advice");
  if (accept(":")) {
    r.form = Rule::Form::value;
    r.expr = expression();
  } else if (!peek().is(";")) {
    accept(",");
    r.ids.push_back(id());
    if (accept("=")) {
      r.form = Rule::Form::equals;
      r.expr = expression();
    } else if (accept("=>")) {
      r.form = Rule::Form::maps;
      r.expr = expression();
    } else {
      while (accept(",")) r.ids.push_back(id());
    }
  }
  expect(";", "after the advice");
  return r;
}

}  // namespace tessera::compiler::syntax
