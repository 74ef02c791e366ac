#include "cli/lsp/documentation.hpp"

#include <algorithm>

namespace tessera::cli::lsp {
namespace {

std::string_view trimmed(std::string_view s) {
  const std::size_t begin = s.find_first_not_of(" \t\r");
  if (begin == s.npos) return "";
  return s.substr(begin, s.find_last_not_of(" \t\r") - begin + 1);
}

// The line that ends at `end` (the offset of its newline, or of the end of the text).
std::string_view line_before(std::string_view text, std::size_t end) {
  const std::size_t newline = end == 0 ? text.npos : text.rfind('\n', end - 1);
  const std::size_t begin = newline == text.npos ? 0 : newline + 1;
  return text.substr(begin, end - begin);
}

// Without the signs of a comment.
std::string_view bare(std::string_view line) {
  line = trimmed(line);
  for (const std::string_view sign : {"///", "//!", "//", "/**", "/*"}) {
    if (line.substr(0, sign.size()) == sign) {
      line.remove_prefix(sign.size());
      break;
    }
  }
  if (line.size() >= 2 && line.substr(line.size() - 2) == "*/") line.remove_suffix(2);
  line = trimmed(line);
  if (line.substr(0, 2) == "* " || line == "*") line.remove_prefix(1);
  return trimmed(line);
}

std::size_t line_start(std::string_view text, std::size_t offset) {
  const std::size_t newline = offset == 0 ? text.npos : text.rfind('\n', offset - 1);
  return newline == text.npos ? 0 : newline + 1;
}

}  // namespace

std::string comment_above(std::string_view text, std::size_t offset) {
  std::size_t at = line_start(text, std::min(offset, text.size()));
  std::vector<std::string_view> lines;
  bool inside = false;  // of a comment of several lines, met from its end
  while (at > 0) {
    const std::string_view line = line_before(text, at - 1);
    const std::string_view t = trimmed(line);
    if (inside) {
      inside = t.find("/*") == t.npos;
      if (!inside && t.substr(0, 2) != "/*") return "";  // behind code
    } else if (t.size() >= 2 && t.substr(t.size() - 2) == "*/") {
      inside = t.find("/*") == t.npos;
      if (!inside && t.substr(0, 2) != "/*") break;
    } else if (t.substr(0, 2) != "//") {
      break;
    }
    lines.push_back(bare(line));
    at -= line.size() + 1;
  }
  if (inside) return "";
  std::string out;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->empty() && (out.empty() || line + 1 == lines.rend())) continue;
    out += (out.empty() ? "" : "\n") + std::string(*line);
  }
  return out;
}

std::string comment_behind(std::string_view text, std::size_t offset) {
  const std::size_t begin = line_start(text, std::min(offset, text.size()));
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  bool string = false;
  for (std::size_t k = 0; k < line.size(); ++k) {
    if (line[k] == '\\') {
      ++k;
    } else if (line[k] == '"') {
      string = !string;
    } else if (!string && line.substr(k, 2) == "//") {
      return std::string(bare(line.substr(k)));
    }
  }
  return "";
}

const Explained& advice_words() {
  static const Explained kWords = {
      {"locator_cyclic",
       "`locator_cyclic: e;` this fragment starts on rank `e mod ranks`. "
       "`locator_cyclic x[i] => e;` says where fragments of `x` live."},
      {"locator_replicating", "`locator_replicating x => e;` keeps copies of `x` on `e` ranks (`all`: everywhere)."},
      {"stealable", "`stealable;` may be taken by an idle rank."},
      {"request", "`request x;` an input to fetch before this fragment runs."},
      {"req_count", "`req_count x = n;` `x` is read `n` times, then freed."},
      {"req_unlimited", "`req_unlimited x;` reads of `x` are not counted."},
      {"delete", "`delete x;` `x` is freed after this fragment."},
      {"push", "`push x => label;` sends `x` straight to the fragment with this label."},
      {"afterpush", "`afterpush x => label;` sends `x` to the fragment with this label."},
      {"wait", "`wait x;` waits for an `x` that is pushed here."},
      {"nfparam",
       "`nfparam n;` declares a parameter for locators; `nfparam n => e;` at the call gives its "
       "value."},
      {"drop", "`drop x;` nobody wants the output `x`."}};
  return kWords;
}

const Explained& pragma_words() {
  static const Explained kWords = {{"rush", "advice to create bodies early"},
                                   {"static", "advice to distribute statically"},
                                   {"static_for", "advice to distribute the loop statically"},
                                   {"unrolling", "advice to create several bodies at a time"}};
  return kWords;
}

const Explained& keyword_words() {
  static const Explained kWords = {
      {"sub", "A piece of program with parameters: `sub twice(int v, name result) { ... }`."},
      {"import", "A kernel from a C++ file: `import scale(real, value, name) as scaled;`."},
      {"C++", "`C++ sub f(int v) ${{ ... $}}` is a kernel written in place."},
      {"df", "Declares data fragments: `df x, y;`. Each is assigned once; `x[i]` are fragments too."},
      {"cf", "Labels a computation fragment: `cf l[i]: f(x);`."},
      {"for", "`for i = first .. last body`: all iterations exist at once."},
      {"while",
       "`while condition, i = start .. out w body`: until the condition is false; `w` gets that "
       "`i`."},
      {"if", "`if condition body`, `if condition body else body`."},
      {"else", "`if condition body else body`: the second body when the condition is 0."},
      {"ranks", "How many ranks there are: those that locators count."},
      {"all", "-1, for `locator_replicating`."},
      {"let", "`let a = expression body`: a name for an expression."},
      {"out", "In `while`: the name that gets the last index."},
      {"as", "In `import`: the kernel's name in the program."},
      {"int", "32-bit integer. `int(e)` converts."},
      {"long", "64-bit integer. `long(e)` converts; no keyword."},
      {"real", "Double. `real(e)` converts."},
      {"string", "Text. `string(e)` converts."},
      {"name", "Parameter: a data fragment, to read or to assign."},
      {"value", "Parameter: the value of a data fragment, of any type."}};
  return kWords;
}

const Explained& directive_words() {
  static const Explained kWords = {{"include", "inserts a file"},
                                   {"define", "defines a macro"},
                                   {"undef", "forgets a macro"},
                                   {"ifdef", "reads on when the macro is defined"},
                                   {"ifndef", "reads on when it is not"},
                                   {"else", ""},
                                   {"endif", ""}};
  return kWords;
}

std::string explanation(const Explained& list, std::string_view word) {
  for (const auto& [known, text] : list) {
    if (known == word) return text;
  }
  return "";
}

}  // namespace tessera::cli::lsp
