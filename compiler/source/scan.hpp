// The lexical pieces that preprocessing and lexing must agree on: strings and foreign blocks.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace tessera::compiler {

bool is_name_start(char c);
bool is_name_char(char c);

// end_of_name returns the offset behind the name that starts at `pos` (pos itself when none does).
std::size_t end_of_name(std::string_view text, std::size_t pos);

// end_of_string returns the offset behind the closing quote of the string that opens at `pos`, or
// nothing when it is not closed.
std::optional<std::size_t> end_of_string(std::string_view text, std::size_t pos);

// end_of_comment returns the offset behind the comment that opens at `pos` (`//`, `/*` or a backtick;
// the newline does not belong to it), or nothing when it is not closed. A backtick's comment is the
// word behind it: letters, digits, underscores, and whatever character a backslash stands before.
std::optional<std::size_t> end_of_comment(std::string_view text, std::size_t pos);

// A foreign block: `${{ ... $}}` (braces: the text lacks its own) or `${<TERM} ... TERM`, with any TERM
// that has no `}` and stands in one line.
struct Foreign {
  std::size_t begin = 0;  // of the text inside
  std::size_t end = 0;
  std::size_t after = 0;  // behind the terminator; 0: not terminated
  bool braces = false;
  std::string_view terminator;  // empty: `${<` is not followed by one
};

// foreign_at recognises a foreign block that opens at `pos`; nothing when none does.
std::optional<Foreign> foreign_at(std::string_view text, std::size_t pos);

}  // namespace tessera::compiler
