// Lowering: the model in, a first block program out.
#pragma once

#include "compiler/block/program.hpp"
#include "compiler/source/mapped_text.hpp"

namespace tessera::compiler::block {

// lower makes one chain of one block for each statement; expressions still contain reads, frames are
// not laid out. The passes do the rest.
//
// Before: `for i = 1..N { init(i, x[i]); }`. After, in the body of its sub:
//   spawn range `for i`(first = 1, last = N) { spawn atomic init(i, x[i]) }
Program lower(const semantics::Model& model, const MappedText& text);

// one_line is source text without line breaks, shortened to `limit` bytes.
std::string one_line(std::string_view text, std::size_t limit);

}  // namespace tessera::compiler::block
