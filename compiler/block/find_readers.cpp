#include "compiler/block/find_readers.hpp"

#include <algorithm>

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
        // One place for each reader: there is no room for more.
        const bool once = std::all_of(r.tried.begin(), r.tried.end(), [](const Uses::Tried& t) { return t.once; });
        if (r.locator == nullptr || r.perhaps || r.input >= kMostInputs || !once) continue;
        r.sent = true;
        r.block->expects |= std::uint64_t{1} << r.input;
        u.add_parameters(r, r.locator);
      }
    }
  }
}

}  // namespace tessera::compiler::block
