// What is in a journal, for those who want to know, and the same in less room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "runtime/journal/format.hpp"

namespace tessera::runtime::journal {

struct Contents {
  Header last;  // of the last run; attempt 0: nothing could be read
  std::vector<std::pair<std::filesystem::path, std::uint64_t>> files;  // with the bytes that can't be read
  std::vector<std::filesystem::path> not_files;                        // named like files of it
  std::uint64_t attempts = 0, done = 0, recalled = 0;                  // as the last translation would
  std::uint64_t values = 0, value_bytes = 0, needed = 0, needed_bytes = 0;
  std::uint64_t text = 0;               // bytes that are to be printed again
  std::uint64_t series = 0, links = 0;  // that run elsewhere than they belong; between hosts, measured
  std::uint64_t file_bytes = 0, damaged = 0;
  std::int64_t written = 0;  // seconds since 1970
  bool finished = false;
};
Contents contents_of(const std::filesystem::path& folder);

// compact writes each record once, and values only if somebody may need them, into a new file, and removes the others.
// Returns why it can't, for a person.
std::string compact(const std::filesystem::path& folder, const Contents&);

}  // namespace tessera::runtime::journal
