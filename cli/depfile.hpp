// The rule that a compiler's -MD writes: which files a unit was compiled from.
#pragma once

#include <filesystem>
#include <vector>

namespace tessera::cli {

// read_depfile returns the prerequisites as absolute paths, the source itself first.
std::vector<std::filesystem::path> read_depfile(const std::filesystem::path& file);

}  // namespace tessera::cli
