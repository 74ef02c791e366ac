// Threads that kernels start: each gets a stack for the handler of crashes, so that an overflow of its own stack is
// told, too. The function below stands here in place of that of the C library, as those in kernel_exits.cpp do.
#include <dlfcn.h>
#include <pthread.h>

#include <memory>

#include "runtime/report/crash.hpp"
#include "runtime/report/ending.hpp"

namespace tessera::runtime {
namespace {

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
Create next_create = nullptr;

struct KernelStart {
  void* (*routine)(void*);
  void* argument;
  bool of_kernel;
};

thread_local bool of_kernel = false;

void* with_crash_stack(void* given) {
  const KernelStart start = *std::unique_ptr<KernelStart>(static_cast<KernelStart*>(given));
  of_kernel = start.of_kernel;
  const CrashStack stack;
  return start.routine(start.argument);
}

}  // namespace

bool in_thread_of_kernel() { return of_kernel; }

// Found before any child needs it.
void find_pthread_create() { next_create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create")); }

}  // namespace tessera::runtime

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                              void* argument) noexcept {
  using namespace tessera::runtime;
  if (next_create == nullptr) find_pthread_create();
  if (program_running() == nullptr) return next_create(thread, attributes, routine, argument);
  auto start = std::make_unique<KernelStart>(KernelStart{routine, argument, in_fragment() || of_kernel});
  const int error = next_create(thread, attributes, with_crash_stack, start.get());
  if (error == 0) (void)start.release();
  return error;
}
#endif
