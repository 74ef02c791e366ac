#include "compiler/deep_stack.hpp"

#include <pthread.h>

#include <cstddef>
#include <exception>

namespace tessera::compiler {
namespace {

constexpr std::size_t kDeep = std::size_t{512} << 20;

struct Call {
  const std::function<void()>& run;
  std::exception_ptr thrown;
};

void* carry_out(void* call) {
  auto& c = *static_cast<Call*>(call);
  try {
    c.run();
  } catch (...) {
    c.thrown = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void on_deep_stack(const std::function<void()>& run) {
  Call call{run, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread{};
  const bool started = pthread_attr_setstacksize(&attributes, kDeep) == 0 &&
                       pthread_create(&thread, &attributes, carry_out, &call) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) return run();
  pthread_join(thread, nullptr);
  if (call.thrown) std::rethrow_exception(call.thrown);
}

}  // namespace tessera::compiler
