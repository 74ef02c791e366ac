// From a .fa program and its kernels to something that runs: translate, compile what the cache does
// not have, link.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/compiler.hpp"

namespace tessera::cli {

enum class Target {
  shared_object,  // loaded by `tessera run`
  executable,     // starts by itself, also under mpirun and srun
  library,        // called by other programs (tessera/library.hpp)
};

struct BuildRequest {
  std::filesystem::path program;
  std::vector<std::filesystem::path> kernels;
  bool kernels_beside = true;  // when `kernels` is empty: the *.cpp beside the program, if it imports
  compiler::Options translation;
  std::vector<std::string> cxxflags;  // after those of the environment
  std::vector<std::string> ldflags;
  std::vector<std::string> libraries;  // names as for -l
  bool debug = false;                  // for finding mistakes in kernels
  std::string sanitize;                // "address", or nothing
  Target target = Target::shared_object;
  std::string library_name;  // with Target::library: of the function that gives the program
  bool colour = false;
  bool quiet = false;  // what fails tells errors only
};

struct Built {
  std::filesystem::path file;  // in the cache: read only
  std::string warnings;        // of the translator and of the compiler, also on a cache hit
};

// build makes the program, or finds it in the cache; of several ranks that a launcher started on one
// host, one makes it and the others wait. It throws Failure with all that is to be said, when there is no such program
// (usage), it is wrong (program), or there is no compiler (environment).
Built build(const BuildRequest&);

// check_program throws Failure (usage) when there is no such .fa file.
void check_program(const std::filesystem::path& program);

// render_all renders diagnostics one after another, with a line of totals when there are errors.
std::string render_all(const std::vector<compiler::Diagnostic>&, bool colour);

}  // namespace tessera::cli
