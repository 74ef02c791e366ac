// Random programs that are right: they end, each fragment is assigned once, all that is read is
// assigned, nothing overflows. All constructs of the language, in any order of statements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::differential {

struct Generated {
  std::string text;                    // with its kernels (tests/reference/kernels.hpp)
  std::vector<std::string> arguments;  // of main
};

// generate makes the program of this seed, always the same one; `size` is about its number of
// statements.
Generated generate(std::uint64_t seed, int size = 30);

}  // namespace tessera::differential
