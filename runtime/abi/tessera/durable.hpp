// For kernels that do something outside the program: send, pay, append to a file.
#pragma once

extern "C" void tessera_durable();

namespace tessera {

// durable() has it written down that this kernel has run before the worker goes on to another one: when the run is
// killed later, the kernel does not run again (docs/recovery.md). It may be called at any place of the kernel, in the
// thread that runs it. Without --journal it does nothing.
inline void durable() { tessera_durable(); }

}  // namespace tessera
