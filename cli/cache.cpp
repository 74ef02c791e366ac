#include "cli/cache.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "cli/failure.hpp"
#include "cli/hash.hpp"
#include "cli/manifest.hpp"
#include "files/private_folder.hpp"
#include "files/whole_file.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

fs::path cache_root() {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && *xdg == '/') return fs::path(xdg) / "tessera";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache" / "tessera";
  return fs::temp_directory_path() / ("tessera-" + std::to_string(getuid()));
}

// sync has the file on the disk before its name says that it is complete. Where that can't be had, its hash tells.
void sync(const fs::path& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

}  // namespace

Cache::Cache() : root_(cache_root()) {
  constexpr const char* kFolders[] = {"entries", "tmp", "locks"};
  std::error_code failed;
  fs::create_directories(root_.parent_path(), failed);
  // What is in it gets executed.
  const files::PrivateFolder own = files::make_private(root_);
  if (!own.wrong.empty()) {
    throw std::runtime_error("can't use " + root_.string() + " as compilation cache: " + own.wrong +
                             "; set XDG_CACHE_HOME to a folder of your own");
  }
  for (const char* folder : kFolders) {
    if (own.was_open) fs::remove_all(root_ / folder, failed);
    fs::create_directories(root_ / folder, failed);
    if (failed || access((root_ / folder).c_str(), W_OK) != 0) {
      throw std::runtime_error("can't write the compilation cache " + root_.string() +
                               "; set XDG_CACHE_HOME to a folder that can be written");
    }
  }
}

fs::path Cache::manifest(const std::string& key) const { return root_ / "entries" / (key + ".txt"); }

std::optional<Cached> Cache::find(const std::string& key) {
  const std::optional<Manifest> m = read_manifest(manifest(key));
  if (!m) return std::nullopt;
  const fs::path result = root_ / "entries" / m->result;
  if (!std::all_of(m->inputs.begin(), m->inputs.end(), unchanged)) return std::nullopt;
  // A machine or a disk that failed may have left anything in it.
  if (hash_file(result) != m->hash) return std::nullopt;
  utimensat(AT_FDCWD, result.c_str(), nullptr, 0);  // used now: prune() goes by this
  Cached found{result, m->note, {}};
  for (const Input& input : m->inputs) found.dependencies.push_back(input.of);
  return found;
}

Cached Cache::store(const std::string& key, const fs::path& made, const std::string& note,
                    const std::vector<Dependency>& dependencies, std::chrono::system_clock::time_point started) {
  Manifest m;
  m.note = note;
  Key identity;  // a result of other inputs must not replace the file that someone is loading
  identity.add(key);
  bool findable = true;
  for (const Dependency& d : dependencies) {
    const std::optional<Input> input = observe(d, started);
    if (!input) {
      findable = false;
      continue;
    }
    identity.add(input->hash);
    m.inputs.push_back(*input);
  }
  if (!findable) identity.add(made.string());
  m.result = identity.hex() + made.extension().string();
  const fs::path result = root_ / "entries" / m.result;
  const std::optional<std::string> hash = findable ? hash_file(made) : std::nullopt;
  if (hash) sync(made);
  fs::rename(made, result);
  if (hash) {
    m.hash = *hash;
    const fs::path temporary = made.string() + ".manifest";
    write_manifest(temporary, m);
    sync(temporary);
    fs::rename(temporary, manifest(key));
  }
  return {result, note, dependencies};
}

Cache::Workspace::Workspace(const fs::path& parent) {
  std::string name = (parent / "XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "can't make a folder in " + parent.string());
  }
  path_ = name;
}

Cache::Workspace::~Workspace() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Cache::Lock::Lock(const fs::path& file) : fd_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  // Without locks (some network file systems) the work may be done twice; the result is the same.
  if (fd_ >= 0) {
    while (flock(fd_, LOCK_EX) != 0 && errno == EINTR) {}
  }
}

Cache::Lock::~Lock() {
  if (fd_ >= 0) close(fd_);
}

fs::path Cache::lock_file(const std::string& key) const {
  // A few lock files for all keys: two different programs seldom wait for each other.
  return root_ / "locks" / key.substr(0, 2);
}

Cache::Lock Cache::lock(const std::string& key) const { return Lock(lock_file(key)); }

std::optional<Cached> Cache::await(const std::string& key, std::chrono::milliseconds patience) {
  const int fd = open(lock_file(key).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  auto held = std::chrono::steady_clock::now();  // when somebody was last seen to hold the lock
  std::optional<Cached> found;
  while (!(found = find(key))) {
    const auto now = std::chrono::steady_clock::now();
    // Shared, so that those who only look never take one another for the one that works.
    if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0) {
      flock(fd, LOCK_UN);
      if (now - held > patience) break;
    } else if (fd >= 0 && errno == EWOULDBLOCK) {
      held = now;
    } else if (now - held > patience) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (fd >= 0) close(fd);
  return found;
}

void Cache::prune(std::uintmax_t bytes) const {
  struct Entry {
    fs::file_time_type used;
    std::uintmax_t size;
    fs::path path;
  };
  std::error_code failed;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& e : fs::directory_iterator(root_ / "tmp", failed)) {
    if (now - e.last_write_time(failed) > std::chrono::hours(24)) fs::remove_all(e.path(), failed);
  }
  std::vector<Entry> entries;
  std::uintmax_t total = 0;
  for (const auto& e : fs::directory_iterator(root_ / "entries", failed)) {
    const std::uintmax_t size = e.file_size(failed);
    if (failed) continue;
    entries.push_back({e.last_write_time(failed), size, e.path()});
    total += size;
  }
  std::sort(entries.begin(), entries.end(), [](auto& a, auto& b) { return a.used < b.used; });
  for (const Entry& e : entries) {
    if (total <= bytes) break;
    if (fs::remove(e.path, failed)) total -= e.size;
  }
}

void write_for_cache(const fs::path& file, const std::string& text) {
  const std::string wrong = files::write_here(file, text);
  if (wrong.empty()) return;
  throw environment_error("can't write into the compilation cache " + cache_root().string() + ": " + wrong +
                          "; make room, or set XDG_CACHE_HOME to another folder");
}

std::vector<fs::path> cpp_files(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (const auto& e : fs::directory_iterator(folder, failed)) {
    if (e.path().extension() == ".cpp" && e.is_regular_file(failed)) found.push_back(e.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace tessera::cli
