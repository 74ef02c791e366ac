#include "compiler/format/pieces.hpp"

#include "compiler/source/scan.hpp"
#include "compiler/syntax/token.hpp"

namespace tessera::compiler::format {
namespace {

using Kind = Piece::Kind;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The same decisions as Preprocessor::file and the lexer make, in one pass over one file.
class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}

  std::vector<Piece> run() {
    if (text_.substr(0, 2) == "#!") add(Kind::directive, without_return(find('\n', 0)));
    bool line_start = true;
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (c == '#' && line_start) {
        directive();
        continue;
      }
      const bool comment = comment_at(pos_);
      next();
      if (comment) continue;
      line_start = c == '\n' || (line_start && is_blank(c));
      if (out_.back().kind == Kind::newline) line_start = true;
    }
    return std::move(out_);
  }

 private:
  bool comment_at(std::size_t k) const {
    return text_[k] == '`' || text_.substr(k, 2) == "//" || text_.substr(k, 2) == "/*";
  }
  std::size_t find(char c, std::size_t from) const {
    const std::size_t found = text_.find(c, from);
    return found == text_.npos ? text_.size() : found;
  }
  // `\r\n` is one newline: the `\r` does not belong to what stands before.
  std::size_t without_return(std::size_t end) const {
    return end < text_.size() && end > pos_ && text_[end - 1] == '\r' ? end - 1 : end;
  }
  void add(Kind kind, std::size_t end) {
    out_.push_back({kind, text_.substr(pos_, end - pos_), static_cast<std::uint32_t>(pos_)});
    pos_ = end;
  }

  // A directive's line as Preprocessor::line_of reads it.
  void directive() {
    std::size_t k = pos_;
    while (k < text_.size() && text_[k] != '\n') {
      if (text_[k] == '\\' && text_.substr(k + 1, 1) == "\n") {
        k += 2;
      } else if (text_[k] == '\\' && text_.substr(k + 1, 2) == "\r\n") {
        k += 3;
      } else if (comment_at(k)) {
        k = end_of_comment(text_, k).value_or(text_.size());
      } else if (text_[k] == '"') {
        k = end_of_string(text_, k).value_or(text_.size());
      } else {
        ++k;
      }
    }
    const std::size_t end = without_return(k);
    if (!out_.empty() && out_.back().kind == Kind::blank) {  // its indentation belongs to it
      pos_ = out_.back().begin;
      out_.pop_back();
    }
    add(Kind::directive, end);
  }

  void next() {
    const char c = text_[pos_];
    if (c == '\n' || text_.substr(pos_, 2) == "\r\n") {
      add(Kind::newline, pos_ + (c == '\n' ? 1 : 2));
    } else if (is_blank(c)) {
      std::size_t end = pos_;
      while (end < text_.size() && is_blank(text_[end]) && text_.substr(end, 2) != "\r\n") ++end;
      add(Kind::blank, end);
    } else if (comment_at(pos_)) {
      const std::size_t end = end_of_comment(text_, pos_).value_or(text_.size());
      const Kind kind = c == '`'                 ? Kind::word_comment
                        : text_[pos_ + 1] == '/' ? Kind::line_comment
                                                 : Kind::block_comment;
      add(kind, kind == Kind::line_comment ? without_return(end) : end);
    } else if (c == '"') {
      add(Kind::string, end_of_string(text_, pos_).value_or(text_.size()));
    } else if (c == '$') {
      const auto foreign = foreign_at(text_, pos_);
      const std::size_t end = end_of_name(text_, pos_ + 1);
      if (foreign) {
        add(Kind::foreign, foreign->after == 0 ? text_.size() : foreign->after);
      } else {
        add(end == pos_ + 1 ? Kind::other : Kind::macro, end);
      }
    } else if (is_name_start(c)) {
      std::size_t end = end_of_name(text_, pos_);
      if (text_.substr(pos_, 3) == "C++") end = pos_ + 3;
      add(syntax::is_keyword(text_.substr(pos_, end - pos_)) ? Kind::keyword : Kind::name, end);
    } else if (is_digit(c)) {
      add(Kind::number, end_of_number());
    } else if (const std::size_t length = syntax::sign_length(text_.substr(pos_))) {
      add(Kind::sign, pos_ + length);
    } else {
      add(Kind::other, pos_ + 1);
    }
  }

  std::size_t end_of_number() const {
    std::size_t end = pos_;
    const auto digits = [&] {
      while (end < text_.size() && is_digit(text_[end])) ++end;
    };
    digits();
    if (end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1])) {
      ++end;
      digits();
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      std::size_t exponent = end + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      if (exponent < text_.size() && is_digit(text_[exponent])) {
        end = exponent;
        digits();
      }
    }
    while (end < text_.size() && is_name_char(text_[end])) ++end;
    return end;
  }

  std::string_view text_;
  std::size_t pos_ = 0;
  std::vector<Piece> out_;
};

}  // namespace

std::vector<Piece> pieces(std::string_view text) { return Cutter(text).run(); }

std::string_view directive_word(const Piece& directive) {
  std::size_t k = directive.text.find('#') + 1;
  while (k < directive.text.size() && is_blank(directive.text[k])) ++k;
  return directive.text.substr(k, end_of_name(directive.text, k) - k);
}

}  // namespace tessera::compiler::format
