#include "runtime/control/control_point.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tessera::runtime {
namespace {

// How long a client may take to say what it wants.
constexpr timeval kPatience{1, 0};

bool private_folder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat s {};
  return lstat(folder.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() &&
         (s.st_mode & 077) == 0;
}

void send_line(int connection, const std::string& line) {
  const std::string text = line + "\n";
  // A client that has gone does not matter.
  const ssize_t ignored = send(connection, text.data(), text.size(), MSG_NOSIGNAL);
  (void)ignored;
}

std::string receive_line(int connection) {
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  std::string line;
  char c = 0;
  while (line.size() < 200 && recv(connection, &c, 1, 0) == 1 && c != '\n') line += c;
  return line;
}

}  // namespace

std::string control_folder() {
  const char* given = std::getenv("XDG_RUNTIME_DIR");
  if (given != nullptr && *given == '/') return std::string(given) + "/tessera";
  return "/tmp/tessera-" + std::to_string(geteuid());
}

ControlPoint::ControlPoint(std::string about, void (*wake)(void*), void* whom)
    : about_(std::move(about)), wake_(wake), whom_(whom) {
  const std::string folder = control_folder();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_ = folder + "/" + std::to_string(getpid());
  if (!private_folder(folder) || path_.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  stop_ = eventfd(0, EFD_CLOEXEC);
  unlink(path_.c_str());  // of a process that had our number before
  if (socket_ < 0 || stop_ < 0 ||
      bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket_, 8) != 0) {
    return;
  }
  thread_ = std::thread([this] { listen_loop(); });
}

ControlPoint::~ControlPoint() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    const ssize_t ignored = write(stop_, &one, sizeof one);
    (void)ignored;
    thread_.join();
    unlink(path_.c_str());
  }
  for (const int connection : open_) {
    send_line(connection, "no the run has ended");
    close(connection);
  }
  if (socket_ >= 0) close(socket_);
  if (stop_ >= 0) close(stop_);
}

void ControlPoint::listen_loop() {
  for (;;) {
    pollfd on[2] = {{stop_, POLLIN, 0}, {socket_, POLLIN, 0}};
    if (poll(on, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (on[0].revents != 0) return;
    if ((on[1].revents & POLLIN) == 0) continue;
    const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection >= 0) serve(connection);
  }
}

void ControlPoint::serve(int connection) {
  const std::string line = receive_line(connection);
  const std::size_t space = line.find(' ');
  const std::string verb = line.substr(0, space);
  std::int32_t rank = -1;
  const char* from = line.c_str() + (space == std::string::npos ? line.size() : space + 1);
  const char* end = line.c_str() + line.size();
  const bool number = std::from_chars(from, end, rank).ptr == end && from != end;
  if (verb == "about") return answer(connection, true, about_, true);
  if ((verb != "drain" && verb != "join") || !number) {
    return answer(connection, false, "not understood: " + line, true);
  }
  {
    const std::lock_guard hold(mutex_);
    requests_.push_back({balancer::Rank{rank}, verb == "join", connection});
    open_.push_back(connection);
    any_.store(true);
  }
  wake_(whom_);
}

std::vector<ControlPoint::Request> ControlPoint::take() {
  if (!any_.load(std::memory_order_relaxed) || !any_.exchange(false)) return {};
  const std::lock_guard hold(mutex_);
  return std::exchange(requests_, {});
}

void ControlPoint::answer(int connection, bool accepted, const std::string& text, bool last) {
  send_line(connection, (accepted ? "ok " : "no ") + text);
  if (!last) return;
  {
    const std::lock_guard hold(mutex_);
    std::erase(open_, connection);
  }
  close(connection);
}

}  // namespace tessera::runtime
