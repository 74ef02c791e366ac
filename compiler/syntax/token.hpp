// Tokens of the language.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/place.hpp"

namespace tessera::compiler::syntax {

enum class TokenKind : std::uint8_t { end, name, keyword, integer, real, string, foreign, sign };

// `text` views the preprocessed text; `value` holds what a string or foreign block says.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  Extent extent;
  std::string value;
  std::uint32_t value_begin = 0;  // foreign: where its text begins
  bool braces = false;            // foreign: `${{`, the text lacks its own braces

  bool is(std::string_view word) const {
    return (kind == TokenKind::sign || kind == TokenKind::keyword) && text == word;
  }
};

bool is_keyword(std::string_view word);
const std::vector<std::string_view>& keywords();

// sign_length returns the length of the sign that `text` begins with, or 0.
std::size_t sign_length(std::string_view text);

}  // namespace tessera::compiler::syntax
