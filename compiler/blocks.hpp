// translate for those who want the block program itself rather than text: the reference interpreter
// of the tests.
#pragma once

#include <functional>
#include <string_view>

#include "compiler/block/program.hpp"
#include "compiler/compiler.hpp"

namespace tessera::compiler {

// A Look gets the block program after "lower" and after each pass, by the pass's name. Model and
// program are gone after the call.
using Look = std::function<void(std::string_view stage, const semantics::Model&, const block::Program&)>;

Output translate(const std::filesystem::path& source, const Options&, const Look&);

}  // namespace tessera::compiler
