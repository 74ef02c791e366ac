// The two C++ texts of a program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/block/program.hpp"
#include "compiler/emit/text.hpp"

namespace tessera::compiler::emit {

// program_texts is the translated program; it includes tessera/abi.hpp only. A large one is several files, to be
// compiled side by side; the first has the table of blocks. `by_reference` is that of the options.
std::vector<std::string> program_texts(Context context, const semantics::Model& model, const std::uint64_t (&hash)[2],
                                       const std::map<std::string, std::string>& by_reference);

// kernels_text is the in-place kernels, each under a #line of the user's file; empty when none.
std::string kernels_text(const Context& context, const semantics::Model& model);

}  // namespace tessera::compiler::emit
