#include "runtime/journal/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "files/whole_file.hpp"

namespace tessera::runtime::journal {
namespace fs = std::filesystem;
namespace {

constexpr const char* kEnding = ".tsj";

std::string words_of(const std::vector<std::string>& words) {
  if (words.empty()) return "no arguments";
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "`" : " ") + w;
  return all + "`";
}

// What keeps a run with this origin from using the file; nothing: it may.
std::string foreign(const fs::path& folder, const fs::path& file, const Header& h, const Origin& origin) {
  if (h.format != kFormat) {
    return fmt::format(
        "--journal: {} was written by another version of Tessera (format {}, this one has {}): run it with that one, "
        "or give another folder",
        file.string(), h.format, kFormat);
  }
  if (h.origin.hash[0] != origin.hash[0] || h.origin.hash[1] != origin.hash[1]) {
    return fmt::format(
        "--journal: {} is the journal of another program, or of another version of it (`{}`): give another folder, or "
        "remove this one",
        folder.string(), h.origin.program);
  }
  if (h.origin.arguments != origin.arguments) {
    return fmt::format("--journal: {} is the journal of a run with {}, not with {}: give the same, or another folder",
                       folder.string(), words_of(h.origin.arguments), words_of(origin.arguments));
  }
  return "";
}

}  // namespace

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->path().extension() == kEnding) files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

fs::path file_name(const fs::path& folder, std::uint64_t attempt, std::int32_t rank, std::uint32_t number) {
  return folder / fmt::format("{:05}-{:05}-{:05}{}", attempt, rank, number, kEnding);
}

std::int64_t written_at(const fs::path& file) {
  struct stat s {};
  return stat(file.c_str(), &s) == 0 ? static_cast<std::int64_t>(s.st_mtime) : 0;
}

Folder::Folder(fs::path path, const Origin& origin, Finished finished) : path_(std::move(path)) {
  std::error_code failed;
  fs::create_directories(path_, failed);
  if (failed) {
    wrong = fmt::format("--journal: can't make the folder {}: {}", path_.string(), failed.message());
    return;
  }
  lock_ = open((path_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) {
    wrong = fmt::format("--journal: can't write into {}: {}", path_.string(), std::strerror(errno));
  } else if (flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    wrong = fmt::format("--journal: another run is using {}: wait for its end, or give another folder", path_.string());
  } else {
    look(origin, finished);
  }
}

Folder::~Folder() {
  if (lock_ >= 0) close(lock_);
}

void Folder::look(const Origin& origin, Finished finished) {
  const std::vector<fs::path> files = files_of(path_);
  for (const fs::path& file : files) {
    unsigned long long number = 0;
    if (std::sscanf(file.filename().c_str(), "%llu-", &number) == 1)
      attempt = std::max<std::uint64_t>(attempt, number + 1);
    Header h;
    if (!read_header(file, h)) continue;
    wrong = foreign(path_, file, h, origin);
    if (!wrong.empty()) return;
  }
  was_finished = fs::exists(path_ / kFinished);
  if (!was_finished || finished == Finished::stays) return;
  std::error_code ignored;
  for (const fs::path& file : files) fs::remove(file, ignored);
  fs::remove(path_ / kFinished, ignored);
}

void Folder::finished() const { files::write_here(path_ / kFinished, "\n"); }

}  // namespace tessera::runtime::journal
