// Files that somebody named, to be written: --record, --summary, -o and the like.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

namespace tessera::files {

// target follows the links that `path` is, also to where nothing is yet.
std::filesystem::path target(const std::filesystem::path& path);

// write_whole makes `path` hold what `write` puts into the stream; returns why it does not, or nothing. A file appears
// at once (made beside, then renamed): nobody sees half of it, and an old one stays as it is when something fails.
// Links stay links. What is no regular file (a device, a pipe), or is our own stdout or stderr, is written to where it
// is. `permissions` are by default those of the old file.
std::string write_whole(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write,
                        std::optional<std::filesystem::perms> permissions = {});
std::string write_whole(const std::filesystem::path& path, const std::string& text);

// write_here does it without all that: for files of our own that nobody else looks at.
std::string write_here(const std::filesystem::path& path, const std::string& text);

// stdout_error flushes stdout; returns what did not go well with it since the start of the process, or nothing.
std::string stdout_error();

}  // namespace tessera::files
