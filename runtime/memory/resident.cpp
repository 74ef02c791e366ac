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

// What getrusage says is also of what this process was before it became this program, and of what was forgotten.
std::int64_t most_resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/status", "re");
  if (file == nullptr) return 0;
  char line[256];
  long kb = 0;
  while (kb == 0 && std::fgets(line, sizeof line, file) != nullptr) (void)std::sscanf(line, "VmHWM: %ld", &kb);
  std::fclose(file);
  return std::int64_t{kb} << 10;
}

void forget_most_resident() {
  std::FILE* file = std::fopen("/proc/self/clear_refs", "we");
  if (file == nullptr) return;  // then it is more than what ran since
  std::fputs("5", file);
  std::fclose(file);
}

}  // namespace tessera::runtime
