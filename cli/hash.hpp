// Content hashes for the compilation cache.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::cli {

// 128 bits of xxHash as 32 hexadecimal digits.
std::string hash_text(std::string_view text);

// Hash of a file's bytes; nothing when it can't be read.
std::optional<std::string> hash_file(const std::filesystem::path& file);

// Key gathers everything that a cached result depends on. Each part is stored with its length, so
// that ("ab", "c") and ("a", "bc") differ.
class Key {
 public:
  Key& add(std::string_view part);
  Key& add(const std::vector<std::string>& parts);
  // Path, size and time of a program or library: changes when it is replaced.
  Key& add_identity(const std::filesystem::path& file);
  std::string hex() const { return hash_text(text_); }

 private:
  std::string text_;
};

}  // namespace tessera::cli
