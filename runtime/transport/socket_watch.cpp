#include "runtime/transport/socket_watch.hpp"

#include <dirent.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <system_error>

namespace tessera::runtime {
namespace {

enum class Source : std::uint64_t { readable, writable, stop };  // an event's data

int option(int fd, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

bool internet_stream(int fd) {
  const int domain = option(fd, SO_DOMAIN);
  return (domain == AF_INET || domain == AF_INET6) && option(fd, SO_TYPE) == SOCK_STREAM;
}

// False: it is there already (or was closed just now).
bool control(int operation, int epoll, int fd, std::uint32_t events, Source source = Source::readable) {
  epoll_event e{};
  e.events = events;
  e.data.u64 = static_cast<std::uint64_t>(source);
  return epoll_ctl(epoll, operation, fd, &e) == 0;
}

// Takes the edges; what they were is seen by who looks at MPI.
void take_edges(int epoll) {
  std::array<epoll_event, 64> events;
  while (epoll_wait(epoll, events.data(), static_cast<int>(events.size()), 0) == static_cast<int>(events.size())) {}
}

}  // namespace

SocketWatch::File::File(int made) : fd(made) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "waiting for sockets (epoll)");
}
SocketWatch::File::~File() { close(fd); }

SocketWatch::SocketWatch(Doorbell& bell)
    : bell_(bell),
      readable_(epoll_create1(EPOLL_CLOEXEC)),
      writable_(epoll_create1(EPOLL_CLOEXEC)),
      either_(epoll_create1(EPOLL_CLOEXEC)),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  control(EPOLL_CTL_ADD, either_.fd, readable_.fd, EPOLLONESHOT, Source::readable);  // not before arm()
  control(EPOLL_CTL_ADD, either_.fd, writable_.fd, EPOLLIN, Source::writable);       // seldom: after a socket was full
  control(EPOLL_CTL_ADD, either_.fd, stop_.fd, EPOLLIN, Source::stop);
  // Signals are for the threads that were there before.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

SocketWatch::~SocketWatch() {
  const std::uint64_t one = 1;
  while (write(stop_.fd, &one, sizeof one) < 0 && errno == EINTR) {}
  thread_.join();
}

void SocketWatch::arm() { control(EPOLL_CTL_MOD, either_.fd, readable_.fd, EPOLLIN | EPOLLONESHOT); }

void SocketWatch::find() {
  DIR* files = opendir("/proc/self/fd");
  if (files == nullptr) return;
  while (const dirent* file = readdir(files)) {
    char* end = nullptr;
    const auto fd = static_cast<int>(std::strtol(file->d_name, &end, 10));
    if (end == file->d_name || *end != '\0' || !internet_stream(fd)) continue;
    if (!control(EPOLL_CTL_ADD, readable_.fd, fd, EPOLLIN | EPOLLRDHUP | EPOLLET)) continue;
    if (option(fd, SO_ACCEPTCONN) == 1) continue;
    control(EPOLL_CTL_ADD, writable_.fd, fd, EPOLLOUT | EPOLLET);
    watches_.store(true, std::memory_order_relaxed);
  }
  closedir(files);
}

void SocketWatch::run() {
  for (;;) {
    std::array<epoll_event, 3> events;
    const int n = epoll_wait(either_.fd, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < n; ++i) {
      if (events[static_cast<std::size_t>(i)].data.u64 == static_cast<std::uint64_t>(Source::stop)) return;
    }
    take_edges(readable_.fd);
    take_edges(writable_.fd);
    if (n > 0) bell_.ring();
  }
}

}  // namespace tessera::runtime
