// What has to be done with partial output before a process is ended without destructors.
#pragma once

namespace tessera::runtime {

// flush_output writes out what is buffered for stdout and stderr. It never hangs: a stream whose lock
// another thread keeps for more than a moment (a kernel stuck in the middle of printing) is skipped; then it
// returns false.
bool flush_output();

// flush_all does so for all files of the process, before it is ended. Where one of those two is locked it is only
// flush_output: who waits for a lock in fflush(nullptr) keeps everybody, MPI_Abort included, from opening a file.
void flush_all();

// flush_at_end is for when no kernel runs any more. A stream whose lock is still kept then (flockfile() by a kernel
// that has not called funlockfile()) is written out all the same, and needs no lock from then on: who prints until the
// end of the process does, and the process ends. Returns whether there was one.
bool flush_at_end();

}  // namespace tessera::runtime
