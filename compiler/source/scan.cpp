#include "compiler/source/scan.hpp"

#include <algorithm>

namespace tessera::compiler {
namespace {

// is_continued: the newline at `pos` is preceded by a backslash.
bool is_continued(std::string_view text, std::size_t pos) {
  if (pos > 0 && text[pos - 1] == '\\') return true;
  return pos > 1 && text[pos - 1] == '\r' && text[pos - 2] == '\\';
}

}  // namespace

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_char(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }

std::size_t end_of_name(std::string_view text, std::size_t pos) {
  if (pos >= text.size() || !is_name_start(text[pos])) return pos;
  while (pos < text.size() && is_name_char(text[pos])) ++pos;
  return pos;
}

std::optional<std::size_t> end_of_string(std::string_view text, std::size_t pos) {
  for (std::size_t k = pos + 1; k < text.size(); ++k) {
    if (text[k] == '\\') {
      ++k;
    } else if (text[k] == '"') {
      return k + 1;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> end_of_comment(std::string_view text, std::size_t pos) {
  if (text[pos] == '`') {  // one word
    const auto of_word = [](char c) { return is_name_char(c) || static_cast<unsigned char>(c) >= 0x80; };
    for (++pos; pos < text.size();) {
      if (text[pos] == '\\' && pos + 1 < text.size()) {
        pos += 2;
      } else if (of_word(text[pos])) {
        ++pos;
      } else {
        break;
      }
    }
    return pos;
  }
  if (text.substr(pos, 2) == "/*") {
    const std::size_t end = text.find("*/", pos + 2);
    if (end == text.npos) return std::nullopt;
    return end + 2;
  }
  // A backslash before the newline continues the comment.
  while (pos < text.size() && (text[pos] != '\n' || is_continued(text, pos))) ++pos;
  return pos;
}

std::optional<Foreign> foreign_at(std::string_view text, std::size_t pos) {
  const std::string_view rest = text.substr(pos);
  Foreign f;
  if (rest.substr(0, 3) == "${{") {
    f.braces = true;
    f.terminator = "$}}";
    f.begin = pos + 3;
  } else if (rest.substr(0, 3) == "${<") {
    const std::size_t end = std::min(text.find_first_of("}\n", pos + 3), text.size());
    f.begin = end;
    if (end == text.size() || text[end] != '}' || end == pos + 3) return f;  // after == 0: not terminated
    f.terminator = text.substr(pos + 3, end - pos - 3);
    f.begin = end + 1;
  } else {
    return std::nullopt;
  }
  f.end = text.find(f.terminator, f.begin);
  if (f.end == text.npos) {
    f.end = text.size();
  } else {
    f.after = f.end + f.terminator.size();
  }
  return f;
}

}  // namespace tessera::compiler
