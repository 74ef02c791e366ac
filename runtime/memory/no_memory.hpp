// NoMemory: there is no room for a value, and how much was wanted.
#pragma once

#include <cstdint>
#include <new>

namespace tessera::runtime {

class NoMemory : public std::bad_alloc {
 public:
  explicit NoMemory(std::uint64_t bytes) : bytes_(bytes) {}
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_;
};

// Has the new-handler end the process, or throws.
[[noreturn]] void no_memory(std::uint64_t bytes);

}  // namespace tessera::runtime
