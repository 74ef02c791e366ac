// What --no-cleanup, --build-dir and --compile-only leave for a person to look at.
#pragma once

#include <filesystem>

#include "cli/luna/options.hpp"

namespace tessera::cli::luna {

// keep_build puts the C++ that the program was translated to and its library into --build-dir, or
// into a folder of the cache that belongs to this program and these options; returns the library.
// Each file appears at once, so two builds into one folder do not disturb each other.
std::filesystem::path keep_build(const Options&, const std::filesystem::path& library);

}  // namespace tessera::cli::luna
