#include "compiler/block/find_readers.hpp"

namespace tessera::compiler::block {
namespace {

// The runtime keeps one bit for each input of a block.
constexpr std::size_t kMostInputs = 64;

}  // namespace

void find_readers(Program& program, Diagnostics&) {
  for (auto& [variable, list] : program.uses) {
    for (Uses& u : list) {
      if (u.deleted) continue;
      for (Uses::Reader& r : u.readers) {
        if (r.locator == nullptr || r.input >= kMostInputs) continue;
        r.sent = true;
        r.block->expects |= std::uint64_t{1} << r.input;
        u.add_parameters(r, r.locator);
      }
    }
  }
}

}  // namespace tessera::compiler::block
