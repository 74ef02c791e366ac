// Streams of large values, drawn by a seed: what a `main` that is one consists of, and the kernels that they call.
#pragma once

#include <string>
#include <vector>

namespace tessera::tests {

using Words = std::vector<std::string>;

struct Stream {
  std::string body;
  Words options;
};

extern const char* const kKernels;
extern const char* const kSlowKernels;

// Pipelines, one loop around all stages: how many, where they run, whether they carry a state from item to item.
Stream drawn(unsigned seed);
Stream drawn_in_loops(unsigned seed);
Stream drawn_in_steps(unsigned seed);
Stream drawn_in_rows(unsigned seed);

}  // namespace tessera::tests
