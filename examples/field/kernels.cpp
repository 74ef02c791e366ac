// The file of field.fa. Each kernel opens it anew: ranks may be on several hosts, which share the folder.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <tessera.hpp>
#include <vector>

namespace {

class File {
 public:
  File(const char *name, int flags) : name_(name), descriptor_(open(name, flags | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail("open");
  }
  ~File() { close(descriptor_); }
  void resize(off_t size) {
    if (ftruncate(descriptor_, size) != 0) fail("make room in");
  }
  void write(const void *data, std::size_t size, off_t at) {
    for (const char *from = static_cast<const char *>(data); size > 0;) {
      const ssize_t n = pwrite(descriptor_, from, size, at);
      if (n < 0) fail("write");
      from += n, at += n, size -= static_cast<std::size_t>(n);
    }
  }
  std::size_t read(void *data, std::size_t size, off_t at) {
    const ssize_t n = pread(descriptor_, data, size, at);
    if (n < 0) fail("read");
    return static_cast<std::size_t>(n);
  }

 private:
  [[noreturn]] void fail(const char *what) {
    throw std::runtime_error("can't " + std::string(what) + " " + name_ + ": " + strerror(errno));
  }
  std::string name_;
  int descriptor_;
};

}  // namespace

// A file of that size, whose head says what is in it. `header` is how long the head is.
extern "C" void make_file(const char *name, int rows, int columns, tessera::Output &header) {
  std::string head = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                     std::to_string(columns) + "), }";
  head.append(64 - (10 + head.size() + 1) % 64, ' ');
  head += '\n';
  const std::string begin = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(head.size() & 0xFF),
                             static_cast<char>(head.size() >> 8)};
  head = begin + head;
  File file(name, O_WRONLY | O_CREAT | O_TRUNC);
  file.resize(static_cast<off_t>(head.size() + sizeof(double) * rows * columns));
  file.write(head.data(), head.size(), 0);
  header = static_cast<int>(head.size());
}

extern "C" void waves(int first, int rows, int columns, int all, tessera::Output &strip) {
  const auto out = strip.create<double>(static_cast<std::size_t>(rows) * columns);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c)
      out[r * columns + c] = std::sin(20.0 * (first + r) / all) * std::cos(20.0 * c / columns);
  }
}

// Different strips, different bytes of the file: nobody waits for another.
extern "C" void write_rows(const char *name, int header, int first, int columns, const tessera::Input &strip,
                           tessera::Output &written) {
  const auto data = strip.span<double>();
  File(name, O_WRONLY).write(data.data(), data.size_bytes(), header + static_cast<off_t>(sizeof(double)) * first * columns);
  written = static_cast<int>(data.size());
}

// Whoever waits for all of `written` sees all of the file.
extern "C" void look(const char *name, int header, int written) {
  File file(name, O_RDONLY);
  std::vector<double> all(static_cast<std::size_t>(written) + 1);
  const std::size_t bytes = file.read(all.data(), sizeof(double) * all.size(), header);
  double least = 0, most = 0;
  for (int i = 0; i < written; ++i) least = std::min(least, all[i]), most = std::max(most, all[i]);
  printf("%zu numbers from %.3f to %.3f\n", bytes / sizeof(double), least, most);
}
