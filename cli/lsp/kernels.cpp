#include "cli/lsp/kernels.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "cli/lsp/documentation.hpp"
#include "files/whole_file.hpp"

namespace tessera::cli::lsp {
namespace {

struct Token {
  std::string_view text;
  std::uint32_t begin = 0;
};

// Tokens of C++ as far as the outlines of functions need them; comments and directives are left
// out.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> all;
  const auto word = [&](std::size_t k) {
    return std::isalnum(static_cast<unsigned char>(text[k])) != 0 || text[k] == '_';
  };
  bool line_start = true;
  for (std::size_t k = 0; k < text.size();) {
    const char c = text[k];
    std::size_t end = k + 1;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      line_start = line_start || c == '\n';
      k = end;
      continue;
    }
    if (text.substr(k, 2) == "//" || (c == '#' && line_start)) {
      while (end < text.size() && (text[end] != '\n' || text[end - 1] == '\\')) ++end;
      k = end;
      continue;
    }
    if (text.substr(k, 2) == "/*") {
      end = text.find("*/", k + 2);
      k = end == text.npos ? text.size() : end + 2;
      continue;
    }
    line_start = false;
    if (text.substr(k, 2) == "R\"") {
      const std::size_t open = std::min(text.find('(', k), text.size());
      const std::string close = ")" + std::string(text.substr(k + 2, open - std::min(open, k + 2))) + "\"";
      end = text.find(close, open);
      end = end == text.npos ? text.size() : end + close.size();
    } else if (c == '"' || c == '\'') {
      while (end < text.size() && text[end] != c && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
    } else if (word(k)) {
      while (end < text.size() && (word(end) || (text[end] == '\'' && end + 1 < text.size() &&
                                                 std::isdigit(static_cast<unsigned char>(c)) != 0))) {
        ++end;
      }
    }
    all.push_back({text.substr(k, end - k), static_cast<std::uint32_t>(k)});
    k = end;
  }
  return all;
}

class Outline {
 public:
  explicit Outline(std::string_view text) : text_(text), all_(tokens_of(text)) {}

  std::vector<CxxFunction> run() {
    std::vector<bool> externals;  // one per brace that is looked into
    std::size_t start = 0;        // of the declaration
    for (std::size_t k = 0; k < all_.size(); ++k) {
      const std::string_view t = all_[k].text;
      const bool language = k + 1 < all_.size() && t == "extern" && all_[k + 1].text == "\"C\"";
      const bool outer = !externals.empty() && externals.back();
      if (language && is(k + 2, "{")) {
        externals.push_back(true);
        k += 2;
        start = k + 1;
      } else if (t == "namespace") {
        while (k < all_.size() && !is(k, "{") && !is(k, ";")) ++k;
        if (is(k, "{")) externals.push_back(outer);
        start = k + 1;
      } else if (t == "}") {
        if (!externals.empty()) externals.pop_back();
        start = k + 1;
      } else if (t == ";") {
        start = k + 1;
      } else if (t == "{") {  // a class, an initializer
        k = behind(k, "{", "}") - 1;
      } else if (is(k + 1, "(") && is_name(t)) {
        k = function(start, k, outer);
        start = k + 1;
      }
    }
    return std::move(found_);
  }

 private:
  bool is(std::size_t k, std::string_view word) const { return k < all_.size() && all_[k].text == word; }
  static bool is_name(std::string_view t) { return std::isalpha(static_cast<unsigned char>(t[0])) != 0 || t[0] == '_'; }
  // behind the bracket that closes the one at `k`.
  std::size_t behind(std::size_t k, std::string_view open, std::string_view close) const {
    int depth = 0;
    for (; k < all_.size(); ++k) {
      if (is(k, open)) ++depth;
      if (is(k, close) && --depth == 0) return k + 1;
    }
    return k;
  }

  // function notes the function whose name is token `k`; returns its last token.
  std::size_t function(std::size_t start, std::size_t k, bool external) {
    const std::size_t close = behind(k + 1, "(", ")");
    std::size_t end = close;
    while (end < all_.size() && !is(end, "{") && !is(end, ";") && !is(end, "}")) ++end;
    const bool body = is(end, "{");
    CxxFunction f;
    f.name = std::string(all_[k].text);
    f.begin = all_[k].begin;
    f.end = f.begin + static_cast<std::uint32_t>(f.name.size());
    f.defined = body;
    f.external = external || (is(start, "extern") && is(start + 1, "\"C\""));
    if (close > k && close <= all_.size()) {
      const Token& last = all_[close - 1];
      for (const char c : text_.substr(all_[start].begin, last.begin + last.text.size() - all_[start].begin)) {
        const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
        if (!space || (!f.signature.empty() && f.signature.back() != ' ')) f.signature += space ? ' ' : c;
      }
    }
    f.documentation = comment_above(text_, all_[start].begin);
    if (start < k) found_.push_back(std::move(f));  // without a type it is a macro's use
    return body ? behind(end, "{", "}") - 1 : end;
  }

  std::string_view text_;
  std::vector<Token> all_;
  std::vector<CxxFunction> found_;
};

}  // namespace

std::vector<CxxFunction> functions_of(std::string_view text) { return Outline(text).run(); }

const CxxFunction* Kernels::find(const std::filesystem::path& folder, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const CxxFunction* best = nullptr;
  const auto worth = [](const CxxFunction& f) { return (f.external ? 2 : 0) + (f.defined ? 1 : 0); };
  std::set<fs::path> sources;  // in a fixed order
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".cpp") sources.insert(entry.path());
  }
  for (const fs::path& path : sources) {
    const auto changed = fs::last_write_time(path, ignored);
    const auto [it, fresh] = files_.try_emplace(path);
    if (fresh || it->second.changed != changed) {
      it->second = {changed, functions_of(files::read_whole(path).value_or(""))};
      for (CxxFunction& f : it->second.functions) f.file = path;
    }
    for (const CxxFunction& f : it->second.functions) {
      if (f.name == name && (best == nullptr || worth(f) > worth(*best))) best = &f;
    }
  }
  return best;
}

}  // namespace tessera::cli::lsp
