#include "runtime/launch/words.hpp"

#include <algorithm>
#include <numeric>
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
      const bool escape = c == '\\' && quote == '"' && i + 1 < text.size() &&
                          (text[i + 1] == '"' || text[i + 1] == '\\');
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
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
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

namespace {

// Levenshtein distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::size_t best = std::max<std::size_t>(1, (word.size() + 1) / 3) + 1;
  std::string found;
  for (const std::string& c : candidates) {
    const std::size_t d = distance(word, c);
    if (d < best) {
      best = d;
      found = c;
    }
  }
  return found;
}

}  // namespace tessera::launch
