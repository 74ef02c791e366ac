// The syntax tree: what the person wrote, nothing resolved.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/source/place.hpp"

namespace tessera::compiler::syntax {

enum class Operator : std::uint8_t { add, sub, mul, div, mod, lt, gt, le, ge, eq, ne, land, lor };
const char* spelling(Operator);
inline bool is_comparison(Operator op) { return op >= Operator::lt && op <= Operator::ne; }
Operator opposite(Operator comparison);  // `>=` of `<`
inline bool is_logic(Operator op) { return op >= Operator::land; }

enum class TypeName : std::uint8_t { integer, real, string, name, value, longint };
const char* spelling(TypeName);

struct Word {
  std::string text;
  Extent at;
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

// id: a name with indices.
struct Id {
  Word name;
  std::vector<ExprPtr> indices;
  Extent at;  // all of it
};

struct Expr {
  enum class Kind : std::uint8_t { integer, real, string, id, negate, lnot, binary, choice, cast };
  Kind kind = Kind::integer;
  Extent at;
  bool bracketed = false;
  std::uint16_t depth = 1;  // of the tree below
  std::int64_t integer = 0;
  std::string text;                   // real: as written; string: its value
  Operator op = Operator::add;        // binary
  TypeName type = TypeName::integer;  // cast
  Id id;
  std::vector<ExprPtr> kids;  // operands; choice: condition, then, else
};

// One rule of an advice block, e.g. `locator_cyclic x[i] => i + 1;`
struct Rule {
  enum class Form : std::uint8_t { equals, maps, value, list };  // id = e, id => e, NAME: e, ids
  Word name;
  Form form = Form::list;
  std::vector<Id> ids;
  ExprPtr expr;
};
using Advice = std::vector<Rule>;

struct Pragma {
  Word name;
  std::vector<ExprPtr> arguments;
};

struct Statement;
struct Block {
  std::vector<Word> names;  // df
  std::vector<Statement> statements;
  Advice advice;
  Extent at;
};

struct Call {
  std::optional<Id> label;
  Word callee;
  std::vector<ExprPtr> arguments;
  std::vector<Id> done;     // >> (y)
  std::vector<Id> deletes;  // --> (x)
  Advice advice;
};
struct For {
  Word counter;
  ExprPtr first, last;
  Block body;
};
struct While {
  ExprPtr condition;
  Word counter;
  ExprPtr start;
  Id out;
  Block body;
};
struct If {
  ExprPtr condition;
  Block body;
  std::optional<Block> otherwise;  // `else`
  Extent else_at;                  // the word
};
struct Binding {
  Word name;
  ExprPtr value;
};
struct Let {
  std::vector<Binding> bindings;
  Block body;
};

struct Statement {
  Extent at;  // up to the body, if there is one
  std::variant<Call, For, While, If, Let> node;
};

struct Parameter {
  TypeName type = TypeName::integer;
  Word name;  // may be empty in an import
};

struct Sub {
  Word name;
  std::vector<Parameter> parameters;
  Block body;
  std::string spelled;  // its tokens: equal where only blanks and comments differ
};
struct Import {
  Word symbol;
  Word alias;
  std::vector<Parameter> parameters;
};
struct ForeignText {
  std::string text;
  Extent at;  // of the text inside the block
  bool braces = false;
};
struct CxxSub {
  Word name;
  std::vector<Parameter> parameters;
  ForeignText body;
  std::string spelled;
};

struct Program {
  std::vector<Sub> subs;
  std::vector<Import> imports;
  std::vector<CxxSub> cxx_subs;
  std::vector<ForeignText> heads;
  // Declared, but the declaration is broken: uses of these names are no second mistake.
  std::vector<std::string> broken;
  std::vector<std::string> in_pragmas;  // names that pragmas mention
};

}  // namespace tessera::compiler::syntax
