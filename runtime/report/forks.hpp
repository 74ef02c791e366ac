// Kernels that fork. The child has one thread, which is a worker's: when it comes back from the kernel it would go on
// as that worker, beside the real one, and send on its behalf. It ends instead, and the run with it.
#pragma once

#include <string>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

// Children that threads of ours fork end with the run at the latest, unless they become another program for good.
void watch_forks();

[[gnu::visibility("hidden")]] extern bool is_forked_child;  // set before the child's first step
[[noreturn]] void child_came_back();
// Called where a kernel has returned.
TESSERA_HOT void no_child() {
  if (is_forked_child) [[unlikely]]
    child_came_back();
}

// What a child had to say that came back; nothing: none has. Whoever says it on another rank may come too late for
// that: the rank itself looks again when its run has ended well.
std::string word_of_child();
// At the end of the run, while the threads that forked are there (their children end with them): waits a moment for a
// child that has not had a core yet.
void await_children();

}  // namespace tessera::runtime
