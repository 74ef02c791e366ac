#include "cli/hash.hpp"

#include <sys/stat.h>
#include <xxhash.h>

#include <cstdio>

#include "files/whole_file.hpp"

namespace tessera::cli {

std::string hash_text(std::string_view text) {
  const XXH128_hash_t h = XXH3_128bits(text.data(), text.size());
  char hex[33];
  std::snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(h.high64),
                static_cast<unsigned long long>(h.low64));
  return hex;
}

std::optional<std::string> hash_file(const std::filesystem::path& file) {
  const std::optional<std::string> bytes = files::read_whole(file);
  if (!bytes) return std::nullopt;
  return hash_text(*bytes);
}

Key& Key::add(std::string_view part) {
  text_ += std::to_string(part.size()) + ":";
  text_ += part;
  return *this;
}

Key& Key::add(const std::vector<std::string>& parts) {
  add(std::to_string(parts.size()));
  for (const std::string& p : parts) add(p);
  return *this;
}

Key& Key::add_identity(const std::filesystem::path& file) {
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(file, failed);
  const std::string name = failed ? file.string() : real.string();
  struct stat s {};
  if (stat(name.c_str(), &s) != 0) return add(name);
  return add(name + "|" + std::to_string(s.st_size) + "|" + std::to_string(s.st_mtim.tv_sec) + "." +
             std::to_string(s.st_mtim.tv_nsec));
}

}  // namespace tessera::cli
