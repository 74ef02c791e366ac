// The reference: a sequential interpreter of the block program, one worklist and no threads.
//
// It runs the program as `lower` made it, before any pass, so that passes, emission and runtime are
// all on the other side of the comparison; it runs the form after any pass just as well. Advice
// about places is evaluated and has no effect.
#pragma once

#include <string>
#include <vector>

#include "compiler/block/program.hpp"
#include "value.hpp"

namespace tessera::reference {

struct Outcome {
  enum class End { finished, unfinished, failed, endless };
  End end = End::finished;
  std::string why;                 // failed, unfinished
  std::vector<std::string> lines;  // what the kernels printed, sorted
};

// interpret runs main with the program's arguments, as many and of the types that it takes; `steps`
// bounds the work, for programs that do not end.
Outcome interpret(const compiler::block::Program& program, const std::vector<std::string>& arguments,
                  std::size_t steps = 1'000'000);

}  // namespace tessera::reference
