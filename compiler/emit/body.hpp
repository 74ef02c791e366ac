// Bodies as C++ text: straight-line code that creates CFs.
#pragma once

#include <string>

#include "compiler/emit/expression.hpp"

namespace tessera::compiler::emit {

// BodyWriter writes the body of one block. The text may use `w`, `c` and `id`, the id of the body.
class BodyWriter {
 public:
  BodyWriter(const Context& context, Environment& environment, std::uint32_t block)
      : context_(context), environment_(environment), expr_(context, environment, block) {}

  std::string write(const block::Body& body);

 private:
  void statements(const block::Body& body, const std::string& id, const std::string& scope, const std::string& indent);
  void spawn(const block::Spawn& spawn, const std::string& id, const std::string& scope, const std::string& indent);
  // decides writes the condition of a fragment that need not be made, where it is known by then; false: there is none.
  bool decides(const block::Spawn& spawn, const std::string& indent);
  void argument(const block::FrameVariable& to, const semantics::Argument& a);
  std::string hidden(const block::Spawn& s, const block::Hidden& h) const;
  void copy(const block::FrameVariable& to);

  const Context& context_;
  Environment& environment_;
  ExpressionWriter expr_;
  std::string out_;
  int depth_ = 0;
};

// slot is the left side of an assignment to a variable in the frame of CF `cf`.
std::string slot(const block::FrameVariable& f, const std::string& cf);

// index_at is the index of a swept name that is its key number `key`; spot is what its assignment is told, as a further
// argument, or "".
std::string index_at(const ExpressionWriter& expr, const Environment& environment, const block::Swept& swept,
                     const semantics::NameUse& name, std::size_t key);
std::string spot(const Context& context, const ExpressionWriter& expr, const Environment& environment,
                 const semantics::NameUse& name);

// deleting calls `function` for a name; for one that may be held, with all that it is part of.
std::string deleting(const Context& context, const ExpressionWriter& expr, const semantics::NameUse& name,
                     const std::string& function, const std::string& arguments, const std::string& indent);

}  // namespace tessera::compiler::emit
