// Crashes of kernels: SIGSEGV and its kin say which fragment ran, then end the process with exit
// code 1. The launcher ends the other ranks.
#pragma once

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

// Once per process, after MPI has been initialised (it installs handlers of its own).
void install_crash_handlers(const abi::Program&);
// Each worker: a stack of its own for the handler, so that stack overflows are reported too.
class CrashStack {
 public:
  CrashStack();
  ~CrashStack();

 private:
  void* memory_;
};

}  // namespace tessera::runtime
