// Linking, and saying in the program's own terms why it failed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/build.hpp"
#include "cli/units.hpp"

namespace tessera::cli {

// link_objects makes `output`. Throws Failure: an imported kernel that nothing defines (with its
// import and the nearest name), one defined twice, else the linker's message.
void link_objects(const std::vector<Object>&, const CompileSetup&, const BuildRequest&, const compiler::Output&,
                  const std::filesystem::path& output);

}  // namespace tessera::cli
