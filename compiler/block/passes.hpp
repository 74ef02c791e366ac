// The passes over the block program and the order they run in.
#pragma once

#include <string>
#include <vector>

#include "compiler/block/program.hpp"
#include "compiler/diagnostics.hpp"

namespace tessera::compiler::block {

struct Pass {
  const char* name;
  void (*run)(Program&, Diagnostics&);
  bool optimisation = false;  // programs mean the same without it: `--without NAME`
};

// pipeline returns all passes in order; each line says why it stands where it stands.
std::vector<Pass> pipeline();

}  // namespace tessera::compiler::block
