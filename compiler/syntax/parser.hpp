// The parser: tokens in, syntax tree out. Recursive descent, one function per rule of the grammar.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/diagnostics.hpp"
#include "compiler/syntax/ast.hpp"
#include "compiler/syntax/token.hpp"

namespace tessera::compiler::syntax {

// Parser reports every mistake it meets and goes on behind it: a broken statement is left out up to
// its `;` or the next statement, a broken declaration up to the next declaration.
class Parser {
 public:
  Parser(std::vector<Token> tokens, Diagnostics& diagnostics) : tokens_(std::move(tokens)), diagnostics_(diagnostics) {}

  Program program();

  // expression parses a single expression (tests use it alone).
  ExprPtr expression();

 private:
  struct Failure {};  // thrown after reporting, caught where parsing can go on
  // Depth counts nested constructs so that no input can exhaust the stack.
  struct Depth {
    explicit Depth(Parser& p);
    ~Depth() { --parser.depth_; }
    Parser& parser;
  };

  // parser.cpp: declarations
  void declaration(Program& program);
  void sub(Program& program);
  void import(Program& program);
  void cxx(Program& program);
  std::vector<Parameter> parameters(bool names_needed);
  ForeignText foreign();
  std::string spelled(std::size_t from) const;  // the tokens from number `from` to the last one taken
  void pragma();
  void skip_declaration();

  // parse_statement.cpp
  Block block();
  void names(Block& block);
  Statement statement();
  void call(Call& call);
  void skip_statement();
  std::vector<Id> id_list();

  // habits.cpp: what is written so in C, told in the words of this language. Each returns having done nothing when the
  // tokens are something else.
  void c_loop(For& node);         // for (i = 0; i < n; i++)
  bool c_variable(Block* block);  // int x = 3;
  void c_change() const;          // i++; x += 1; x = 5;
  void c_word() const;            // return x; break;
  void no_assignment() const;     // if x = 3
  void skip_bracket();            // behind the `)` that closes the `(` which comes next

  // parse_advice.cpp
  Advice advice();
  Rule rule();

  // parse_expression.cpp
  ExprPtr choice();
  ExprPtr binary(int level);
  ExprPtr unary();
  ExprPtr primary();
  ExprPtr number(bool negative, Extent at);
  ExprPtr make_binary(Operator op, ExprPtr left, ExprPtr right);
  void grow(Expr& e);
  Id id();

  // parser.cpp: tokens
  const Token& peek(std::size_t ahead = 0) const;
  const Token& take();
  bool accept(std::string_view word);
  const Token& expect(std::string_view word, std::string_view where);
  Word name(std::string_view what);
  void meant_as_name(std::string_view keyword);
  Extent behind() const;  // the place just behind the last token taken
  [[noreturn]] void fail(std::string_view code, Extent at, std::string text) const;
  [[noreturn]] void unexpected(std::string_view wanted) const;

  std::vector<Token> tokens_;
  Diagnostics& diagnostics_;
  std::size_t pos_ = 0;
  int depth_ = 0;
  std::vector<std::string> in_pragmas_;
  std::string declaring_;  // the name of the declaration being parsed, once it is known
};

}  // namespace tessera::compiler::syntax
