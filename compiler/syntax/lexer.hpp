// The lexer: preprocessed text in, tokens out.
#pragma once

#include <vector>

#include "compiler/diagnostics.hpp"
#include "compiler/syntax/token.hpp"

namespace tessera::compiler::syntax {

// lex returns the tokens of `text`, the last of kind `end`. Bytes that begin no token are reported
// and left out.
std::vector<Token> lex(const MappedText& text, Diagnostics& diagnostics);

}  // namespace tessera::compiler::syntax
