// Random programs. They are right: they end, each fragment is assigned once, all that is read is
// assigned, nothing overflows. All constructs of the language, in any order of statements. Or they
// are wrong in one place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::differential {

struct Generated {
  std::string text;                    // with its kernels (tests/reference/kernels.hpp)
  std::vector<std::string> arguments;  // of main
};

// What is wrong with a program on purpose.
enum class Fault { none, never_assigned, assigned_twice };

// generate makes the program of this seed, always the same one; `size` is about its number of
// statements, `swept` how many subs it may have with names that are swept.
Generated generate(std::uint64_t seed, int size, Fault fault = Fault::none, int swept = 1);

}  // namespace tessera::differential
