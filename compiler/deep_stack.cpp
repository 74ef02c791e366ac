#include "compiler/deep_stack.hpp"

#include <pthread.h>
#include <signal.h>

#include <cstddef>
#include <exception>
#include <vector>

namespace tessera::compiler {
namespace {

constexpr std::size_t kDeep = std::size_t{512} << 20;

struct Call {
  const std::function<void()>& run;
  std::exception_ptr thrown;
};

// For who tells of a crash, also where the stack is used up.
void crash_stack(char* memory, std::size_t size) {
  stack_t s{};
  s.ss_sp = memory;
  s.ss_size = size;
  s.ss_flags = memory == nullptr ? SS_DISABLE : 0;
  sigaltstack(&s, nullptr);
}

void* carry_out(void* call) {
  std::vector<char> spare(64 << 10);
  crash_stack(spare.data(), spare.size());
  auto& c = *static_cast<Call*>(call);
  try {
    c.run();
  } catch (...) {
    c.thrown = std::current_exception();
  }
  crash_stack(nullptr, 0);
  return nullptr;
}

}  // namespace

void on_deep_stack(const std::function<void()>& run) {
  Call call{run, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread{};
  const bool started =
      pthread_attr_setstacksize(&attributes, kDeep) == 0 && pthread_create(&thread, &attributes, carry_out, &call) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) return run();
  pthread_join(thread, nullptr);
  if (call.thrown) std::rethrow_exception(call.thrown);
}

}  // namespace tessera::compiler
