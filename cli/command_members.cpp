#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "runtime/control/control_point.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

struct Request {
  std::string verb;  // "drain", "join"
  std::int32_t rank = -1;
  std::optional<std::int32_t> run;
};

// A run that takes or says nothing for so long is stopped (Ctrl-Z, a debugger).
constexpr timeval kPatience{3, 0};
constexpr const char* kSilent = "does not answer: is it stopped?";

// Connection sends one line and reads lines until the other side ends it. While it is `patient`, it waits for them
// however long they take.
class Connection {
 public:
  explicit Connection(const fs::path& socket_file, bool patient) {
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
  Connection(const Connection&) = delete;
  ~Connection() {
    if (socket_ >= 0) close(socket_);
  }
  bool ok() const { return ok_; }
  // Something is there, but did not answer in time.
  bool late() const { return late_; }
  void say(const std::string& line) {
    const std::string text = line + "\n";
    ok_ = ok_ && send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  // The next line; nothing at the end.
  std::optional<std::string> hear() {
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

 private:
  static bool gave_up() { return errno == EAGAIN || errno == EWOULDBLOCK; }

  int socket_ = -1;
  bool ok_ = false;
  bool late_ = false;
  std::string heard_;
};

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

struct Run {
  std::int32_t pid = 0;  // of rank 0
  fs::path socket;
  std::string about;
};

// The runs of this user whose rank 0 is on this host: of `among`, or that it started.
std::vector<Run> runs(std::optional<std::int32_t> among) {
  std::vector<Run> all;
  std::error_code ignored;
  runtime::remove_left_over_sockets();
  for (const auto& entry : fs::directory_iterator(runtime::control_folder(), ignored)) {
    Run r{std::atoi(entry.path().filename().c_str()), entry.path(), kSilent};
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

Run choose(const Request& request) {
  const std::vector<Run> all = runs(request.run);
  if (all.size() == 1 && all.front().about == kSilent) {
    throw usage_error("process " + std::to_string(all.front().pid) + " " + kSilent);
  }
  if (all.size() == 1) return all.front();
  std::string list;
  for (const Run& r : all) list += "\n  --run " + std::to_string(r.pid) + "   " + r.about;
  if (!list.empty()) throw usage_error("several programs run here; say which one:" + list);
  throw usage_error(request.run ? "process " + std::to_string(*request.run) +
                                      " is no run of several ranks of yours, nor did it start one here"
                                : "no run of several ranks is found: this works on the host of rank 0, "
                                  "for the user who started the run");
}

int run(const Request& request) {
  const Run run = choose(request);
  Connection c(run.socket, true);
  c.say(request.verb + " " + std::to_string(request.rank));
  bool accepted = false;
  while (const std::optional<std::string> line = c.hear()) {
    const std::string text = line->substr(std::min<std::size_t>(3, line->size()));
    accepted = line->rfind("ok ", 0) == 0;
    if (!accepted) throw usage_error(text);
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
  }
  if (c.late()) throw usage_error("process " + std::to_string(run.pid) + " " + kSilent);
  if (!accepted) throw usage_error("the run ended before it answered");
  return runtime::kExitOk;
}

void add(CLI::App& app, Action& action, const std::string& verb, const std::string& help, const std::string& footer) {
  CLI::App* sub = app.add_subcommand(verb, help);
  const auto request = std::make_shared<Request>();
  request->verb = verb;
  sub->add_option("rank", request->rank, "number of the rank")
      ->option_text("RANK")
      ->required()
      ->check(CLI::Range(0, 1 << 24));
  sub->add_option("--run", request->run,
                  "process of the run, or one that started it (tessera, mpirun); needed when several "
                  "programs run here")
      ->option_text("PID");
  sub->footer(footer);
  sub->callback([request, &action] { action = [request](const Arguments&) { return run(*request); }; });
}

}  // namespace

void add_members(CLI::App& app, Action& action) {
  add(app, action, "drain", "have a rank of a running program give its work away and rest",
      "Returns when the rank has given everything away. docs/nodes.md says what stays.\n\n"
      "  tessera run prog.fa -n 4 --spare 1 &\n"
      "  tessera drain 2");
  add(app, action, "join", "have a spare, or a rank that was drained, take part",
      "  tessera run prog.fa -n 4 --spare 1 &\n"
      "  tessera join 4");
}

}  // namespace tessera::cli
