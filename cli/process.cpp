#include "cli/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/run.hpp"

namespace tessera::cli {

std::optional<std::filesystem::path> find_program(const std::string& name) {
  const auto runnable = [](const std::filesystem::path& p) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(p, ignored) && access(p.c_str(), X_OK) == 0;
  };
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string::npos) {
    return runnable(name) ? std::optional<std::filesystem::path>(name) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string folder = rest.substr(0, colon);
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    const auto candidate = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (runnable(candidate)) return candidate;
  }
  return std::nullopt;
}

namespace {

// For an interrupted command to end by itself.
constexpr std::chrono::milliseconds kPatience{5000};

// In the child: dies with its parent by `signal`, then becomes the command. Never returns.
[[noreturn]] void become(const Command& command, pid_t parent, int signal) {
  prctl(PR_SET_PDEATHSIG, signal);
  if (getppid() != parent) _exit(127);  // it went before prctl
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

int exit_code(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string read_all(int fd) {
  std::string text;
  char buffer[1 << 14];
  lseek(fd, 0, SEEK_SET);
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, n);
  return text;
}

}  // namespace

std::vector<Finished> run_all(const std::vector<Command>& commands) {
  const std::size_t limit = std::max(1u, std::thread::hardware_concurrency());
  const pid_t self = getpid();
  std::vector<Finished> results(commands.size());
  std::map<pid_t, std::pair<std::size_t, int>> running;  // pid -> command, its output's file
  std::size_t next = 0;
  while (next < commands.size() || !running.empty()) {
    if (next < commands.size() && running.size() < limit) {
      const int output = memfd_create("output", MFD_CLOEXEC);
      const pid_t pid = fork();
      if (pid == 0) {
        dup2(output, 1);
        dup2(output, 2);
        become(commands[next], self, SIGKILL);
      }
      if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
      running[pid] = {next++, output};
      continue;
    }
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "waitpid");
    const auto it = running.find(pid);
    if (it == running.end()) continue;
    results[it->second.first] = {exit_code(status), read_all(it->second.second)};
    close(it->second.second);
    running.erase(it);
  }
  return results;
}

Foreground run_foreground(const Command& command) {
  // Signals are read one by one, so nothing runs in a handler.
  sigset_t waited, before;
  sigemptyset(&waited);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&waited, s);
  int errors[2];
  if (pipe2(errors, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  sigprocmask(SIG_BLOCK, &waited, &before);
  const int signals = signalfd(-1, &waited, SFD_CLOEXEC);
  const pid_t self = getpid();
  const pid_t child = signals < 0 ? -1 : fork();
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    dup2(errors[1], STDERR_FILENO);
    become(command, self, SIGTERM);
  }
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  close(errors[1]);
  fcntl(errors[0], F_SETFL, O_NONBLOCK);

  Foreground result;
  // A piece that a pipe with room takes without blocking: whoever does not read our stderr must not keep us from signals.
  char text[PIPE_BUF];
  ssize_t held = 0;
  const auto take = [&] {
    held = std::max<ssize_t>(read(errors[0], text, sizeof text), 0);
    result.spoke = result.spoke || held > 0;
    return held > 0;
  };
  const auto put = [&] { (void)!write(STDERR_FILENO, text, static_cast<std::size_t>(std::exchange(held, 0))); };
  using Clock = std::chrono::steady_clock;
  bool interrupted = false, open = true;
  Clock::time_point deadline;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    pollfd fds[2] = {{signals, POLLIN, 0}, {open ? errors[0] : -1, POLLIN, 0}};
    if (held > 0) fds[1] = {STDERR_FILENO, POLLOUT, 0};
    if (interrupted && Clock::now() > deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    if (poll(fds, 2, interrupted ? 100 : -1) <= 0) continue;
    if (fds[1].revents != 0 && held > 0) {
      put();
    } else if (fds[1].revents != 0) {
      open = take();
    }
    signalfd_siginfo info{};
    if (fds[0].revents == 0 || read(signals, &info, sizeof info) != sizeof info || info.ssi_signo == SIGCHLD) continue;
    // A Ctrl-C at the terminal reaches the child as well; a second one from us would make mpirun
    // give up on its ranks instead of ending them.
    const bool from_terminal = info.ssi_signo == SIGINT && info.ssi_code == SI_KERNEL;
    if (!interrupted && !from_terminal) kill(child, SIGTERM);
    if (!std::exchange(interrupted, true)) deadline = Clock::now() + kPatience;
  }
  const auto writable = [&] {
    pollfd out{STDERR_FILENO, POLLOUT, 0};
    return poll(&out, 1, interrupted ? 0 : static_cast<int>(kPatience.count())) > 0;
  };
  while ((held > 0 || take()) && writable()) put();
  close(errors[0]);
  close(signals);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  result.exit_code = interrupted ? runtime::kExitInterrupted : exit_code(status);
  return result;
}

}  // namespace tessera::cli
