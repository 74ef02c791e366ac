#include "cli/manifest.hpp"

#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "cli/hash.hpp"

namespace tessera::cli {
namespace {

constexpr const char* kHeader = "tessera-cache 2";

std::string folder_hash(const std::filesystem::path& folder) {
  Key names;
  for (const auto& file : cpp_files(folder)) names.add(file.filename().string());
  return names.hex();
}

std::int64_t changed_ns(const struct stat& s) {
  return std::int64_t{s.st_ctim.tv_sec} * 1'000'000'000 + s.st_ctim.tv_nsec;
}

}  // namespace

std::optional<Input> observe(const Dependency& d, std::chrono::system_clock::time_point started) {
  if (d.folder) return Input{d, folder_hash(d.path), 0, 0};
  struct stat s {};
  if (stat(d.path.c_str(), &s) != 0) return std::nullopt;
  const auto begin = std::chrono::duration_cast<std::chrono::nanoseconds>(started.time_since_epoch());
  // File systems stamp with the kernel's coarse clock, up to 10 ms behind.
  if (changed_ns(s) + 10'000'000 >= begin.count()) return std::nullopt;
  const std::optional<std::string> hash = hash_file(d.path);
  if (!hash) return std::nullopt;
  return Input{d, *hash, static_cast<std::uintmax_t>(s.st_size), changed_ns(s)};
}

bool unchanged(const Input& input) {
  if (input.of.folder) return folder_hash(input.of.path) == input.hash;
  struct stat s {};
  if (stat(input.of.path.c_str(), &s) != 0) return false;
  if (static_cast<std::uintmax_t>(s.st_size) != input.size) return false;
  return changed_ns(s) == input.changed || hash_file(input.of.path) == input.hash;
}

void write_manifest(const std::filesystem::path& file, const Manifest& m) {
  std::ostringstream out;
  out << kHeader << "\nresult " << m.result << " " << m.hash << "\n";
  for (const Input& i : m.inputs) {
    out << (i.of.folder ? "folder " : "file ") << i.hash << " " << i.size << " " << i.changed << " "
        << i.of.path.string() << "\n";
  }
  out << "note " << m.note.size() << "\n" << m.note;
  write_for_cache(file, out.str());
}

std::optional<Manifest> read_manifest(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string line;
  if (!std::getline(in, line) || line != kHeader) return std::nullopt;
  Manifest m;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "note") {
      std::size_t size = 0;
      words >> size;
      m.note.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
      return m.hash.empty() || m.note.size() != size ? std::nullopt : std::optional<Manifest>(m);
    }
    if (kind == "result") {
      words >> m.result >> m.hash;
      continue;
    }
    Input i;
    i.of.folder = kind == "folder";
    words >> i.hash >> i.size >> i.changed;
    std::string path;
    if (!words || words.get() != ' ' || !std::getline(words, path)) return std::nullopt;
    i.of.path = path;
    m.inputs.push_back(std::move(i));
  }
  return std::nullopt;  // cut short
}

}  // namespace tessera::cli
