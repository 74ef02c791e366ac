// The compilation cache: ${XDG_CACHE_HOME:-~/.cache}/tessera.
//
// A result (an object file, a shared object, an executable) is found by a key: all that was known
// before it was made. What was found out while making it, the files it was made from, stands in its
// manifest with their hashes, and a hit is one whose every file still has the same contents, and so has the result: one
// that was damaged is made again. The folder is the user's alone, since what is in it gets executed.
// Results appear by rename, so processes may share the cache; one that makes a result holds its
// lock, so that others wait for it instead of doing the same work.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::cli {

// A file that a result was made from, or a folder whose list of *.cpp files decided what to
// compile.
struct Dependency {
  std::filesystem::path path;
  bool folder = false;
};

struct Cached {
  std::filesystem::path file;  // the result
  std::string note;            // text kept with it (warnings to show again)
  std::vector<Dependency> dependencies;
};

class Cache {
 public:
  // Opens (makes) the cache; throws std::runtime_error when its folder can't be written or is not this user's.
  Cache();

  std::optional<Cached> find(const std::string& key);

  // await is find() while another process makes the result: it returns when that one is done, and
  // nothing when nobody has held the lock of `key` for as long as `patience`.
  std::optional<Cached> await(const std::string& key, std::chrono::milliseconds patience);

  // store moves `made` into the cache. A dependency that changed after `started` leaves the result
  // usable now but not findable later, since it can't be known which contents it saw.
  Cached store(const std::string& key, const std::filesystem::path& made, const std::string& note,
               const std::vector<Dependency>& dependencies, std::chrono::system_clock::time_point started);

  // A fresh folder on the cache's own file system, removed with the object.
  class Workspace {
   public:
    explicit Workspace(const std::filesystem::path& parent);
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    const std::filesystem::path& path() const { return path_; }

   private:
    std::filesystem::path path_;
  };
  Workspace workspace() const { return Workspace(root_ / "tmp"); }

  // folder returns a folder of the cache that prune() leaves alone.
  std::filesystem::path folder(const std::string& name) const { return root_ / name; }

  // Held while the result of `key` is being made.
  class Lock {
   public:
    explicit Lock(const std::filesystem::path& file);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    int fd_;
  };
  Lock lock(const std::string& key) const;

  // Removes the results used longest ago until at most `bytes` are left, and forgotten workspaces.
  void prune(std::uintmax_t bytes) const;

 private:
  std::filesystem::path manifest(const std::string& key) const;
  std::filesystem::path lock_file(const std::string& key) const;
  std::filesystem::path root_;
};

// write_for_cache writes a file into the cache or a workspace; throws Failure (environment).
void write_for_cache(const std::filesystem::path& file, const std::string& text);

// The names of the *.cpp files of a folder, sorted.
std::vector<std::filesystem::path> cpp_files(const std::filesystem::path& folder);

}  // namespace tessera::cli
