// Pieces: a source file as written, cut without losing a byte. Formatting and editors work on
// these, since tokens of the preprocessed text no longer know comments, directives and macro uses.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera::compiler::format {

struct Piece {
  enum class Kind : std::uint8_t {
    newline,
    blank,
    line_comment,
    block_comment,
    word_comment,
    directive,  // the whole line, with continuations and leading blanks; and a first line `#! ...`
    macro,      // `$NAME`, without arguments
    name,
    keyword,
    number,
    string,
    foreign,
    sign,
    other  // what means nothing by itself: `\`, a lone `$`, bytes that begin no token
  };
  Kind kind = Kind::other;
  std::string_view text;
  std::uint32_t begin = 0;

  bool is_comment() const {
    return kind == Kind::line_comment || kind == Kind::block_comment || kind == Kind::word_comment;
  }
  bool is_space() const { return kind == Kind::newline || kind == Kind::blank; }
  bool is(std::string_view word) const { return (kind == Kind::sign || kind == Kind::keyword) && text == word; }
};

// pieces cuts `text`; put together again they are `text`. The views point into it.
std::vector<Piece> pieces(std::string_view text);

// The word behind `#` in a directive: "define", "ifdef", or "" for `#!`.
std::string_view directive_word(const Piece& directive);

}  // namespace tessera::compiler::format
