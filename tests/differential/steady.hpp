// Random programs whose steps go on and on, and of which no more than a few steps are alive at any time.
#pragma once

#include "generator.hpp"

namespace tessera::differential {

// steady makes the program of this seed. Its main takes the number of steps; however many these are, what can still be
// read is no more than some rows of cells, so memory may not grow with them. `known`: also shapes for which it is known
// to (docs/benchmarks.md): a mark of each `delete`, recursion that goes on before what it has made or by data, trees of
// subs.
Generated steady(std::uint64_t seed, bool known);

// wide makes a program of the same kind, all shapes included, whose main takes the number of its steps, and of its
// cells: with more of these it may not take much more time for each.
Generated wide(std::uint64_t seed);

}  // namespace tessera::differential
