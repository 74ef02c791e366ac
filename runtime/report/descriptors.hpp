// The file descriptors that MPI and the run itself have opened: without them a rank neither works nor ends. A kernel
// that closes one, mostly in a loop over all numbers, is ended by name (report/descriptors.cpp has close() and the like
// in place of those of the C library).
#pragma once

namespace tessera::runtime {

// What is open when the first kernel is about to run, and was not when the run began, is guarded.
void note_open_descriptors();
void guard_new_descriptors();
// Who has opened them is to close them.
void guard_no_descriptors();

}  // namespace tessera::runtime
