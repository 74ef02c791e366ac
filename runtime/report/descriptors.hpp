// The file descriptors that MPI has opened: without them a rank neither works nor ends. A kernel that closes one,
// mostly in a loop over all numbers, is ended by name (report/descriptors.cpp has close() and the like in place of
// those of the C library).
#pragma once

namespace tessera::runtime {

// Around the start of MPI: what is open after it and was not before is guarded.
void note_open_descriptors();
void guard_new_descriptors();
// MPI is to close them itself.
void guard_no_descriptors();

}  // namespace tessera::runtime
