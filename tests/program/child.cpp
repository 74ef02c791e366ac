#include "child.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

namespace tessera::tests {
namespace {

using Clock = std::chrono::steady_clock;

// Every process that a command starts inherits this variable: that is how its descendants are found,
// whatever sessions and process groups a launcher puts them in.
constexpr const char* kTag = "TESSERA_TEST_CHILD";

// For launchers to end, on a busy machine, when what started them is gone.
constexpr std::chrono::seconds kGrace{20};

std::string next_tag() {
  static std::atomic<int> count{0};
  return std::string(kTag) + "=" + std::to_string(getpid()) + "." + std::to_string(++count);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Live processes (no zombies) whose environment holds `tag`.
std::vector<pid_t> tagged(const std::string& tag) {
  std::vector<pid_t> found;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) throw std::runtime_error("cannot list /proc");
  while (const dirent* entry = readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0 || pid == getpid()) continue;
    const std::string dir = std::string("/proc/") + entry->d_name;
    const std::string environment = '\0' + read_file(dir + "/environ");
    if (environment.find('\0' + tag + '\0') == std::string::npos) continue;
    found.push_back(pid);
  }
  closedir(proc);
  return found;
}

std::vector<std::string> reap_survivors(const std::string& tag) {
  const auto until = Clock::now() + kGrace;
  std::vector<pid_t> left = tagged(tag);
  while (!left.empty() && Clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    left = tagged(tag);
  }
  std::vector<std::string> names;
  for (const pid_t pid : left) {
    names.push_back(std::to_string(pid) + " " + read_file("/proc/" + std::to_string(pid) + "/comm"));
    kill(pid, SIGKILL);
  }
  return names;
}

// Takes what has come on `fd`; false at its end.
bool drain(int fd, std::string& into) {
  char buffer[16384];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  if (n > 0) into.append(buffer, static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

// Where the threads of a process stand, if gdb is installed.
std::string stacks(pid_t pid) {
  const std::string gdb = "timeout 60 gdb -p " + std::to_string(pid) + " -batch -ex 'thread apply all bt 12' 2>&1";
  std::string text = "process " + std::to_string(pid) + ":\n";
  FILE* said = popen(gdb.c_str(), "r");
  if (said == nullptr) return text;
  while (drain(fileno(said), text)) {}
  pclose(said);
  return text;
}

[[noreturn]] void become(const std::vector<std::string>& command, const std::string& tag, int out, int err) {
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, 0);
  dup2(out, 1);
  dup2(err, 2);
  putenv(const_cast<char*>(tag.c_str()));
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const char* why = std::strerror(errno);
  static_cast<void>(!write(2, why, std::strlen(why)));
  _exit(127);
}

}  // namespace

Outcome run_child(const std::vector<std::string>& command, std::chrono::seconds limit) {
  int out[2];
  int err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  const std::string tag = next_tag();
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("cannot fork");
  if (pid == 0) become(command, tag, out[1], err[1]);
  close(out[1]);
  close(err[1]);

  Outcome result;
  const auto until = Clock::now() + limit;
  pollfd waiting[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  int status = 0;
  bool ended = false;
  // The pipes may stay open in an orphan, so the end of the child counts as well: after it, what is
  // in the pipes is taken, without waiting for their end.
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    const int ready = poll(waiting, 2, ended ? 0 : 20);
    if (ready > 0) {
      if (waiting[0].revents != 0 && !drain(out[0], result.out)) waiting[0].fd = -1;
      if (waiting[1].revents != 0 && !drain(err[0], result.err)) waiting[1].fd = -1;
      continue;
    }
    if (ended) break;
    ended = waitpid(pid, &status, WNOHANG) == pid;
    if (!ended && Clock::now() > until) {
      if (!std::exchange(result.timed_out, true)) {
        for (const pid_t each : tagged(tag)) result.err += stacks(each);
      }
      for (const pid_t each : tagged(tag)) kill(each, SIGKILL);
    }
  }
  if (!ended) waitpid(pid, &status, 0);
  close(out[0]);
  close(err[0]);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (!result.timed_out) result.survivors = reap_survivors(tag);
  return result;
}

std::string shown(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    if (!text.empty()) text += ' ';
    const bool plain = !word.empty() && word.find_first_of(" \"'$&|<>()*?;") == std::string::npos;
    text += plain ? word : "'" + word + "'";
  }
  return text;
}

}  // namespace tessera::tests
