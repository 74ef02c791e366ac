// The program with everything resolved: names are variables, expressions have types, calls know what
// they call. `let` is gone: its expressions stand where they were used.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compiler/source/place.hpp"
#include "compiler/syntax/ast.hpp"

namespace tessera::compiler::semantics {

using syntax::Operator;

// Type of an expression's value. `dynamic`: known only when it runs (anything read from a fragment).
enum class Type : std::uint8_t { integer, real, string, dynamic, longint };
const char* spelling(Type);

// Variable: one declaration. Its letter is how a frame keeps it: n Name, i int64 (of 32 bits), l int64, r double,
// s string, v value, h int64 that is no int of the program (pass sweep-names).
struct Variable {
  // `run`: what is the same everywhere in a run, `ranks`. It is in no frame.
  enum class Kind : std::uint8_t { fragment, parameter, counter, temporary, run };
  Kind kind = Kind::fragment;
  char letter = 'n';
  std::string name;
  Extent at;
  std::uint32_t id = 0;   // dense, in order of declaration
  std::string producers;  // names: who could assign its fragments, for messages
  std::string whole;      // a name that is a parameter: what it always is a part of, where that is declared; or ""
  bool assigned = true;   // names: somebody could
  bool dropped = false;   // names: advice drops or mentions it
  bool counted = false;   // names: its fragments may have a req_count

  bool is_name() const { return letter == 'n'; }
  bool shown() const { return kind == Kind::counter || kind == Kind::parameter; }
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

// NameUse: a data fragment as an argument, an output or a read: base and indices.
struct NameUse {
  const Variable* base = nullptr;
  std::vector<ExprPtr> indices;
  Extent at;
};

struct Expr {
  enum class Kind : std::uint8_t {
    integer,
    real,
    string,    // literals
    variable,  // int, real, string or value variable
    read,      // a data fragment's value (before inputs are matched)
    input,     // the same as input number `integer` of the block
    negate,
    binary,
    choice,
    cast,
    extreme  // the lesser of two ints, or, if `integer` is not 0, the greater: in bounds only (block/hulls.hpp)
  };
  Kind kind = Kind::integer;
  Type type = Type::integer;
  bool reads = false;  // a `read` stands in it, indices of reads included
  Extent at;
  std::int64_t integer = 0;
  std::string text;  // literals
  const Variable* variable = nullptr;
  NameUse name;  // read
  Operator op = Operator::add;
  std::vector<ExprPtr> kids;
  std::uint32_t size = 1;  // nodes, shared ones counted each time
};

enum class ParameterType : std::uint8_t { integer, real, string, name, value, longint };

struct Kernel {
  std::string name;    // in the program
  std::string symbol;  // of the C function
  std::vector<ParameterType> parameters;
  std::vector<std::string> parameter_names;
  bool in_place = false;
  bool of_runtime = false;  // libtessera has it
  Extent at;
};

struct Sub;

// Argument of a call: a name, or a value for a parameter of the given type.
struct Argument {
  ParameterType type = ParameterType::integer;
  ExprPtr value;
  NameUse name;
};

struct ReadCount {  // req_count
  NameUse name;
  ExprPtr count;
};

struct CallAdvice {
  ExprPtr locator;
  bool stealable = false;
  std::vector<ReadCount> counts;
  std::vector<NameUse> deletes;  // of `delete` and `-->`
  std::vector<NameUse> requests;
};

struct Body;
struct Call {
  const Kernel* kernel = nullptr;  // one of the two
  const Sub* sub = nullptr;
  std::vector<Argument> arguments;
  std::vector<NameUse> done;  // >> (y)
  CallAdvice advice;
};
struct For {
  const Variable* counter = nullptr;
  ExprPtr first, last;
  std::unique_ptr<Body> body;
};
struct While {
  const Variable* counter = nullptr;
  ExprPtr condition, start;
  NameUse out;
  std::unique_ptr<Body> body;
};
struct If {
  ExprPtr condition;
  std::unique_ptr<Body> body;
  bool otherwise = false;  // an `else`: the statement before it is its `if`
};

struct Statement {
  Extent at;
  std::variant<Call, For, While, If> node;
};

struct Body {
  std::vector<const Variable*> names;  // declared by `df`
  std::vector<Statement> statements;
  std::vector<ReadCount> counts;
  std::vector<NameUse> deletes;  // names of blocks around it, freed when all of it has finished
};

struct Sub {
  std::string name;
  Extent at;
  std::vector<const Variable*> parameters;  // nfparams behind the others
  std::size_t hidden = 0;                   // how many nfparams
  Body body;
  bool used = false;  // reachable from main
};

struct ForeignText {
  std::string text;
  Extent at;
  bool braces = false;
};
struct InPlaceKernel {
  const Kernel* kernel = nullptr;
  ForeignText body;
};

// Model owns all of it; addresses are stable.
struct Model {
  std::deque<Variable> variables;
  std::deque<Kernel> kernels;
  std::deque<Sub> subs;
  std::vector<InPlaceKernel> in_place;
  std::vector<ForeignText> heads;
  const Sub* main = nullptr;
  // The parameters of the user's `main` as they were written: with results `main` above is a sub around it.
  std::vector<const Variable*> main_parameters;
  const Variable* ranks = nullptr;  // if it is mentioned
};

}  // namespace tessera::compiler::semantics
