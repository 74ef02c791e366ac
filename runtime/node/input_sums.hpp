// InputSums: has a kernel written to its inputs? Others read them, and whether before or after differs from run to run. For --check-inputs:
// it reads all that the kernel is given, twice.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

class InputSums {
 public:
  // Before the block of a fragment runs, and after that, `block` being the one that ran. The latter throws ProgramError.
  void note(const abi::Cf*);
  void compare(const abi::Block* block, const abi::Cf*) const;
  bool noted() const { return !sums_.empty(); }

 private:
  std::vector<std::uint64_t> sums_;  // by input
};

}  // namespace tessera::runtime
