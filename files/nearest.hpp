// What a word was probably meant to be. Of a header alone: the policies link nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

// How many letters are inserted, lost, changed, or swapped with their neighbour.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = last;
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// The candidate, the first of the nearest ones, that differs in no more than a third of the letters (one, in short
// words); "": none.
template <class Names>
std::string nearest(std::string_view word, const Names& candidates) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, (word.size() + 1) / 3) + 1;
  for (const std::string_view c : candidates) {
    if (c == word || c.size() > word.size() + 3 || word.size() > c.size() + 3) continue;
    const std::size_t d = edit_distance(word, c);
    if (d < least && d < std::max(word.size(), c.size())) {
      least = d;
      best = c;
    }
  }
  return best;
}

}  // namespace tessera
