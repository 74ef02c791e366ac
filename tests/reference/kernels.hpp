// The kernels of random programs, twice: as `C++ sub` text, and as functions of the interpreter.
#pragma once

#include <string>
#include <vector>

#include "value.hpp"

namespace tessera::reference {

// A kernel of the interpreter: the arguments that are not `name`, in order; what is assigned to the
// `name` ones, in order. A printed line goes to `lines`.
using Run = std::vector<Value> (*)(const std::vector<Value>& in, std::vector<std::string>& lines);

// kernel throws std::out_of_range when there is none of this name.
Run kernel(const std::string& name);

// kernels_text declares all of them for a `.fa` file. Lines go to the function `tessera_test_line`
// where the process that loads the program has one, else to stdout. Each begins with `tessera_test_rest`, where there
// is one.
const char* kernels_text();

}  // namespace tessera::reference
