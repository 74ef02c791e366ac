// Precompiled headers: parsing the standard library takes most of the time of compiling a small
// kernel. They are made once when Tessera is built, and used where compiler and flags are the same;
// anywhere else compilation is only slower.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/toolchain.hpp"

namespace tessera::cli {

enum class Prelude {
  kernel,    // ucenv.h
  modern,    // tessera.hpp
  cereal,    // tessera/cereal.hpp
  in_place,  // tessera/kernels.hpp: ucenv.h and the standard library
};

// precompiled_header returns the file to -include, or "" when none was made for this compiler and
// these user's flags.
std::filesystem::path precompiled_header(Prelude, const Compiler&, const Installation&,
                                         const std::vector<std::string>& flags);

// prelude_of tells which of them a kernel file may start with precompiled: nothing but comments,
// blank lines and system headers stands before its own #include of it.
std::optional<Prelude> prelude_of(const std::filesystem::path& source);

// precompile makes all for the compiler and flags of this environment; returns an exit code. Part of
// Tessera's own build (`tessera precompile-headers`).
int precompile();

}  // namespace tessera::cli
