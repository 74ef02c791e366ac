#include "runtime/transport/socket_watch.hpp"

#include <dirent.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <system_error>

namespace tessera::runtime {
namespace {

constexpr std::chrono::seconds kLongest(3600);  // then it returns for no reason

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
bool add(int epoll, int fd, std::uint32_t events, bool listens = false) {
  epoll_event e{};
  e.events = events;
  e.data.u32 = listens ? 1 : 0;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

// Takes the edges; what they were is seen by who looks at MPI. True: one was of a socket that listens.
bool take_edges(int epoll) {
  std::array<epoll_event, 64> events;
  bool listens = false;
  int n = 0;
  do {
    n = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), 0);
    for (int k = 0; k < n; ++k) listens = listens || events[static_cast<std::size_t>(k)].data.u32 != 0;
  } while (n == static_cast<int>(events.size()));
  return listens;
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
      rung_(bell.wire()) {}

bool SocketWatch::sleep(std::uint32_t seen, std::chrono::steady_clock::time_point until) {
  std::array<pollfd, 3> files = {pollfd{readable_.fd, POLLIN, 0}, {writable_.fd, POLLIN, 0}, {rung_.fd, POLLIN, 0}};
  if (!bell_.poll(seen)) return true;
  using std::chrono::nanoseconds;
  const auto left =
      std::clamp(nanoseconds(until - std::chrono::steady_clock::now()), nanoseconds(0), nanoseconds(kLongest));
  timespec within{};
  within.tv_sec = left.count() / 1'000'000'000;
  within.tv_nsec = left.count() % 1'000'000'000;
  if (ppoll(files.data(), files.size(), &within, nullptr) <= 0) return false;
  for (const pollfd& file : files) {
    // A kernel has closed what is not its own: the bell alone is left.
    if ((file.revents & POLLNVAL) != 0) {
      bell_.sleep(seen, until);
      return bell_.count() != seen;
    }
  }
  unsigned due = 0;
  for (std::size_t k = 0; k < files.size(); ++k) due |= files[k].revents != 0 ? 1u << k : 0;
  due_.fetch_or(due, std::memory_order_seq_cst);
  return true;
}

bool SocketWatch::take() {
  if (due_.load(std::memory_order_relaxed) == 0) return false;
  const unsigned due = due_.exchange(0, std::memory_order_seq_cst);
  if ((due & 1u) != 0 && take_edges(readable_.fd)) called_ = true;
  if ((due & 2u) != 0) take_edges(writable_.fd);
  char byte = 0;
  while ((due & 4u) != 0 && recv(rung_.fd, &byte, sizeof byte, 0) > 0) {}
  return due != 0;
}

void SocketWatch::find() {
  called_ = false;
  sockets_.clear();
  DIR* files = opendir("/proc/self/fd");
  if (files == nullptr) return;
  while (const dirent* file = readdir(files)) {
    char* end = nullptr;
    const auto fd = static_cast<int>(std::strtol(file->d_name, &end, 10));
    if (end == file->d_name || *end != '\0' || !internet_stream(fd)) continue;
    const bool listens = option(fd, SO_ACCEPTCONN) == 1;
    if (!listens) sockets_.push_back(fd);
    if (!add(readable_.fd, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, listens) || listens) continue;
    add(writable_.fd, fd, EPOLLOUT | EPOLLET);
    watches_.store(true, std::memory_order_relaxed);
  }
  closedir(files);
}

bool SocketWatch::unread() const {
  std::vector<pollfd> files;
  files.reserve(sockets_.size());
  for (const int fd : sockets_) files.push_back({fd, POLLIN, 0});
  if (poll(files.data(), files.size(), 0) <= 0) return false;
  return std::any_of(files.begin(), files.end(), [](const pollfd& f) { return (f.revents & POLLIN) != 0; });
}

}  // namespace tessera::runtime
