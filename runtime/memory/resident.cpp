#include "runtime/memory/resident.hpp"

#include <unistd.h>

#include <cstdio>

namespace tessera::runtime {

std::int64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long all = 0, here = 0;
  const int read = std::fscanf(file, "%lu %lu", &all, &here);
  std::fclose(file);
  return read == 2 ? static_cast<std::int64_t>(here) * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace tessera::runtime
