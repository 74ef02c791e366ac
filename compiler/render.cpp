// render: a diagnostic as people read it.
//
//   prog.fa:4:8: error: unknown name `n`; did you mean `m`? [T202]
//      4 |   init(n, x);
//        |        ^
//   prog.fa:2:3: note: ...
#include <algorithm>
#include <fstream>
#include <string>

#include "compiler/compiler.hpp"

namespace tessera::compiler {
namespace {

constexpr std::size_t kWidest = 160;  // a longer source line is shown from near the caret

// inside_character: of UTF-8, not its first byte.
bool inside_character(char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u; }

// harmless replaces what a terminal would obey, and a zero, which would end the message.
std::string harmless(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7F) c = '?';
  }
  return text;
}

std::string source_line(const Span& span) {
  std::ifstream in(span.file, std::ios::binary);
  std::string line;
  for (int k = 0; k < span.line; ++k) {
    if (!std::getline(in, line)) return "";
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return harmless(std::move(line));
}

// excerpt prints the line and a caret line under it; tabs stay tabs, so that the columns agree.
std::string excerpt(const Span& span, const char* paint, const char* plain) {
  std::string line = source_line(span);
  if (line.empty()) return "";
  std::size_t first = static_cast<std::size_t>(span.column - 1);
  if (first > line.size()) first = line.size();
  if (line.size() > kWidest) {
    std::size_t from = first > kWidest / 2 ? first - kWidest / 2 : 0;
    while (from > 0 && inside_character(line[from])) --from;
    std::size_t to = std::min(line.size(), from + kWidest);
    while (to < line.size() && inside_character(line[to])) ++to;
    line = line.substr(from, to - from);
    first -= from;
  }
  std::size_t length = static_cast<std::size_t>(span.length);
  if (first + length > line.size()) length = line.size() > first ? line.size() - first : 1;
  std::string number = std::to_string(span.line);
  if (number.size() < 5) number.insert(0, 5 - number.size(), ' ');
  std::string out = number + " | " + line + "\n" + std::string(number.size(), ' ') + " | ";
  for (std::size_t k = 0; k < first; ++k) {
    if (inside_character(line[k])) continue;
    out += line[k] == '\t' ? '\t' : ' ';
  }
  std::string mark = "^";
  for (std::size_t k = first + 1; k < first + length && k < line.size(); ++k) {
    if (!inside_character(line[k])) mark += '~';
  }
  return out + paint + mark + plain + "\n";
}

std::string place(const Span& span) {
  if (span.line == 0) return span.file + ": ";
  return span.file + ":" + std::to_string(span.line) + ":" + std::to_string(span.column) + ": ";
}

}  // namespace

std::string render(const Diagnostic& d, bool colour) {
  const char* bold = colour ? "\033[1m" : "";
  const char* plain = colour ? "\033[0m" : "";
  const char* word = d.severity == Severity::error     ? "error: "
                     : d.severity == Severity::warning ? "warning: "
                                                       : "note: ";
  const char* paint = !colour                           ? ""
                      : d.severity == Severity::error   ? "\033[1;31m"
                      : d.severity == Severity::warning ? "\033[1;35m"
                                                        : "\033[1;36m";
  std::string out = bold + place(d.span) + paint + word + plain + harmless(d.text);
  if (!d.code.empty()) out += " [" + d.code + "]";
  out += "\n" + excerpt(d.span, paint, plain);
  for (const Note& n : d.notes) {
    out += bold + place(n.span) + (colour ? "\033[1;36m" : "") + "note: " + plain + harmless(n.text) + "\n";
    out += excerpt(n.span, colour ? "\033[1;36m" : "", plain);
  }
  return out;
}

}  // namespace tessera::compiler
