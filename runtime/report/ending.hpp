// Ending the process from anywhere, with a word about why: for what can't be reported as a failure of the run any more.
#pragma once

#include <string>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

// Says what ended the fragment that this thread runs, with its place; where it runs none `outside` (behind the place of
// the kernel that has started the thread, if one has), and ends with that exit code. The first thread that calls it
// speaks, others never return.
[[noreturn]] void end_saying(const std::string& in_kernel, const std::string& outside, int code_outside);

// The program that runs in this process; null: none, or this is a child that a kernel has forked.
const abi::Program* program_running();
// Is this a thread of the runtime, rather than one that a kernel has started?
bool own_thread();
// Does this thread run a fragment?
bool in_fragment();
// The fragment that started this thread, or the thread that did.
struct Starter {
  std::string place;  // "p.fa:7"
  std::string text;   // "`f(i)` at p.fa:9 (i=2)"
};
// null: no kernel did.
const Starter* thread_starter();

// What to say where there is no more memory, `wanted` bytes being asked for (0: nobody knows how many). Gives back what
// is held in reserve for that.
std::string not_enough_memory(std::uint64_t wanted = 0);

// The parts of LastWords.
void catch_exits();           // kernel_exits.cpp
void watch_memory(bool yes);  // memory_end.cpp
void find_pthread_create();   // kernel_threads.cpp

}  // namespace tessera::runtime
