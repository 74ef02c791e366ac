// InputSums: has a kernel written to its inputs, or beside them? Others read them, and whether before or after differs
// from run to run. For
// --check-inputs: it reads all that the kernel is given, twice.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

class InputSums {
 public:
  // Before an atomic fragment runs, and as soon as its kernel has returned: what that has assigned is for others only
  // then. The latter throws ProgramError; where memory beside an input is damaged it ends the process.
  void note(const abi::Cf*);
  void compare();

 private:
  // What is beside the payload may be overwritten as well, the value itself included: so this is what it was.
  struct Seen {
    const char* name;
    const abi::Value* value;
    abi::Value was;
    std::size_t sum;
  };
  std::vector<Seen> seen_;
};

}  // namespace tessera::runtime
