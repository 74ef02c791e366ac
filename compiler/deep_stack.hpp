// Functions that follow the nesting of a program call themselves as deep as it goes, and programs that programs write
// go deep.
#pragma once

#include <functional>

namespace tessera::compiler {

// Runs it with a stack of 512 MB, of which it takes what it uses; with the caller's where there is none to be had.
void on_deep_stack(const std::function<void()>& run);

}  // namespace tessera::compiler
