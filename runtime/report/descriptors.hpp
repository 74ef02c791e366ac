// The file descriptors that MPI and the run itself have opened, and stdout: without them a rank neither works nor ends,
// or output is lost. A kernel that closes one, mostly in a loop over all numbers, is ended by name
// (report/descriptors.cpp has close() and the like in place of those of the C library).
#pragma once

#include <cstddef>

namespace tessera::runtime {

// What is open when the first kernel is about to run, and was not when the run began, is guarded.
void note_open_descriptors();
// Each of so many ranks of this process calls guard_new_descriptors when it has opened what it needs, and none goes on
// before all have: what another opens for a moment would be guarded, too.
void guard_for_ranks(std::size_t ranks);
void guard_new_descriptors();
// Who has opened them is to close them.
void guard_no_descriptors();

}  // namespace tessera::runtime
