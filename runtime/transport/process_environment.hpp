// What a rank that is a process of its own arranges with the system: everything around MPI that does
// not need mpi.h.
#pragma once

namespace tessera::runtime {

// Before MPI_Init. Sets MPI's parameters unless the user did, and has the kernel end this process
// when its launcher dies.
void prepare_process_for_mpi();

// Children end with the run, and so do theirs: from the first on those whose parent has ended become this process's,
// and the second kills all but those that it had before. In a child it does nothing.
void adopt_orphans();
void end_children();

// Who wants to know how the process ends hears it here, when that is decided by the run; a signal's handler may be what
// decides it.
extern void (*tell_exit)(int code);
// Rank 0: the program has come to its end, whatever becomes of what is written then; null: nobody asks.
extern void (*tell_over)();

// Ends the process at once, and its children; _exit() is what kernels call (report/kernel_exits.cpp).
[[noreturn]] void end_process(int code);

}  // namespace tessera::runtime
