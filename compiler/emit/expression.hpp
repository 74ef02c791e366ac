// Expressions of the block program as C++ text.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/block/program.hpp"
#include "compiler/emit/alike.hpp"
#include "compiler/emit/text.hpp"

namespace tessera::compiler::emit {

// Environment: what C++ expression each variable is in the function being written. Names are of
// type Name, ints int, reals double, strings and values Value*.
class Environment {
 public:
  // frame reads all variables of the chain from the CF `c`.
  explicit Environment(const block::Chain& chain);
  void set(const semantics::Variable* v, std::string text) { text_[v] = std::move(text); }
  const std::string& operator[](const semantics::Variable* v) const;

 private:
  std::unordered_map<const semantics::Variable*, std::string> text_;
};

// ExpressionWriter writes expressions of one block, with holes (alike.hpp). The static type decides the C++ type: int
// and real are plain C++, string and dynamic are Dyn; the functions convert to what is asked for.
class ExpressionWriter {
 public:
  ExpressionWriter(const Context& context, const Environment& environment, std::uint32_t block)
      : context_(context), environment_(environment), block_(block) {}
  // Inputs are the elements of an array.
  ExpressionWriter(const Context& context, const Environment& environment, std::string inputs)
      : context_(context), environment_(environment), inputs_(std::move(inputs)) {}

  std::string integer(const semantics::Expr& e) const;     // int; reals are truncated
  std::string longint(const semantics::Expr& e) const;     // std::int64_t; reals are truncated
  std::string real(const semantics::Expr& e) const;        // double
  std::string dyn(const semantics::Expr& e) const;         // Dyn
  std::string condition(const semantics::Expr& e) const;   // bool, in brackets
  std::string name(const semantics::NameUse& n) const;     // Name
  std::string new_string(const semantics::Expr& e) const;  // Value*, a new reference
  std::string new_value(const semantics::Expr& e) const;   // Value*, a new reference
  // borrowed is a Value* that needs no evaluation (an input, a variable), or "".
  std::string borrowed(const semantics::Expr& e) const;

 private:
  std::string native(const semantics::Expr& e) const;  // in the C++ type of e.type
  std::string binary(const semantics::Expr& e) const;
  // number is native, or as a wider type asks for.
  std::string number(const semantics::Expr& e, semantics::Type as) const;
  std::string pos(const semantics::Expr& e) const { return hole(Hole::place, context_.pos(e.at)); }

  const Context& context_;
  const Environment& environment_;
  std::uint32_t block_ = 0;
  std::string inputs_;
};

}  // namespace tessera::compiler::emit
