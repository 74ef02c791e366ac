// Places in the user's files, as small values.
#pragma once

#include <cstdint>

namespace tessera::compiler {

// Place is one byte of one source file (number in Sources, offset in its text).
struct Place {
  std::uint32_t file = 0;
  std::uint32_t offset = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

// Extent is a half-open range of the preprocessed text. Syntax and everything after it speaks in
// extents; MappedText turns them back into places of the user's files.
struct Extent {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

inline Extent join(Extent a, Extent b) { return {a.begin, b.end}; }

}  // namespace tessera::compiler
