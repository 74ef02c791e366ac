// What a cached result was made from, as a text file: one line per input (hash, size, time of change,
// path), then the note. Only cache.cpp uses it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/cache.hpp"

namespace tessera::cli {

struct Input {
  Dependency of;
  std::string hash;  // of the contents; of the list of names for a folder
  std::uintmax_t size = 0;
  std::int64_t changed = 0;  // ns, the inode's ctime, which no program can set back
};

struct Manifest {
  std::string result;  // file name of the result beside the manifest
  std::string hash;    // of its contents
  std::vector<Input> inputs;
  std::string note;
};

// observe describes a dependency as it is now; nothing when it is gone or changed after `started`.
std::optional<Input> observe(const Dependency&, std::chrono::system_clock::time_point started);

// unchanged tells whether it still has those contents. A file whose inode was not touched since is
// not read again, which is what makes a hit with hundreds of headers quick.
bool unchanged(const Input&);

void write_manifest(const std::filesystem::path& file, const Manifest&);
std::optional<Manifest> read_manifest(const std::filesystem::path& file);

}  // namespace tessera::cli
