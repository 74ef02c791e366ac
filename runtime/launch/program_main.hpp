// What a process does around runtime::run when its run options come from TESSERA_OPTIONS: a built
// program, and the ranks that `tessera run -n` starts.
#pragma once

#include <string>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::launch {

// prepare_process ties this process to its launcher and keeps BLAS libraries single-threaded; call it
// first, before kernels are loaded.
void prepare_process();

// run_with_environment runs `program` with the options in TESSERA_OPTIONS; returns the exit code.
int run_with_environment(const abi::Program& program, const std::vector<std::string>& arguments);

// bound_exit is called when the run is over and the process about to leave main: what kernels have left for then
// (atexit, destructors of global objects) gets a few seconds.
void bound_exit();
// What else is to be done when they were not enough, or something crashes meanwhile; may be null.
extern void (*when_exit_fails)();

}  // namespace tessera::launch
