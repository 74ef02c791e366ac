// What has to be done with partial output before a process is ended without destructors.
#pragma once

#include <functional>

namespace tessera::runtime {

// flush_output writes out what is buffered for stdout and stderr. It never hangs: a stream whose lock
// another thread keeps for more than a moment (a kernel stuck in the middle of printing) is skipped; then it
// returns false.
bool flush_output();

// flush_lines does so, too, but where stdout has half a line, which somebody prints in parts, it waits a moment for the
// rest. It calls `then` (if that is not null) while nobody prints: what was printed before is written.
bool flush_lines(const std::function<void()>& then = nullptr);

// keep_stdout is for a process that a signal ends: from now on nobody prints, and what is out ends with a line. Half a
// line that stays so for a moment is lost with the process.
void keep_stdout();

// flush_all does so for all files of the process, before it is ended. Where one of those two is locked it is only
// flush_output: who waits for a lock in fflush(nullptr) keeps everybody, MPI_Abort included, from opening a file.
void flush_all();

// flush_at_end is for when no kernel runs any more. A stream whose lock is still kept then (flockfile() by a kernel
// that has not called funlockfile()) is written out all the same, and needs no lock from then on: who prints until the
// end of the process does, and the process ends. Returns whether there was one. What keep_stdout keeps, it leaves so.
bool flush_at_end();

}  // namespace tessera::runtime
