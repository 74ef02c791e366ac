// Files in one piece: those that somebody named, to be written (--record, --summary, -o and the like), and what is read
// at once.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::files {

// target follows the links that `path` is, also to where nothing is yet.
std::filesystem::path target(const std::filesystem::path& path);

using Writer = std::function<void(std::ostream&)>;

// write_whole makes `path` hold what `write` puts into the stream; returns why it does not, or nothing. A file appears
// at once (made where nobody sees it, then renamed): nobody sees half of it, and an old one stays as it is when
// something fails. Links stay links. What is no regular file (a device, a pipe), or is our own stdout or stderr, is
// written to where it is. `permissions` are by default those of the old file.
std::string write_whole(const std::filesystem::path& path, const Writer& write,
                        std::optional<std::filesystem::perms> permissions = {});
std::string write_whole(const std::filesystem::path& path, const std::string& text);

// write_all does so with several files: none is put in its place before all are written, so when something fails all
// stay as they are. Returns which one it was, and why.
std::string write_all(const std::vector<std::pair<std::filesystem::path, Writer>>& files);

// write_here does it without all that: for files of our own that nobody else looks at.
std::string write_here(const std::filesystem::path& path, const std::string& text);

// read_whole returns all of a file's bytes, or nothing when it can't be read. Files of /proc, which do not tell their
// size, are read, too.
std::optional<std::string> read_whole(const std::filesystem::path& path);

// stdout_error flushes stdout; returns what did not go well with it since the start of the process, or nothing.
std::string stdout_error();

}  // namespace tessera::files
