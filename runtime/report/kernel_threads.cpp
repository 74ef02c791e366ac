// Threads that kernels start: each gets a stack for the handler of crashes, so that an overflow of its own stack is
// told, too; and knows which fragment started it. The function below stands here in place of that of the C library, as
// those in kernel_exits.cpp do.
#include <dlfcn.h>
#include <pthread.h>

#include <memory>
#include <string>
#include <utility>

#include "runtime/report/crash.hpp"
#include "runtime/report/ending.hpp"
#include "runtime/start/agreement.hpp"
#include "runtime/start/facts.hpp"
#include "runtime/words/describe.hpp"
#include "runtime/work/worker.hpp"

namespace tessera::runtime {
namespace {

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
Create next_create = nullptr;

struct KernelStart {
  void* (*routine)(void*);
  void* argument;
  std::shared_ptr<const Starter> by;
};

// Lives on the thread's own stack: what ends the thread may still ask.
thread_local const std::shared_ptr<const Starter>* started_by = nullptr;

void* with_crash_stack(void* given) {
  const KernelStart start = std::move(*std::unique_ptr<KernelStart>(static_cast<KernelStart*>(given)));
  if (start.by != nullptr) started_by = &start.by;
  const CrashStack stack;
  return start.routine(start.argument);
}

// Who starts a thread now. In words: the fragment may have ended long before its thread.
std::shared_ptr<const Starter> starter() {
  if (started_by != nullptr) return *started_by;
  if (!in_fragment()) return nullptr;
  const abi::Cf* c = thread_worker->current;
  return std::make_shared<const Starter>(
      Starter{place(*program_running(), c->block->pos),
              describe(*program_running(), c) + on_which_host(thread_worker->facts.self, thread_worker->facts.hosts)});
}

}  // namespace

const Starter* thread_starter() { return started_by == nullptr ? nullptr : started_by->get(); }

// Found before any child needs it.
void find_pthread_create() { next_create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create")); }

}  // namespace tessera::runtime

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                              void* argument) noexcept {
  using namespace tessera::runtime;
  if (next_create == nullptr) find_pthread_create();
  if (program_running() == nullptr) return next_create(thread, attributes, routine, argument);
  auto start = std::make_unique<KernelStart>(KernelStart{routine, argument, starter()});
  const int error = next_create(thread, attributes, with_crash_stack, start.get());
  if (error == 0) (void)start.release();
  return error;
}
#endif
