// Text that remembers where each of its bytes was written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/place.hpp"

namespace tessera::compiler {

// MappedText is what preprocessing works on and makes: byte k of `text` comes from `at[k]`.
// Invariant: text.size() == at.size(). A byte of a macro's body comes from the macro's use.
struct MappedText {
  std::string text;
  std::vector<Place> at;

  void add(char c, Place place) {
    text.push_back(c);
    at.push_back(place);
  }
  void add(const MappedText& other, std::size_t begin, std::size_t end) {
    text.append(other.text, begin, end - begin);
    at.insert(at.end(), other.at.begin() + static_cast<std::ptrdiff_t>(begin),
              other.at.begin() + static_cast<std::ptrdiff_t>(end));
  }
  void add(const MappedText& other) { add(other, 0, other.text.size()); }
  std::string_view view(Extent e) const { return std::string_view(text).substr(e.begin, e.end - e.begin); }
};

}  // namespace tessera::compiler
