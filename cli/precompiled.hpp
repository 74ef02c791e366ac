// Precompiled headers: parsing the standard library takes most of the time of compiling a small
// kernel. They are made once when Tessera is built, and used where compiler and flags are the same;
// anywhere else compilation is only slower.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/toolchain.hpp"

namespace tessera::cli {

enum class Prelude {
  kernel,    // ucenv.h
  in_place,  // tessera/kernels.hpp: ucenv.h and the standard library
};

// precompiled_header returns the file to -include, or "" when none was made for this compiler and
// these user's flags.
std::filesystem::path precompiled_header(Prelude, const Compiler&, const Installation&,
                                         const std::vector<std::string>& flags);

// begins_with_ucenv tells whether a kernel file may start with ucenv.h precompiled: nothing but
// comments, blank lines and system headers stands before its own #include of it.
bool begins_with_ucenv(const std::filesystem::path& source);

// precompile makes both for the compiler and flags of this environment; returns an exit code. Part of
// Tessera's own build (`tessera precompile-headers`).
int precompile();

}  // namespace tessera::cli
