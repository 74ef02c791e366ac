// Layout: how deep each line of a program stands.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/format/pieces.hpp"

namespace tessera::compiler::format {

// Layout follows the statements over the pieces of a file. It trusts nothing: macros may hide any
// part of the structure, and the branches of an #ifdef need not be balanced. Whatever it decides
// depends on the pieces and on which of them begin a line only, so a second formatting changes
// nothing.
class Layout {
 public:
  // indent of a line that begins with `first`, in blanks. With a null pointer (the end of the file)
  // 0.
  int indent(const Piece* first) const;

  // take moves on over one piece that is neither space nor comment; `next` is the one behind it, or
  // null. `line_start` tells that `piece` begins a line, which has this `indent`.
  void take(const Piece& piece, const Piece* next, bool line_start, int indent);

  // directive keeps the state at `#ifdef` for the other branch.
  void directive(const Piece& piece);

  bool in_import() const { return state_.import; }
  // in_choice: a `?` of this bracket still waits for its `:`; asked before the `:` is taken.
  bool in_choice() const { return state_.frames.back().questions > 0; }
  // An operand stands before: a `-` now subtracts.
  bool behind_operand() const { return state_.operand; }

 private:
  struct Frame {
    enum class Kind { file, block, advice, bracket } kind = Kind::file;
    int indent = -2;  // of the line with the closing brace
    int questions = 0;
    std::vector<int> ifs = {};  // where each `if` of the last statement stands that an `else` can belong to
  };
  struct State {
    std::vector<Frame> frames = {Frame{}};
    bool statement = false;  // inside a statement (or a declaration)
    bool head = false;       // which is a `for`, `while`, `if`, `else`, `let` or `sub`: a body follows
    bool import = false;
    bool only_macro = false;    // which so far is one macro use
    bool behind_block = false;  // only advice can follow
    bool operand = false;       // the last piece ends an operand
    int indent = 0;             // of the statement
    int line = 0;               // of the current line
    bool at = false;            // the last piece is `@`
  };
  const Frame& around() const;  // the innermost frame that is no bracket
  bool begins_body(const Piece& piece) const;
  void begin(const Piece& piece, int indent);
  int of_else() const;  // where an `else` stands that comes now
  void open(const Piece& piece);
  void close(const Piece* next);

  State state_;
  std::vector<State> conditions_;
};

}  // namespace tessera::compiler::format
