// LastCall: who ends the process after a crash asks the launcher to end the other ranks, from a thread that is sound.
//
// mpirun sees that a rank has ended badly, and ends the others. srun does not (unless it was given
// --kill-on-bad-exit): they would wait for that rank until the job's time is over. MPI_Abort tells it, but may not be
// called by the handler of a signal, nor by a thread that has died in the middle of anything.
//
// Example: LastCall call([](int code) { MPI_Abort(MPI_COMM_WORLD, code); }); and, whatever happens, end_process(1).
#pragma once

#include <thread>

namespace tessera::runtime {

class LastCall {
 public:
  // One at a time. abort(code) is called at most once. Throws std::system_error where there is no room for a thread.
  explicit LastCall(void (*abort)(int));
  LastCall(const LastCall&) = delete;
  ~LastCall();

 private:
  std::thread thread_;
};

// last_call has the LastCall of this process, if there is one, abort, and returns when that has returned, or after 2
// seconds. Does nothing in a child that a kernel has forked. A signal's handler may call it.
void last_call(int code);
// From here on it does nothing: somebody aborts already.
void no_last_call();

}  // namespace tessera::runtime
