#include "files/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>

namespace fs = std::filesystem;

namespace tessera::files {
namespace {

constexpr int kMostLinks = 40;  // as the kernel

bool same(const struct stat& a, int fd) {
  struct stat b {};
  return fstat(fd, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool stays(const struct stat& s) { return !S_ISREG(s.st_mode) || same(s, STDOUT_FILENO) || same(s, STDERR_FILENO); }

bool fill(const fs::path& file, std::ios::openmode mode, const Writer& write) {
  std::ofstream out(file, std::ios::binary | mode);
  if (out) write(out);
  out.close();
  return !out.fail();
}

std::string reason() { return errno != 0 ? std::strerror(errno) : "writing failed"; }

// A file that is written where nobody sees it, and then put in its place. Meanwhile it has no name, so nothing is left
// of it however the process ends; where the file system knows no such files, it is another one beside it.
class Part {
 public:
  Part(const fs::path& path, std::optional<fs::perms> permissions) : path_(path), permissions_(permissions) {}
  ~Part() {
    if (named_) unlink(part_.c_str());
    if (fd_ >= 0) close(fd_);
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  // Each says why not, or nothing.
  std::string write(const Writer& write) {
    struct stat old {};
    const bool exists = stat(path_.c_str(), &old) == 0;
    if (!exists && errno != ENOENT) return reason();
    errno = 0;
    if (exists && stays(old)) {
      std::fflush(stdout);
      return fill(path_, std::ios::app, write) ? "" : reason();
    }
    if (exists && !permissions_) permissions_ = static_cast<fs::perms>(old.st_mode & 07777u);
    file_ = target(path_);
    part_ = file_.string() + ".part" + std::to_string(getpid());
    if (!open_nameless() && !open_named()) return reason();
    const bool good = fill(named_ ? part_ : of_process(), std::ios::trunc, write) &&
                      (!permissions_ || fchmod(fd_, static_cast<mode_t>(*permissions_)) == 0) && fsync(fd_) == 0;
    return good ? "" : reason();
  }
  std::string place() {
    if (fd_ < 0) return {};  // it is there
    errno = 0;
    if (!named_) {
      unlink(part_.c_str());  // of an earlier process of this number
      errno = 0;
      named_ = linkat(AT_FDCWD, of_process().c_str(), AT_FDCWD, part_.c_str(), AT_SYMLINK_FOLLOW) == 0;
      if (!named_) return reason();
    }
    if (std::rename(part_.c_str(), file_.c_str()) != 0) return reason();
    named_ = false;
    return {};
  }

 private:
  fs::path of_process() const { return "/proc/self/fd/" + std::to_string(fd_); }
  bool open_nameless() {
    const fs::path folder = file_.has_parent_path() ? file_.parent_path() : ".";
    fd_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (fd_ >= 0 && access(of_process().c_str(), W_OK) != 0) close(std::exchange(fd_, -1));
    return fd_ >= 0;
  }
  bool open_named() {
    unlink(part_.c_str());
    errno = 0;
    fd_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return named_ = fd_ >= 0;
  }

  const fs::path path_;
  std::optional<fs::perms> permissions_;
  fs::path file_, part_;
  int fd_ = -1;
  bool named_ = false;  // part_ is there
};

}  // namespace

fs::path target(const fs::path& path) {
  fs::path at = path;
  std::error_code failed;
  for (int i = 0; i < kMostLinks; ++i) {
    const fs::path next = fs::read_symlink(at, failed);
    if (failed) break;
    at = at.parent_path() / next;
  }
  return at;
}

std::string write_whole(const fs::path& path, const Writer& write, std::optional<fs::perms> permissions) {
  Part part(path, permissions);
  std::string wrong = part.write(write);
  return wrong.empty() ? part.place() : wrong;
}

std::string write_all(const std::vector<std::pair<fs::path, Writer>>& files) {
  std::deque<Part> parts;
  std::string wrong;
  for (const auto& [path, write] : files) {
    wrong = parts.emplace_back(path, std::nullopt).write(write);
    if (!wrong.empty()) return path.string() + ": " + wrong;
  }
  for (std::size_t k = 0; k < files.size() && wrong.empty(); ++k) {
    wrong = parts[k].place();
    if (!wrong.empty()) wrong = files[k].first.string() + ": " + wrong;
  }
  return wrong;
}

std::string write_whole(const fs::path& path, const std::string& text) {
  return write_whole(path, [&](std::ostream& out) { out << text; });
}

std::string write_here(const fs::path& path, const std::string& text) {
  errno = 0;
  return fill(path, std::ios::trunc, [&](std::ostream& out) { out << text; }) ? "" : reason();
}

std::optional<std::string> read_whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(path, unknown);
  std::string bytes(unknown ? 0 : size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  // What has grown meanwhile, or did not say how large it is.
  for (char piece[1 << 14]; in && (in.read(piece, sizeof piece), in.gcount() > 0);) {
    bytes.append(piece, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return std::nullopt;
  return bytes;
}

std::string stdout_error() {
  errno = 0;
  if (std::fflush(stdout) != 0) return "can't write to stdout: " + reason();
  return std::ferror(stdout) != 0 ? "can't write to stdout" : "";  // the reason was told when nobody listened
}

}  // namespace tessera::files
