// What has to be done with partial output before a process is ended without destructors.
#pragma once

namespace tessera::runtime {

// flush_output writes out what is buffered for stdout and stderr. It never hangs: a stream whose lock
// another thread keeps for more than a moment (a kernel stuck in the middle of printing) is skipped.
void flush_output();

}  // namespace tessera::runtime
