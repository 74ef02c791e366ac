// Precompiled headers: parsing the standard library takes most of the time of compiling a small
// kernel. Tessera's own build makes them for programs that run from its folder; elsewhere the first program that
// needs one does, in the cache, for the compiler and the flags of the environment. With other flags
// compilation is only slower.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/cache.hpp"
#include "cli/units.hpp"

namespace tessera::cli {

enum class Prelude {
  kernel,    // ucenv.h
  modern,    // tessera.hpp
  cereal,    // tessera/cereal.hpp
  in_place,  // tessera/kernels.hpp: ucenv.h and the standard library
};

// precompiled_header returns the file to -include, made if need be, or "" where there is none.
std::filesystem::path precompiled_header(Prelude, const CompileSetup&, Cache&);

// prelude_of tells which of them a kernel file may start with precompiled: nothing but comments,
// blank lines and system headers stands before its own #include of it.
std::optional<Prelude> prelude_of(const std::filesystem::path& source);

// precompile makes all for the compiler and flags of this environment; returns an exit code. Part of
// Tessera's own build (`tessera precompile-headers`).
int precompile();

}  // namespace tessera::cli
