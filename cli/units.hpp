// Units: the C++ files of one build, each compiled by itself, in parallel, and cached by itself.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/cache.hpp"
#include "cli/toolchain.hpp"

namespace tessera::cli {

struct Unit {
  enum class Kind { program, in_place, kernel, main };
  Kind kind;
  std::string name;              // what a person calls it: `kernels.cpp`
  std::filesystem::path source;  // kernels; generated units: where the text was written
  std::string text;              // generated units
};

struct Object {
  std::filesystem::path file;
  std::string name;  // of its unit
  std::string warnings;
  std::vector<Dependency> dependencies;  // without generated files
  bool written = false;                  // by people: it has kernels
};

struct CompileSetup {
  Compiler compiler;
  Installation installation;
  std::vector<std::string> flags;  // of the environment and of the command line
  std::filesystem::path folder;    // of the program: #include "..." of in-place kernels
  std::filesystem::path workspace;
  bool colour = false;
  std::chrono::system_clock::time_point started;
};

// compile_units returns an object per unit, from the cache where possible. Throws Failure with the
// compiler's messages of every unit that does not compile.
std::vector<Object> compile_units(const std::vector<Unit>&, const CompileSetup&, Cache&);

}  // namespace tessera::cli
