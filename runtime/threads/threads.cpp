#include "runtime/threads/threads.hpp"

#include <cstdio>

namespace tessera::runtime {

std::int64_t thread_no_core_ns() {
  std::FILE* file = simulation == nullptr ? std::fopen("/proc/thread-self/schedstat", "re") : nullptr;
  if (file == nullptr) return 0;
  long long ran = 0, waited = 0;
  const int read = std::fscanf(file, "%lld %lld", &ran, &waited);
  std::fclose(file);
  return read == 2 ? waited : 0;
}

}  // namespace tessera::runtime
