#include "runtime/control/control_point.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "files/private_folder.hpp"

namespace tessera::runtime {
namespace {

using Steady = std::chrono::steady_clock;

// How long a client may take to say what it wants: all of it, for the others wait meanwhile.
constexpr std::chrono::seconds kPatience{1};
constexpr std::size_t kLongestRequest = 200;

// The address of a socket of this name, unless the name is too long for one.
std::optional<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

bool refused(const std::string& path) {
  const std::optional<sockaddr_un> address = address_of(path);
  const int client = address ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
  if (client < 0) return false;
  const bool nobody =
      connect(client, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 && errno == ECONNREFUSED;
  close(client);
  return nobody;
}

// A client that has gone, or does not read, does not matter.
void send_line(int connection, const std::string& line) {
  const std::string text = line + "\n";
  const Steady::time_point end = Steady::now() + kPatience;
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = send(connection, text.data() + at, text.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      at += static_cast<std::size_t>(n);
      continue;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Steady::now()).count();
    if ((errno != EAGAIN && errno != EINTR) || left <= 0) return;
    pollfd on{connection, POLLOUT, 0};
    poll(&on, 1, static_cast<int>(left));
  }
}

std::string receive_line(int connection) {
  const Steady::time_point end = Steady::now() + kPatience;
  std::string line;
  char c = 0;
  for (pollfd on{connection, POLLIN, 0}; line.size() < kLongestRequest;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Steady::now()).count();
    const int ready = left > 0 ? poll(&on, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || recv(connection, &c, 1, MSG_DONTWAIT) != 1 || c == '\n') break;
    line += c;
  }
  return line;
}

}  // namespace

std::string control_folder() {
  const char* given = std::getenv("XDG_RUNTIME_DIR");
  if (given != nullptr && *given == '/') return std::string(given) + "/tessera";
  return "/tmp/tessera-" + std::to_string(geteuid());
}

void remove_left_over_sockets() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(control_folder(), ignored)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    // One that answers but whose process isn't seen is in another container.
    if (pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH || !refused(entry.path())) continue;
    std::filesystem::remove(entry.path(), ignored);
  }
}

ControlPoint::ControlPoint(std::string about, void (*wake)(void*), void* whom)
    : about_(std::move(about)), wake_(wake), whom_(whom) {
  const std::string folder = control_folder();
  path_ = folder + "/" + std::to_string(getpid());
  const std::optional<sockaddr_un> address = address_of(path_);
  if (!files::make_private(folder).wrong.empty() || !address) return;
  remove_left_over_sockets();
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  wakes_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  unlink(path_.c_str());  // of a process that had our number before
  if (socket_ < 0 || wakes_ < 0 || bind(socket_, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      listen(socket_, 8) != 0) {
    return;
  }
  thread_ = std::thread([this] { listen_loop(); });
}

ControlPoint::~ControlPoint() {
  if (thread_.joinable()) {
    stop_.store(true);
    eventfd_write(wakes_, 1);
    thread_.join();
    unlink(path_.c_str());
  }
  send_all();
  for (const int connection : open_) {
    send_line(connection, "no the run has ended");
    close(connection);
  }
  if (socket_ >= 0) close(socket_);
  if (wakes_ >= 0) close(wakes_);
}

void ControlPoint::listen_loop() {
  for (;;) {
    pollfd on[2] = {{wakes_, POLLIN, 0}, {socket_, POLLIN, 0}};
    if (poll(on, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (stop_.load()) return;
    if (on[0].revents != 0) {
      eventfd_t ignored = 0;
      eventfd_read(wakes_, &ignored);
      send_all();
    }
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
  const auto [stop, wrong] = std::from_chars(from, end, rank);
  const bool number = wrong == std::errc{} && stop == end;
  const auto at_once = [&](const std::string& text) {
    send_line(connection, text);
    close(connection);
  };
  if (verb == "about") return at_once("ok " + about_);
  const bool status = line == "status" || line == "waits";
  if (!status && ((verb != "drain" && verb != "join") || !number)) return at_once("no not understood: " + line);
  {
    const std::lock_guard hold(mutex_);
    requests_.push_back({balancer::Rank{rank},
                         line == "waits"  ? Verb::waits
                         : status         ? Verb::status
                         : verb == "join" ? Verb::join
                                          : Verb::drain,
                         connection});
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
  {
    const std::lock_guard hold(mutex_);
    lines_.push_back({connection, (accepted ? "ok " : "no ") + text, last});
  }
  eventfd_write(wakes_, 1);
}

void ControlPoint::send_all() {
  std::vector<Line> lines;
  {
    const std::lock_guard hold(mutex_);
    lines.swap(lines_);
  }
  for (const Line& l : lines) {
    send_line(l.connection, l.text);
    if (!l.last) continue;
    const std::lock_guard hold(mutex_);
    std::erase(open_, l.connection);
    close(l.connection);
  }
}

}  // namespace tessera::runtime
