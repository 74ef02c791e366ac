#include "runtime/transport/whole_lines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ext/stdio_sync_filebuf.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "runtime/transport/launcher.hpp"
#include "runtime/transport/open_mpi.hpp"

namespace fs = std::filesystem;

namespace tessera::runtime {
namespace {

// Of longer lines the system is given several pieces. Only what the longest line needs is ever touched.
constexpr std::size_t kLongestLine = 1 << 20;

// through has the stream keep no buffer of its own beside the file's, as it is while both are synchronised.
template <class Stream>
void through(Stream& stream, std::FILE* file) {
  // Never deleted: it is used until the very end of the process.
  stream.rdbuf(new __gnu_cxx::stdio_sync_filebuf<typename Stream::char_type>(file));
}

// On one host one stream has the lines of all ranks (print_into).
bool several_hosts() {
  const std::int32_t here = launcher_local_size();
  return here > 0 && here != launcher_size();
}

bool launcher_tells_ranks_apart() { return mpirun_tells_ranks_apart() || std::getenv("SLURM_LABELIO") != nullptr; }

pid_t parent_of(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(in, text);
  const std::size_t name = text.rfind(')');  // which may have anything in it
  return name == text.npos ? 0 : std::atoi(text.c_str() + std::min(name + 3, text.size()));
}

// The number of the terminal whose other side the descriptor is, or "".
std::string terminal_of(const fs::path& process, const fs::path& descriptor) {
  std::ifstream in(process / "fdinfo" / descriptor);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("tty-index:", 0) == 0) return line.substr(line.find_first_not_of(" \t", 10));
  }
  return "";
}

bool reads(pid_t who, const fs::path& what) {
  const fs::path process = "/proc/" + std::to_string(who);
  const std::string terminal = what.parent_path() == "/dev/pts" ? what.filename().string() : "";
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(process / "fd", failed)) {
    const fs::path target = fs::read_symlink(entry.path(), failed);
    if (failed) continue;
    if (!terminal.empty()) {
      if (target.filename() == "ptmx" && terminal_of(process, entry.path().filename()) == terminal) return true;
    } else if (target == what &&
               (fs::symlink_status(entry.path(), failed).permissions() & fs::perms::owner_read) != fs::perms::none) {
      return true;
    }
  }
  return false;
}

// The ancestor that reads what is written there; 0: none.
pid_t reader_of(int descriptor) {
  struct stat s {};
  if (fstat(descriptor, &s) != 0 || (!S_ISFIFO(s.st_mode) && !S_ISCHR(s.st_mode))) return 0;
  std::error_code failed;
  const fs::path what = fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor), failed);
  if (failed) return 0;
  for (pid_t p = getppid(); p > 1; p = parent_of(p)) {
    if (reads(p, what)) return p;
  }
  return 0;
}

// What mpirun reads at a time it passes on at once: of a pipe of packets that is what was written at a time, up to 4096
// bytes. Else it is whatever is there, the last line cut, and what another rank or host has written comes next. (Where
// mpirun reads through a terminal, so it is. Its --tag-output would tell whose a piece is, but loses what is over 8 kB
// with the tags.)
void one_line_at_a_time(int descriptor) {
  constexpr int kRoom = 1 << 20;  // a packet takes a page of it
  struct stat s {};
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr || fstat(descriptor, &s) != 0 || !S_ISFIFO(s.st_mode)) return;
  // Who reads with less room than a packet needs, as a shell does, loses the rest of it.
  const pid_t reader = reader_of(descriptor);
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(reader) + "/comm"), name);
  if (!reads_as_open_mpi(name)) return;
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_DIRECT) != 0) return;
  fcntl(descriptor, F_SETPIPE_SZ, kRoom);
}

}  // namespace

void print_whole_lines() {
  static char buffer[kLongestLine];
  std::setvbuf(stdout, buffer, _IOLBF, kLongestLine);
  one_line_at_a_time(STDERR_FILENO);
  if (several_hosts()) one_line_at_a_time(STDOUT_FILENO);
  // Here, so that a program that does it has no effect: std::cout would write whenever a buffer of its own is full.
  if (!std::ios::sync_with_stdio(false)) return;
  through(std::cin, stdin);
  through(std::cout, stdout);
  through(std::cerr, stderr);
  through(std::clog, stderr);
  through(std::wcin, stdin);
  through(std::wcout, stdout);
  through(std::wcerr, stderr);
  through(std::wclog, stderr);
}

OutputPlace output_place(int descriptor) {
  OutputPlace place;
  place.process = getpid();
  struct stat s {};
  if (launcher_tells_ranks_apart() || fstat(descriptor, &s) != 0) return place;
  place.reader = reader_of(descriptor);
  place.device = s.st_dev;
  place.file = s.st_ino;
  return place;
}

bool print_into(const OutputPlace& first, int descriptor) {
  if (first.reader == 0) return false;
  if (first.process == getpid()) return true;
  if (output_place(descriptor).reader != first.reader) return false;
  const std::string path = "/proc/" + std::to_string(first.process) + "/fd/" + std::to_string(descriptor);
  const int fd = open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat s {};
  const bool same = fstat(fd, &s) == 0 && s.st_dev == first.device && s.st_ino == first.file;
  if (same) {
    std::fflush(descriptor == STDOUT_FILENO ? stdout : stderr);
    dup2(fd, descriptor);
    if (descriptor == STDERR_FILENO || several_hosts()) one_line_at_a_time(descriptor);
  }
  close(fd);
  return same;
}

// A packet takes a page however small it is, and more than there is room for is written in parts.
void print_in_one_stream(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags >= 0) fcntl(descriptor, F_SETFL, flags & ~O_DIRECT);
}

}  // namespace tessera::runtime
