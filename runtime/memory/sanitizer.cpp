#include "runtime/memory/sanitizer.hpp"

#include <dlfcn.h>

#include <cstddef>

namespace tessera::runtime {
namespace {

template <class F>
F find(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}
using Poison = void (*)(const volatile void*, std::size_t);
Poison poison() {
  static const Poison found = find<Poison>("__asan_poison_memory_region");
  return found;
}

}  // namespace

bool sanitizer_loaded() { return poison() != nullptr; }

void forbid(const void* from, const void* to) {
  const Poison p = poison();
  if (p != nullptr) p(from, static_cast<std::size_t>(static_cast<const char*>(to) - static_cast<const char*>(from)));
}

void on_sanitizer_report(void (*callback)()) {
  using Set = void (*)(void (*)());
  if (const auto set = find<Set>("__sanitizer_set_death_callback"); set != nullptr) set(callback);
}

}  // namespace tessera::runtime
