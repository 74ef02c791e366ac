#include "compiler/format/layout.hpp"

#include <algorithm>

namespace tessera::compiler::format {
namespace {

using Kind = Piece::Kind;

constexpr int kStep = 2;
constexpr int kContinued = 4;

bool is_head(const Piece& p) {
  return p.is("for") || p.is("while") || p.is("if") || p.is("else") || p.is("let") || p.is("sub");
}

bool is_word(const Piece& p) { return p.kind == Kind::name || p.kind == Kind::macro; }

}  // namespace

const Layout::Frame& Layout::around() const {
  auto frame = state_.frames.rbegin();
  while (frame->kind == Frame::Kind::bracket) ++frame;
  return *frame;
}

// In a head an expression ends where an operand is followed by a word: there the body begins.
bool Layout::begins_body(const Piece& p) const {
  if (!state_.statement || !state_.head) return false;
  if (state_.frames.back().kind == Frame::Kind::bracket) return false;
  return p.is("{") || p.is("cf") || is_head(p) || (is_word(p) && state_.operand);
}

int Layout::of_else() const {
  const Frame& frame = around();
  return frame.ifs.empty() ? frame.indent + kStep : frame.ifs.back();
}

int Layout::indent(const Piece* first) const {
  if (first == nullptr) return 0;
  if (first->is("}")) return std::max(0, around().indent);
  const bool bracket = state_.frames.back().kind == Frame::Kind::bracket;
  if (first->is("else") && !state_.statement) return of_else();
  const bool fresh = !state_.statement || (state_.only_macro && !bracket);
  if (fresh) return around().indent + kStep;
  if (begins_body(*first)) return state_.indent + (first->is("{") ? 0 : kStep);
  if (state_.behind_block || first->is(")") || first->is("]")) return state_.indent;
  return state_.indent + (first->is("@") ? kStep : kContinued);
}

void Layout::begin(const Piece& p, int indent) {
  state_.statement = true;
  state_.head = is_head(p);
  state_.import = p.is("import");
  state_.only_macro = p.kind == Kind::macro;
  state_.behind_block = false;
  state_.operand = p.is("else");  // no expression follows: the body does
  state_.indent = indent;
  if (state_.frames.back().kind != Frame::Kind::bracket && p.is("if")) state_.frames.back().ifs.push_back(indent);
}

void Layout::open(const Piece& p) {
  if (!p.is("{")) {
    state_.frames.push_back({Frame::Kind::bracket, state_.line, 0});
    return;
  }
  if (state_.at) {
    state_.frames.push_back({Frame::Kind::advice, state_.line, 0});
  } else {
    state_.frames.push_back({Frame::Kind::block, state_.indent, 0});
  }
  state_.statement = false;
}

// Behind `}` of a block the statement is over, and with it all heads around it; behind `}` of
// advice the call that it belongs to goes on.
void Layout::close(const Piece* next) {
  while (state_.frames.back().kind == Frame::Kind::bracket) state_.frames.pop_back();
  const Frame frame = state_.frames.back();
  if (frame.kind == Frame::Kind::file) return;
  state_.frames.pop_back();
  const bool advised = next != nullptr && next->is("@");
  const bool goes_on = frame.kind == Frame::Kind::advice && next != nullptr && next->is(";");
  state_.statement = advised || goes_on;
  state_.head = state_.import = state_.only_macro = false;
  state_.behind_block = advised;
  state_.indent = frame.indent;
}

void Layout::take(const Piece& p, const Piece* next, bool line_start, int indent) {
  if (line_start) state_.line = indent;
  const bool bracket = state_.frames.back().kind == Frame::Kind::bracket;
  if (line_start && state_.only_macro && !bracket) state_.statement = false;
  if (!state_.statement && p.is("else")) {
    const int at = of_else();
    if (!bracket && !state_.frames.back().ifs.empty()) state_.frames.back().ifs.pop_back();
    begin(p, at);
  } else if (!state_.statement && !p.is("}")) {
    if (!bracket) state_.frames.back().ifs.clear();
    begin(p, line_start ? indent : state_.line);
  } else if (begins_body(p) && !p.is("{")) {
    begin(p, line_start ? indent : state_.indent);
  } else if (!bracket && !p.is("(") && !p.is("[")) {
    state_.only_macro = false;
  }
  const bool operand = is_word(p) || p.kind == Kind::number || p.kind == Kind::string;
  if (p.is("(") || p.is("[") || p.is("{")) {
    open(p);
  } else if (p.is(")") || p.is("]")) {
    if (state_.frames.back().kind == Frame::Kind::bracket) state_.frames.pop_back();
  } else if (p.is("}")) {
    close(next);
  } else if (p.is("?")) {
    ++state_.frames.back().questions;
  } else if (p.is(":") && state_.frames.back().questions > 0) {
    --state_.frames.back().questions;
  } else if ((p.is(";") && state_.frames.back().kind != Frame::Kind::bracket) || p.kind == Kind::foreign) {
    state_.statement = false;
    state_.frames.back().questions = 0;
  }
  state_.operand = operand || p.is(")") || p.is("]") || p.is("else");
  state_.at = p.is("@");
}

void Layout::directive(const Piece& piece) {
  const std::string_view word = directive_word(piece);
  if (word == "ifdef" || word == "ifndef") conditions_.push_back(state_);
  if (conditions_.empty()) return;
  if (word == "else") state_ = conditions_.back();
  if (word == "endif") conditions_.pop_back();
}

}  // namespace tessera::compiler::format
