// Blanks within a line, and comments behind lines.
#include <algorithm>

#include "compiler/format/format.hpp"
#include "compiler/format/layout.hpp"
#include "compiler/format/pieces.hpp"

namespace tessera::compiler::format {
namespace {

using Kind = Piece::Kind;

// A line of the result. The comment at its end is kept apart until it is aligned.
struct Line {
  std::string code;
  std::string_view comment;  // a line comment behind code
  int column = 0;            // where it stood
  int gap = 0;               // blanks before it, at least 1
  std::string_view newline;
};

// width of the last line of `text` in characters; tabs go to the next multiple of 8.
int width(std::string_view text) {
  const std::size_t start = text.rfind('\n');
  if (start != text.npos) text.remove_prefix(start + 1);
  int columns = 0;
  for (const char c : text) {
    if (c == '\t') {
      columns += 8 - columns % 8;
    } else if ((static_cast<unsigned char>(c) & 0xC0u) != 0x80u) {
      ++columns;
    }
  }
  return columns;
}

bool one_of(const Piece& p, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return p.is(w); });
}

class Formatter {
 public:
  explicit Formatter(std::string_view text) : text_(text), all_(pieces(text)) {}

  std::string run() {
    std::size_t begin = 0;
    while (begin < all_.size()) {
      std::size_t end = begin;
      while (end < all_.size() && all_[end].kind != Kind::newline) ++end;
      const std::string_view newline = end < all_.size() ? all_[end].text : "";
      line(begin, end);
      lines_.back().newline = newline;
      drop_empty();
      begin = end + 1;
    }
    while (!lines_.empty() && is_empty(lines_.back())) lines_.pop_back();
    align();
    return joined();
  }

 private:
  static bool is_empty(const Line& l) { return l.code.empty() && l.comment.empty(); }

  // No empty line at the beginning, none behind another.
  void drop_empty() {
    if (!is_empty(lines_.back())) return;
    if (lines_.size() == 1 || is_empty(lines_[lines_.size() - 2])) lines_.pop_back();
  }

  // next_code finds the first piece from `k` on that is neither space, comment nor directive.
  const Piece* next_code(std::size_t k) const {
    while (k < all_.size() && (all_[k].is_space() || all_[k].is_comment() || all_[k].kind == Kind::directive)) {
      ++k;
    }
    return k < all_.size() ? &all_[k] : nullptr;
  }

  // A line comment without blanks at its end; but a backslash there would continue the comment.
  static std::string_view comment_text(const Piece& p) {
    std::string_view t = p.text;
    if (p.kind != Kind::line_comment) return t;
    while (t.back() == ' ' || t.back() == '\t') t.remove_suffix(1);
    return t.back() == '\\' ? p.text : t;
  }

  void line(std::size_t begin, std::size_t end) {
    lines_.emplace_back();
    Line& line = lines_.back();
    bool raw = false;
    for (std::size_t k = begin; k < end; ++k) raw = raw || all_[k].kind == Kind::directive;
    if (raw) {
      for (std::size_t k = begin; k < end; ++k) {
        line.code += all_[k].text;
        if (all_[k].kind == Kind::directive) layout_.directive(all_[k]);
      }
      return;
    }
    while (end > begin && all_[end - 1].kind == Kind::blank) --end;
    const Piece* last = nullptr;  // on this line
    bool line_start = true;       // no code yet
    int indent = 0;
    for (std::size_t k = begin; k < end; ++k) {
      const Piece& p = all_[k];
      if (p.kind == Kind::blank) continue;
      const bool had_space = k > begin && all_[k - 1].kind == Kind::blank;
      if (last == nullptr) {
        const Piece* code = next_code(k);
        indent = layout_.indent(code);
        // A comment before the closing brace belongs to what the braces hold.
        if (p.is_comment() && code != nullptr && code->is("}") && !on_line(*code, end)) indent += 2;
        line.code.assign(static_cast<std::size_t>(indent), ' ');
      } else if (p.kind == Kind::line_comment) {
        line.comment = comment_text(p);
        line.column = width(text_.substr(0, p.begin));
        line.gap = std::max(1, line.column - width(text_.substr(0, last->begin + last->text.size())));
        break;
      } else if (spaced(*last, p, k, had_space)) {
        line.code += ' ';
      }
      line.code += comment_text(p);
      if (!p.is_comment()) {
        unary_ = p.is("!") || (p.is("-") && !layout_.behind_operand());
        loose_ = loose(k);
        layout_.take(p, next_code(k + 1), line_start, indent);
        line_start = false;
      }
      last = &p;
    }
  }

  bool on_line(const Piece& p, std::size_t end) const { return end == all_.size() || p.begin < all_[end].begin; }

  // Whether the author put blanks around piece k.
  bool blank_before(std::size_t k) const { return k > 0 && all_[k - 1].is_space(); }
  bool blank_behind(std::size_t k) const { return k + 1 < all_.size() && all_[k + 1].is_space(); }

  // loose: a sign with blanks on both sides. Next to a macro use that it touches it stays as
  // written; ranges and arithmetic read well both ways, so there a blank on one side asks for two.
  bool loose(std::size_t k) const {
    if (all_[k].kind != Kind::sign) return true;
    if (all_[k].is("..")) {
      const Piece* next = next_code(k + 1);
      return blank_before(k) || blank_behind(k) || (next != nullptr && next->is("out"));
    }
    const bool arithmetic = one_of(all_[k], {"+", "-", "*", "/", "%"});
    const auto touches = [](const Piece& p) { return p.kind == Kind::macro || p.kind == Kind::other; };
    if ((k > 0 && touches(all_[k - 1])) || (k + 1 < all_.size() && touches(all_[k + 1]))) return false;
    return !arithmetic || blank_before(k) || blank_behind(k);
  }

  // spaced: whether a blank stands between `a` and `b` (piece k) on one line.
  bool spaced(const Piece& a, const Piece& b, std::size_t k, bool had_space) const {
    if (a.is_comment() || b.is_comment()) return had_space;
    if (a.kind == Kind::other || b.kind == Kind::other) return had_space;
    if (a.is("(") || a.is("[") || one_of(b, {")", "]", ",", ";"})) return false;
    if (a.is(",") || a.is(";")) return true;
    if (a.is("{") && b.is("}")) return false;
    if (one_of(a, {"{", "}", "@"}) || one_of(b, {"{", "}", "@"})) return true;
    if (a.kind == Kind::macro || b.kind == Kind::macro) return had_space;
    if (b.is("(")) {
      if (unary_) return false;
      if (a.is("int") || a.is("real") || a.is("string")) return false;
      return a.kind != Kind::name && a.kind != Kind::macro;
    }
    if (b.is("[")) return a.kind == Kind::sign && !a.is("]") && !a.is(")");
    if (unary_) return a.is("-") && b.is("-");
    if (a.is("&")) return false;  // `value &x`
    if (b.is(":")) return layout_.in_choice() || layout_.in_import();
    if (a.is("..")) return loose_;
    if (b.is("..")) return loose(k);
    if (a.kind == Kind::sign && !one_of(a, {")", "]", ":"})) return loose_ || had_space;
    const bool operand_minus = b.is("-") && !layout_.behind_operand();
    if (b.kind == Kind::sign && !operand_minus && !b.is("&")) return loose(k) || had_space;
    return true;
  }

  // align puts the comments behind consecutive lines into one column when they stood in one.
  void align() {
    for (std::size_t k = 0; k < lines_.size();) {
      std::size_t end = k;
      int code = 0;
      int gap = lines_[k].gap;
      while (end < lines_.size() && !lines_[end].comment.empty() && lines_[end].column == lines_[k].column) {
        code = std::max(code, width(lines_[end].code));
        gap = std::min(gap, lines_[end].gap);
        ++end;
      }
      for (std::size_t j = k; j < end; ++j) {
        Line& l = lines_[j];
        l.code.append(static_cast<std::size_t>(code + gap - width(l.code)), ' ');
        l.code += l.comment;
      }
      k = std::max(end, k + 1);
    }
  }

  std::string joined() const {
    std::string out;
    std::string_view newline = "\n";
    if (!lines_.empty() && !lines_.front().newline.empty()) newline = lines_.front().newline;
    for (const Line& l : lines_) {
      out += l.code;
      if (!l.newline.empty()) {
        out += l.newline;
      } else if (out.empty() || out.back() != '\n') {
        out += newline;
      }
    }
    return out;
  }

  std::string_view text_;
  std::vector<Piece> all_;
  Layout layout_;
  std::vector<Line> lines_;
  bool unary_ = false;  // the last piece of code is the minus sign or `!` of an operand
  bool loose_ = true;   // it is a sign with blanks on both sides, or no sign
};

}  // namespace

std::string laid_out(std::string_view text) { return Formatter(text).run(); }

}  // namespace tessera::compiler::format
