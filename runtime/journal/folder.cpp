#include "runtime/journal/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "files/whole_file.hpp"
#include "runtime/journal/printed.hpp"
#include "runtime/threads/threads.hpp"

namespace tessera::runtime::journal {
namespace fs = std::filesystem;
namespace {

constexpr const char* kEnding = ".tsj";
constexpr const char* kLock = "lock";        // held by rank 0
constexpr const char* kWriting = "writing";  // ... by the others, together
constexpr auto kPatience = std::chrono::seconds(8);
constexpr auto kBetweenTries = std::chrono::milliseconds(20);

std::string words_of(const std::vector<std::string>& words) {
  if (words.empty()) return "no arguments";
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "`" : " ") + w;
  return all + "`";
}

// What keeps a run with this origin from using the file; nothing: it may.
std::string foreign(const fs::path& folder, const fs::path& file, const Header& h, const Origin& origin,
                    bool begins_anew) {
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
  if (!begins_anew && (h.origin.kernels[0] != origin.kernels[0] || h.origin.kernels[1] != origin.kernels[1])) {
    return fmt::format(
        "--journal: the kernels of {} have changed since {} was written (a .cpp file, a header, or an option that they "
        "are compiled with): the values there are the old ones'. Remove the folder, or give another one, to have all "
        "computed anew; with the old kernels the run goes on",
        h.origin.program, folder.string());
  }
  if (!begins_anew && h.origin.arguments != origin.arguments) {
    return fmt::format("--journal: {} is the journal of a run with {}, not with {}: give the same, or another folder",
                       folder.string(), words_of(h.origin.arguments), words_of(origin.arguments));
  }
  return "";
}

// Of those with the name of a file of records, the ones that are files, or that are none.
std::vector<fs::path> named_in(const fs::path& folder, bool are_files) {
  std::vector<fs::path> named;
  std::error_code failed, of_one;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->path().extension() == kEnding && fs::is_regular_file(at->path(), of_one) == are_files)
      named.push_back(at->path());
  }
  std::sort(named.begin(), named.end());
  return named;
}

// Of the run that has written it; 0: none could be.
std::uint64_t attempt_of(const fs::path& file) {
  unsigned long long number = 0;
  return std::sscanf(file.filename().c_str(), "%llu-", &number) == 1 ? number : 0;
}

}  // namespace

std::vector<fs::path> files_of(const fs::path& folder) { return named_in(folder, true); }
std::vector<fs::path> not_files_of(const fs::path& folder) { return named_in(folder, false); }

fs::path file_name(const fs::path& folder, std::uint64_t attempt, std::int32_t rank, std::uint32_t number) {
  return folder / fmt::format("{:05}-{:05}-{:05}{}", attempt, rank, number, kEnding);
}

std::int64_t written_at(const fs::path& file) {
  struct stat s {};
  return stat(file.c_str(), &s) == 0 ? static_cast<std::int64_t>(s.st_mtime) : 0;
}

Folder::Folder(fs::path path, const Origin& origin, Finished finished, std::function<void()> waits)
    : path_(std::move(path)) {
  std::error_code failed;
  fs::create_directories(path_, failed);
  if (failed) {
    wrong = fmt::format("--journal: can't make the folder {}: {}", path_.string(), failed.message());
    return;
  }
  lock_ = open((path_ / kLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) {
    wrong = fmt::format("--journal: can't write into {}: {}", path_.string(), std::strerror(errno));
  } else if (!take(waits)) {
    wrong = fmt::format("--journal: another run is using {}: wait for its end, or give another folder", path_.string());
  } else {
    put_token();
    if (wrong.empty()) look(origin, finished);
  }
}

// The ranks of a run whose `tessera` was killed live on, and write, until mpirun has found that out: 3 to 4 s.
bool Folder::take(const std::function<void()>& waits) {
  const int writing = open((path_ / kWriting).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  const auto until = Clock::now() + kPatience;
  // A file system without locks is taken as it is.
  const auto held = [](int file, int how) { return flock(file, how | LOCK_NB) != 0 && errno == EWOULDBLOCK; };
  bool mine = !held(lock_, LOCK_EX), told = false;
  while (!mine || held(writing, LOCK_EX)) {
    if (Clock::now() >= until) break;
    if (!std::exchange(told, true) && waits) waits();
    sleep_for(kBetweenTries);
    mine = mine || !held(lock_, LOCK_EX);
  }
  mine = mine && !held(writing, LOCK_EX);
  if (writing >= 0) close(writing);
  return mine;
}

void Folder::put_token() {
  token = fmt::format("{} {}\n", getpid(), std::chrono::system_clock::now().time_since_epoch().count());
  errno = ENOSPC;  // of which it may have room for a part
  if (ftruncate(lock_, 0) == 0 && pwrite(lock_, token.data(), token.size(), 0) == static_cast<ssize_t>(token.size())) {
    fsync(lock_);
    return;
  }
  wrong = fmt::format("--journal: can't write into {}: {}", path_.string(), std::strerror(errno));
}

Folder::~Folder() {
  if (lock_ >= 0) close(lock_);
}

void Folder::look(const Origin& origin, Finished finished) {
  const std::vector<fs::path> files = files_of(path_);
  was_finished = fs::exists(path_ / kFinished);
  const bool begins_anew = was_finished && finished == Finished::goes;
  for (const fs::path& other : not_files_of(path_)) attempt = std::max(attempt, attempt_of(other) + 1);
  for (const fs::path& file : files) {
    attempt = std::max(attempt, attempt_of(file) + 1);
    Header h;
    if (!read_header(file, h)) continue;
    wrong = foreign(path_, file, h, origin, begins_anew);
    if (!wrong.empty()) return;
  }
  if (!begins_anew) return;
  std::error_code ignored;
  PrintedFile::remove(path_);
  for (const fs::path& file : files) fs::remove(file, ignored);
  fs::remove(path_ / kFinished, ignored);
}

std::string token_of(const fs::path& folder) { return files::read_whole(folder / kLock).value_or(""); }

Writing::Writing(const fs::path& folder)
    : lock_(open((folder / kWriting).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (lock_ >= 0) flock(lock_, LOCK_SH | LOCK_NB);
}

Writing::~Writing() {
  if (lock_ >= 0) close(lock_);
}

void Folder::finished() const { say_finished(path_); }

void say_finished(const fs::path& folder) { files::write_here(folder / kFinished, "\n"); }

}  // namespace tessera::runtime::journal
