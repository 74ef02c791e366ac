// Kernels that crash, call exit() or terminate(): the process says which fragment ran and ends with exit code 1. Want
// of memory: who asks for it gets a std::bad_alloc; but where the runtime itself does, the process says so and ends
// with exit code 3. The launcher ends the other ranks.
#pragma once

#include <signal.h>

#include <array>
#include <exception>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

// While the program runs. One per process at a time, after MPI has been initialised (it installs handlers of its own).
class LastWords {
 public:
  // `own_process`: it is the run's, not of who calls it; else all is as before when this is over, and children are none
  // of the run's.
  LastWords(const abi::Program&, bool own_process);
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

 private:
  std::terminate_handler terminate_before_;
  bool own_process_;
  std::array<struct sigaction, 5> before_{};
};
// A thread of the runtime.
void mark_own_thread();
// The run is over, and what is left of main() runs no code of ours. `when_it_crashes` is called before the process
// ends; may be null.
void leave_main(void (*when_it_crashes)());

// Each worker, and each thread that kernels start (report/kernel_threads.cpp): a stack of its own for the handler, so
// that stack overflows are reported too.
class CrashStack {
 public:
  CrashStack();
  ~CrashStack();

 private:
  void* memory_;
};

}  // namespace tessera::runtime
