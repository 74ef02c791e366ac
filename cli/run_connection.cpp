#include "cli/run_connection.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "cli/failure.hpp"
#include "runtime/control/control_point.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

// A run that takes or says nothing for so long is stopped (Ctrl-Z, a debugger).
constexpr timeval kPatience{3, 0};

bool gave_up() { return errno == EAGAIN || errno == EWOULDBLOCK; }

std::int32_t parent_of(std::int32_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("PPid:", 0) == 0) return std::atoi(line.c_str() + 5);
  }
  return 0;
}

bool descends(std::int32_t pid, std::int32_t from) {
  while (pid > 1 && pid != from) pid = parent_of(pid);
  return pid == from;
}

// The runs of this user whose rank 0 is on this host: of `among`, or that it started.
std::vector<LiveRun> live_runs(std::optional<std::int32_t> among) {
  std::vector<LiveRun> all;
  std::error_code ignored;
  runtime::remove_left_over_sockets();
  for (const auto& entry : fs::directory_iterator(runtime::control_folder(), ignored)) {
    LiveRun r{std::atoi(entry.path().filename().c_str()), entry.path(), kSilentRun};
    if (among && !descends(r.pid, *among)) continue;
    Connection c(r.socket, false);
    c.say("about");
    if (const auto about = c.hear()) {
      r.about = about->substr(std::min<std::size_t>(3, about->size()));
    } else if (!c.late()) {
      continue;  // it has ended
    }
    all.push_back(std::move(r));
  }
  return all;
}

}  // namespace

Connection::Connection(const fs::path& socket_file, bool patient) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = socket_file.string();
  if (path.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return;
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  if (!patient) setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ok_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  late_ = !ok_ && gave_up();  // as many as may wait to connect do
}
Connection::~Connection() {
  if (socket_ >= 0) close(socket_);
}
void Connection::say(const std::string& line) {
  const std::string text = line + "\n";
  ok_ = ok_ && send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}
std::optional<std::string> Connection::hear() {
  for (;;) {
    const std::size_t end = heard_.find('\n');
    if (end != std::string::npos) {
      std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      return line;
    }
    char buffer[512];
    const ssize_t n = ok_ ? recv(socket_, buffer, sizeof buffer, 0) : 0;
    late_ = late_ || (n < 0 && gave_up());
    if (n <= 0) return std::nullopt;
    heard_.append(buffer, static_cast<std::size_t>(n));
  }
}

bool is_about_to_begin(std::int32_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(in, name);
  static constexpr const char* kStart[] = {"tessera", "luna", "mpirun", "mpiexec", "orterun", "srun"};
  return std::find(std::begin(kStart), std::end(kStart), name) != std::end(kStart) && live_runs(pid).empty();
}

LiveRun choose_run(std::optional<std::int32_t> among) {
  const std::vector<LiveRun> all = live_runs(among);
  if (all.size() == 1 && all.front().about == kSilentRun) {
    throw usage_error("process " + std::to_string(all.front().pid) + " " + kSilentRun);
  }
  if (all.size() == 1) return all.front();
  std::string list;
  for (const LiveRun& r : all) list += "\n  --run " + std::to_string(r.pid) + "   " + r.about;
  if (!list.empty()) throw usage_error("several programs run here; say which one:" + list);
  if (among && is_about_to_begin(*among))
    throw usage_error("process " + std::to_string(*among) +
                      " has not begun a program yet: it compiles, or its ranks start. `tessera top` waits for that");
  throw usage_error(among ? "process " + std::to_string(*among) + " is no run of yours, nor did it start one here"
                          : "no run is found: this works on the host of rank 0, "
                            "for the user who started the run");
}

}  // namespace tessera::cli
