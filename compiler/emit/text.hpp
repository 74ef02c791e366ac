// Small pieces of C++ text.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compiler/source/sources.hpp"

namespace tessera::compiler::block {
struct Program;
struct Uses;
}  // namespace tessera::compiler::block

namespace tessera::compiler::emit {

// literal is `text` as a C++ string literal.
std::string literal(std::string_view text);

using UsesNames = std::map<const block::Uses*, std::string>;  // of their functions

// Context: what every part of the emitter needs.
struct Context {
  const Sources& sources;
  const MappedText& text;
  const block::Program& program;
  const UsesNames* uses = nullptr;  // once they are written

  std::string pos(Extent at) const;      // an expression of type Pos
  std::string written(Extent at) const;  // the source text on one line, as a literal
};

}  // namespace tessera::compiler::emit
