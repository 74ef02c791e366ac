#include "compiler/syntax/lexer.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "compiler/source/scan.hpp"

namespace tessera::compiler::syntax {
namespace {

constexpr std::string_view kKeywords[] = {"sub",    "import", "as",    "cf",   "df",  "for", "while",
                                          "if",     "else",   "let",   "in",   "out", "int", "real",
                                          "string", "name",   "value", "SIZE", "C++"};

// Longest first, so that the first match is the longest.
constexpr std::string_view kSigns[] = {"-->", "..", "=>", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>",
                                       "(",   ")",  "[",  "]",  "{",  "}",  ",",  ";",  ":",  "=",  "<",
                                       ">",   "+",  "-",  "*",  "/",  "%",  "?",  "@",  "&",  "!"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  Lexer(const MappedText& text, Diagnostics& diagnostics) : text_(text.text), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    while (true) {
      while (pos_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[pos_])) != 0) {
        ++pos_;
      }
      if (pos_ >= text_.size()) break;
      next();
    }
    add(TokenKind::end, text_.size());
    return std::move(tokens_);
  }

 private:
  Extent extent(std::size_t end) const { return {static_cast<std::uint32_t>(pos_), static_cast<std::uint32_t>(end)}; }
  Token& add(TokenKind kind, std::size_t end) {
    Token t;
    t.kind = kind;
    t.text = text_.substr(pos_, end - pos_);
    t.extent = extent(end);
    tokens_.push_back(std::move(t));
    pos_ = end;
    return tokens_.back();
  }

  void next() {
    const char c = text_[pos_];
    if (is_name_start(c)) {
      if (text_.substr(pos_, 3) == "C++") {
        add(TokenKind::keyword, pos_ + 3);
        return;
      }
      const std::size_t end = end_of_name(text_, pos_);
      const bool keyword = is_keyword(text_.substr(pos_, end - pos_));
      add(keyword ? TokenKind::keyword : TokenKind::name, end);
    } else if (is_digit(c)) {
      number();
    } else if (c == '"') {
      string();
    } else if (const auto foreign = foreign_at(text_, pos_)) {
      Token& t = add(TokenKind::foreign, foreign->after == 0 ? text_.size() : foreign->after);
      t.value = text_.substr(foreign->begin, foreign->end - foreign->begin);
      t.value_begin = static_cast<std::uint32_t>(foreign->begin);
      t.braces = foreign->braces;
    } else {
      sign();
    }
  }

  void number() {
    std::size_t end = pos_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    bool real = false;
    if (end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1])) {
      real = true;
      ++end;
      while (end < text_.size() && is_digit(text_[end])) ++end;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      std::size_t digits = end + 1;
      if (digits < text_.size() && (text_[digits] == '+' || text_[digits] == '-')) ++digits;
      if (digits < text_.size() && is_digit(text_[digits])) {
        real = true;
        end = digits;
        while (end < text_.size() && is_digit(text_[end])) ++end;
      }
    }
    if (end < text_.size() && is_name_char(text_[end])) {
      std::size_t stop = end;
      while (stop < text_.size() && is_name_char(text_[stop])) ++stop;
      diagnostics_.error(
          "T120", extent(stop),
          quote(text_.substr(pos_, stop - pos_)) + " is neither a number nor a name: names begin with a letter");
      end = stop;
      Token& t = add(TokenKind::integer, end);
      t.text = "0";
      return;
    }
    add(real ? TokenKind::real : TokenKind::integer, end);
  }

  void string() {
    const std::size_t end = end_of_string(text_, pos_).value_or(text_.size());
    const std::size_t begin = pos_;
    Token& t = add(TokenKind::string, end);
    const bool closed = end - begin >= 2 && text_[end - 1] == '"';
    for (std::size_t k = begin + 1; k < end - (closed ? 1 : 0); ++k) {
      if (text_[k] != '\\' || k + 1 >= end) {
        t.value += text_[k];
        continue;
      }
      const char c = text_[++k];
      switch (c) {
        case 'n':
          t.value += '\n';
          break;
        case 't':
          t.value += '\t';
          break;
        case 'r':
          t.value += '\r';
          break;
        case '\\':
        case '"':
        case '\'':
          t.value += c;
          break;
        case '\n':
          break;  // the line goes on
        default:
          t.value += {'\\', c};
          break;
      }
    }
  }

  void sign() {
    if (const std::size_t length = sign_length(text_.substr(pos_))) {
      add(TokenKind::sign, pos_ + length);
      return;
    }
    if (text_.substr(pos_, 4096).find('\0') != std::string_view::npos) {
      diagnostics_.error("T121", extent(pos_ + 1), "this is no text: bytes of value 0 follow; give a program (.fa)");
      pos_ = text_.size();
      return;
    }
    std::size_t end = pos_ + 1;  // a whole UTF-8 character
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0u) == 0x80u) ++end;
    const char c = text_[pos_];
    const bool printable = c > ' ' && c != 0x7f;
    const bool utf8 = static_cast<unsigned char>(c) >= 0xC0u;
    std::string shown = "a byte " + std::to_string(static_cast<unsigned char>(c));
    if (printable || utf8) shown = quote(text_.substr(pos_, end - pos_));
    std::string hint;
    if (c == '|') hint = "; write `||`";
    if (c == '.') hint = "; a range is written `first .. last`";
    if (c == '\'') hint = "; strings are written in double quotes";
    if (c == '#') hint = "; a directive must begin its line";
    diagnostics_.error("T121", extent(end), shown + " means nothing here" + hint);
    pos_ = end;
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  std::size_t pos_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

bool is_keyword(std::string_view word) {
  return std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords);
}

const std::vector<std::string_view>& keywords() {
  static const std::vector<std::string_view> kAll(std::begin(kKeywords), std::end(kKeywords));
  return kAll;
}

std::size_t sign_length(std::string_view text) {
  for (const std::string_view s : kSigns) {
    if (text.substr(0, s.size()) == s) return s.size();
  }
  return 0;
}

std::vector<Token> lex(const MappedText& text, Diagnostics& diagnostics) { return Lexer(text, diagnostics).run(); }

}  // namespace tessera::compiler::syntax
