// What programs are compiled with: the C++ compiler of this machine, and Tessera's own headers and
// library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::cli {

struct Compiler {
  std::vector<std::string> command;  // as in CXX: a path, perhaps with words before or behind
  std::filesystem::path program;     // the file that decides what comes out
  bool gcc = false;
};

// find_compiler takes $CXX, else the first of c++, g++, clang++ in PATH. Throws Failure (environment)
// that says how to install one.
Compiler find_compiler();

// Where this `tessera` keeps what programs are built from: beside the executable when installed, in
// the source and build trees otherwise.
struct Installation {
  std::filesystem::path headers;      // has ucenv.h and tessera/abi.hpp
  std::filesystem::path stdlib;       // has std/base.fa: where #include <...> looks
  std::filesystem::path library;      // libtessera.so, the one this process itself uses
  std::filesystem::path precompiled;  // folder of precompiled headers, one subfolder per compiler and flags
};
Installation find_installation();

// find_stdlib is the folder of the standard library alone, for commands that compile nothing.
std::filesystem::path find_stdlib();

// Flags every unit is compiled with, before the user's own.
std::vector<std::string> base_flags();

// Flags of kernels, in files and in place, beside those: with debug information, for their functions are checked
// against the imports (cli/signatures.hpp), and debuggers are for kernels.
std::vector<std::string> kernel_flags();

// find_sanitizer is the library of that sanitizer, which has to be loaded first. Throws Failure (environment) when
// there is none.
std::filesystem::path find_sanitizer(const std::string& name);

// Flags from the environment: CXX_FLAGS and CXXFLAGS; LDFLAGS.
std::vector<std::string> environment_cxxflags();
std::vector<std::string> environment_ldflags();

// check_disk throws Failure (environment) when what a compiler or linker said is that a disk is full.
void check_disk(const std::string& output);

// Whether a signal has ended the compiler, or a part of it, as its driver says.
bool died(int exit_code, const std::string& output);
// check_compiler is for when the compiler failed at what is certainly right, or said nothing: it throws Failure
// (environment) when it was ended by a signal, could not start, or does not compile a program of one line in `folder`
// either.
void check_compiler(const Compiler&, int exit_code, const std::string& output, const std::filesystem::path& folder);

}  // namespace tessera::cli
