// Putting a result of the cache where the user wants it.
#pragma once

#include <filesystem>
#include <string_view>

namespace tessera::cli {

// install_file copies `from` to `to` at once (files::write_whole): whoever runs the old file meanwhile keeps
// it. Throws Failure (usage) that begins with `option`.
void install_file(const std::filesystem::path& from, const std::filesystem::path& to, std::string_view option);

}  // namespace tessera::cli
