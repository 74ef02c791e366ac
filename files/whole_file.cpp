#include "files/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
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

bool fill(const fs::path& file, std::ios::openmode mode, const std::function<void(std::ostream&)>& write) {
  std::ofstream out(file, std::ios::binary | mode);
  if (out) write(out);
  out.close();
  return !out.fail();
}

std::string reason() { return errno != 0 ? std::strerror(errno) : "writing failed"; }

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

std::string write_whole(const fs::path& path, const std::function<void(std::ostream&)>& write,
                        std::optional<fs::perms> permissions) {
  struct stat old {};
  const bool exists = stat(path.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) return reason();
  errno = 0;
  if (exists && stays(old)) {
    std::fflush(stdout);
    return fill(path, std::ios::app, write) ? "" : reason();
  }
  const fs::path file = target(path);
  const std::string part = file.string() + ".part" + std::to_string(getpid());
  unlink(part.c_str());  // of an earlier process of this number
  errno = 0;
  const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return reason();
  bool good = fill(part, std::ios::trunc, write);
  if (exists && !permissions) permissions = static_cast<fs::perms>(old.st_mode & 07777u);
  good = good && (!permissions || fchmod(fd, static_cast<mode_t>(*permissions)) == 0);
  good = good && fsync(fd) == 0 && std::rename(part.c_str(), file.c_str()) == 0;
  std::string wrong = good ? "" : reason();
  close(fd);
  if (!good) unlink(part.c_str());
  return wrong;
}

std::string write_whole(const fs::path& path, const std::string& text) {
  return write_whole(path, [&](std::ostream& out) { out << text; });
}

std::string write_here(const fs::path& path, const std::string& text) {
  errno = 0;
  return fill(path, std::ios::trunc, [&](std::ostream& out) { out << text; }) ? "" : reason();
}

std::string stdout_error() {
  errno = 0;
  if (std::fflush(stdout) != 0) return "can't write to stdout: " + reason();
  return std::ferror(stdout) != 0 ? "can't write to stdout" : "";  // the reason was told when nobody listened
}

}  // namespace tessera::files
