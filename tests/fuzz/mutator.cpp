#include "mutator.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace tessera::fuzz {
namespace {

const char* const kTokens[] = {"{",
                               "}",
                               "(",
                               ")",
                               "[",
                               "]",
                               ";",
                               ",",
                               "df x;",
                               " for ",
                               " if ",
                               " while ",
                               " let ",
                               " $",
                               "${{",
                               "$}}",
                               "\n#define ",
                               "\n#ifdef X\n",
                               "\n#else\n",
                               "\n#endif\n",
                               "\n#undef ",
                               "\n#include \"",
                               "\"",
                               " @ {",
                               " >> ",
                               " --> ",
                               " .. ",
                               " => ",
                               " == ",
                               " 0 ",
                               " 1.5 ",
                               "\n",
                               "/*",
                               "*/",
                               "//",
                               "`",
                               " sub ",
                               " C++ ",
                               " C++ head ${<END}",
                               "END",
                               " ${<}",
                               " ${<A B} x A B",
                               "`word,",
                               "`\\",
                               " ? ",
                               " : ",
                               " - ",
                               " out ",
                               " name ",
                               " all ",
                               "\\",
                               " int(",
                               " % ",
                               " && ",
                               " import ",
                               " as ",
                               " cf a: ",
                               " main",
                               " else ",
                               "<<",
                               " stealable; ",
                               " delete ",
                               " req_count ",
                               " locator_cyclic: ",
                               " nfparam ",
                               " real ",
                               " value & ",
                               "\xEF\xBB\xBF",
                               "1e999",
                               "99999999999999999999",
                               "2147483648",
                               "-2147483648",
                               "0x10",
                               "1.",
                               ".5",
                               "1e",
                               "'a'"};

struct Token {
  std::size_t begin, end;
};

// tokens splits as a person would: words, numbers, strings, runs of signs.
std::vector<Token> tokens(const std::string& text) {
  std::vector<Token> all;
  std::size_t k = 0;
  while (k < text.size()) {
    const std::size_t begin = k;
    const auto c = static_cast<unsigned char>(text[k]);
    if (std::isspace(c) != 0) {
      ++k;
      continue;
    }
    if (std::isalnum(c) != 0 || c == '_') {
      while (k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) != 0 || text[k] == '_')) {
        ++k;
      }
    } else if (c == '"') {
      k = std::min(text.size(), text.find('"', k + 1) == std::string::npos ? text.size() : text.find('"', k + 1) + 1);
    } else {
      ++k;
      if (k < text.size() && std::strchr("=.><&|-", text[k]) != nullptr && text[k] != '\0') ++k;
    }
    all.push_back({begin, k});
  }
  return all;
}

std::string repeated(const char* part, std::size_t n) {
  std::string out;
  for (std::size_t k = 0; k < n; ++k) out += part;
  return out;
}

}  // namespace

void Mutator::change_bytes(std::string& text) {
  const std::size_t at = below(text.size());
  const std::size_t length = 1 + below(std::min<std::size_t>(30, text.size() - at));
  switch (below(6)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, text.substr(below(text.size()), length));
      break;
    case 2:
      text[at] = static_cast<char>(below(256));
      break;
    case 3:
      text.insert(at, kTokens[below(std::size(kTokens))]);
      break;
    case 4: {
      const std::string& other = others_[below(others_.size())];
      if (!other.empty()) text.insert(at, other.substr(below(other.size()), length * 4));
      break;
    }
    default:
      if (below(4) == 0) text.resize(at);
  }
}

void Mutator::change_tokens(std::string& text) {
  const std::vector<Token> all = tokens(text);
  if (all.size() < 3) return;
  const std::size_t k = below(all.size() - 1);
  const Token a = all[k];
  const std::string one = text.substr(a.begin, a.end - a.begin);
  const Token b = all[below(all.size())];
  const std::string other = text.substr(b.begin, b.end - b.begin);
  switch (below(6)) {
    case 0:
      text.erase(a.begin, a.end - a.begin);
      break;
    case 1:
      text.insert(a.begin, one + " ");
      break;
    case 2:
      text.replace(a.begin, a.end - a.begin, other);
      break;
    case 3: {  // two neighbours change places
      const Token next = all[k + 1];
      const std::string second = text.substr(next.begin, next.end - next.begin);
      text.replace(a.begin, next.end - a.begin, second + " " + one);
      break;
    }
    case 4: {  // one bracket more or less
      const std::size_t at = text.find_first_of("{}()[]", a.begin);
      if (at == std::string::npos) break;
      if (below(2) == 0) {
        text.erase(at, 1);
      } else {
        text.insert(at, 1, text[at]);
      }
      break;
    }
    default: {  // a whole range again, somewhere else
      const Token last = all[std::min(all.size() - 1, k + below(40))];
      text.insert(b.begin, text.substr(a.begin, last.end - a.begin) + " ");
    }
  }
}

std::string Mutator::harmful() {
  const std::size_t n = below(8) == 0 ? 20000 : 1 + below(400);
  static const char* const kDeep[] = {
      "(",   "[",    "{",   "if 1 ",    "-",    "x[",   "int(",      "for i=0..1 ",          "let a=1 ", "1 ? ",
      "$M(", "@ { ", "/* ", "\"a\" + ", "1 + ", "1 < ", "sub f() {", "while 1, i=0..out w ", "a && ",    "#ifdef A\n"};
  switch (below(10)) {
    case 8:
      return "\n#define N(a) $a\n" + repeated("$N(", n) + "1" + repeated(")", n);
    case 0:
      return repeated(kDeep[below(std::size(kDeep))], n);
    case 1:
      return "\n#define LOOP $LOOP + 1\n#define A $B\n#define B $A\n";
    case 2: {  // doubles at each step
      std::string text = "\n#define D0 x\n";
      for (int k = 1; k < 40; ++k) {
        const std::string before = "$D" + std::to_string(k - 1);
        text += "#define D" + std::to_string(k) + " " + before + " " + before + "\n";
      }
      return text + "$D39 ";
    }
    case 3: {  // a `let` that doubles
      std::string text = " let l0 = 1";
      for (int k = 1; k < 40; ++k) {
        const std::string before = "l" + std::to_string(k - 1);
        text += ", l" + std::to_string(k) + " = " + before + " + " + before;
      }
      return text + " { show(\"\", l39); } ";
    }
    case 4:
      return " " + std::string(n, '9') + " ";
    case 5:
      return " " + std::string(n, 'n') + " ";
    case 6:
      return "\n#define F(a, b) $F($b, $a)\n$F(1, 2) $F(1 $F(\n";
    case 7:
      return "\n#include \"input.fa\"\n";
    default:
      return std::string(1 + below(20), static_cast<char>(below(256)));
  }
}

std::string Mutator::operator()(std::string text) {
  for (std::size_t left = 1 + below(5); left > 0 && !text.empty(); --left) {
    const std::size_t what = below(20);
    if (what < 8) {
      change_bytes(text);
    } else if (what < 18) {
      change_tokens(text);
    } else {
      const std::vector<Token> all = tokens(text);
      text.insert(all.empty() ? 0 : all[below(all.size())].begin, harmful());
    }
  }
  return text;
}

}  // namespace tessera::fuzz
