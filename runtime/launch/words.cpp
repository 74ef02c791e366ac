#include "runtime/launch/words.hpp"

#include <algorithm>
#include <stdexcept>

namespace tessera::launch {

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;  // a word has begun, perhaps an empty quoted one
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      const bool escape =
          c == '\\' && quote == '"' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\');
      if (c == quote) {
        quote = 0;
      } else {
        word += escape ? text[++i] : c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      inside = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (inside) words.push_back(std::move(word));
      word.clear();
      inside = false;
    } else {
      word += c == '\\' && i + 1 < text.size() ? text[++i] : c;
      inside = true;
    }
  }
  if (quote != 0) throw std::invalid_argument(std::string("the quote ") + quote + " is not closed");
  if (inside) words.push_back(std::move(word));
  return words;
}

std::string join_words(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
  std::string text;
  for (const std::string& w : words) {
    if (!text.empty()) text += ' ';
    if (!w.empty() && w.find_first_not_of(kPlain) == std::string::npos) {
      text += w;
      continue;
    }
    text += '\'';
    for (const char c : w) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

}  // namespace tessera::launch
