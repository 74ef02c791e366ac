// What the `main` of a program made by `tessera build` calls; libtessera defines it.
#pragma once

#include "tessera/abi.hpp"

// Runs the program with the options in TESSERA_OPTIONS; all of argv[1..] are the program's own.
extern "C" int tessera_program_main(const tessera::abi::Program* program, int argc, char** argv);
