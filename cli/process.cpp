#include "cli/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

#include "cli/failure.hpp"
#include "runtime/cores/share.hpp"
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

std::array<volatile std::sig_atomic_t, SIGTERM + 1> codes{};

}  // namespace

void exits_with(int exit_code, std::initializer_list<int> signals) {
  for (const int s : signals) {
    codes[s] = exit_code;
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int signal) { _exit(codes[signal]); };
    sigaction(s, nullptr, &before);
    if (before.sa_handler == SIG_DFL) sigaction(s, &action, nullptr);
  }
}

namespace {

// For an interrupted command to end by itself.
constexpr std::chrono::milliseconds kTimeToEnd{5000};
constexpr std::chrono::milliseconds kTimeWhenOver{1000};  // one that did not, though there is nothing left to do

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

int exit_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

std::string read_all(int fd) {
  std::string text;
  char buffer[1 << 14];
  lseek(fd, 0, SEEK_SET);
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, n);
  return text;
}

// What would end this process is read instead, while there is somebody to be ended first.
struct EndingSignals {
  EndingSignals() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&ending, s);
    sigprocmask(SIG_BLOCK, &ending, &before);
    fd = signalfd(-1, &ending, SFD_CLOEXEC);
  }
  ~EndingSignals() {
    close(fd);
    if (!came) sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  sigset_t before{};
  int fd = -1;
  bool came = false;  // this process ends now; a second one (`timeout` sends two) would end it before it has said so
};

// One of these that has ended, and how; minus a signal: this process is to end. Other children of it are somebody
// else's to wait for.
template <class Running>
pid_t first_to_end(const std::map<pid_t, Running>& running, int signals, int& status) {
  constexpr int kLook = 200;  // ms: SIGCHLD may have gone to another thread
  for (;;) {
    for (const auto& [pid, what] : running) {
      const pid_t ended = waitpid(pid, &status, WNOHANG);
      if (ended == pid) return pid;
      if (ended < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
    }
    pollfd polled{signals, POLLIN, 0};
    signalfd_siginfo info{};
    if (poll(&polled, 1, kLook) > 0 && read(signals, &info, sizeof info) == sizeof info && info.ssi_signo != SIGCHLD)
      return -static_cast<pid_t>(info.ssi_signo);
  }
}

}  // namespace

std::vector<Finished> run_all(const std::vector<Command>& commands, std::size_t depending) {
  const cores::Allowance allowed = cores::find_allowance();
  const auto limit = static_cast<std::size_t>(cores::share_host({{allowed, true}}, 0, 0).threads);
  const pid_t self = getpid();
  EndingSignals signals;
  std::vector<Finished> results(commands.size());
  struct Running {
    std::size_t number;  // of the command
    int output;          // its file
  };
  std::map<pid_t, Running> running;
  std::size_t next = 0;
  std::size_t wanted = commands.size();
  const auto leave = [&] {
    wanted = std::min(wanted, depending);
    for (std::size_t k = wanted; k < commands.size(); ++k) results[k].left = true;
    for (const auto& [pid, what] : running) {
      if (what.number >= wanted) kill(-pid, SIGKILL);
    }
  };
  while (next < wanted || !running.empty()) {
    if (next < wanted && running.size() < limit) {
      const int output = memfd_create("output", MFD_CLOEXEC);
      const pid_t pid = fork();
      if (pid == 0) {
        setpgid(0, 0);  // a compiler is several processes
        sigprocmask(SIG_SETMASK, &signals.before, nullptr);
        dup2(output, 1);
        dup2(output, 2);
        become(commands[next], self, SIGKILL);
      }
      if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
      setpgid(pid, pid);  // here as well: it may not have come to it when it is to be killed
      running[pid] = {next++, output};
      continue;
    }
    int status = 0;
    const pid_t pid = first_to_end(running, signals.fd, status);
    if (pid < 0) {
      for (const auto& [group, what] : running) kill(-group, SIGKILL);
      signals.came = true;
      throw Failure(codes[-pid] != 0 ? codes[-pid] : runtime::kExitInterrupted,
                    "tessera: interrupted while it compiled");
    }
    const auto [number, output] = running.extract(pid).mapped();
    if (number < wanted) results[number] = {exit_code(status), read_all(output)};
    close(output);
    if (number < std::min(wanted, depending) && results[number].exit_code != 0) leave();
  }
  return results;
}

namespace {

// What the child writes to a stream of its own and we write to ours.
struct Relay {
  int from;  // does not block
  int to;
  bool open = true;
  bool spoke = false;
  int error = 0;  // what became of writing
  const Filter* filter = nullptr;
  std::string held{};    // read, and not written yet
  bool in_line = false;  // what is written ends within one

  pollfd next() const { return !held.empty() ? pollfd{to, POLLOUT, 0} : pollfd{open ? from : -1, POLLIN, 0}; }
  void step() {
    if (!held.empty()) {
      put();
    } else {
      take();
    }
    tell_written();
  }
  // As much as goes at once.
  void drain() {
    for (pollfd out{to, POLLOUT, 0}; !held.empty() || take();) {
      if (poll(&out, 1, 0) <= 0) return;
      put();
      tell_written();
    }
  }
  // It has ended, and all that it wrote is drained.
  void end(int exit_code) {
    if (filter == nullptr) return;
    held = filter->rest(exit_code);
    spoke = spoke || !held.empty();
    drain();
  }

 private:
  bool take() {
    std::array<char, PIPE_BUF> piece;
    const ssize_t n = read(from, piece.data(), piece.size());
    if (n == 0) open = false;
    const std::string_view text(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    held = filter == nullptr ? std::string(text) : filter->pass(text);
    spoke = spoke || !held.empty();
    return n > 0 || !held.empty();
  }
  void tell_written() const {
    if (held.empty() && error == 0 && filter != nullptr && filter->written) filter->written();
  }
  void put() {
    // A piece that a pipe with room takes without blocking: whoever does not read must not keep us from signals. It
    // ends with a line, if there is room for one: it may be the last.
    std::size_t size = held.size();
    if (size > PIPE_BUF) {
      const std::size_t lines = held.rfind('\n', PIPE_BUF - 1);
      size = lines == held.npos ? PIPE_BUF : lines + 1;
    }
    const ssize_t n = write(to, held.data(), size);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n < 0) error = errno;
    if (n > 0) in_line = held[static_cast<std::size_t>(n) - 1] != '\n';
    held.erase(0, n < 0 ? held.npos : static_cast<std::size_t>(n));
  }
};

// A process beside the command that leaves signals waiting: has one of ours gone to the whole process group, and so to
// the command as well? And when we are killed while the command is stopped, it has that go on, to see the signal that
// it gets for this; and ends it when it does not: while mpirun starts, the signal may be lost on it.
class Witness {
 public:
  explicit Witness(pid_t command) : self_(getpid()), pid_(fork()) {  // with the signals blocked
    if (pid_ != 0) return;
    sigset_t orphaned;
    sigemptyset(&orphaned);
    sigaddset(&orphaned, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &orphaned, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGRTMIN);
    close_range(0, ~0u, 0);
    // By this the command is meant for certain, also when its number has become another's.
    const int command_itself = static_cast<int>(syscall(SYS_pidfd_open, command, 0));
    for (int got = 0; getppid() == self_;) sigwait(&orphaned, &got);
    const auto send = [&](int signal) { syscall(SYS_pidfd_send_signal, command_itself, signal, nullptr, 0); };
    send(SIGCONT);
    pollfd ended{command_itself, POLLIN, 0};
    if (poll(&ended, 1, static_cast<int>(kTimeToEnd.count())) == 0) send(SIGKILL);
    _exit(0);
  }
  ~Witness() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  bool got(unsigned signal) const {
    constexpr int kTries = 10;  // of 10 ms: `timeout` tells us first, and then the group
    for (int tries = 0; pid_ > 0 && tries < kTries; ++tries) {
      std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with("ShdPnd:") && (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0)
          return true;
      }
      usleep(10'000);
    }
    return false;
  }

 private:
  pid_t self_, pid_;
};

}  // namespace

namespace {

// The words of /proc/PID/stat: its name (shortened), and what it is doing.
struct Stat {
  std::string name;
  char state = ' ';
};
Stat stat_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t open = text.find('('), close = text.rfind(')');  // a name may have brackets
  if (open == text.npos || close == text.npos || close + 2 >= text.size()) return {};
  return {text.substr(open + 1, close - open - 1), text[close + 2]};
}

}  // namespace

LikeUs descendants_like_us(pid_t process) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path us = fs::read_symlink("/proc/self/exe", failed);
  const std::string name = stat_of(getpid()).name;
  const bool looks = stat_of(process).state != 'T' && stat_of(process).state != 't';
  LikeUs all;
  for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", failed)) {
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) {
      if (fs::read_symlink("/proc/" + std::to_string(child) + "/exe", failed) == us && !failed)
        all.live.push_back(child);
      const Stat stat = stat_of(child);
      if (looks && stat.state == 'Z' && stat.name == name) all.ended = true;
      const LikeUs below = descendants_like_us(child);
      all.live.insert(all.live.end(), below.live.begin(), below.live.end());
      all.ended = all.ended || below.ended;
    }
  }
  return all;
}

Foreground run_foreground(const Command& command, const Filters& filters,
                          const std::function<std::optional<std::chrono::seconds>(pid_t)>& over) {
  // Signals are read one by one, so nothing runs in a handler. SIGPIPE waits until the child has ended.
  sigset_t waited, blocked, before;
  sigemptyset(&waited);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&waited, s);
  blocked = waited;
  sigaddset(&blocked, SIGPIPE);
  int output[2], errors[2];
  if (pipe2(output, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  std::fflush(stdout);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  const int signals = signalfd(-1, &waited, SFD_CLOEXEC);
  // mpirun passes these on to the ranks; they would end what is yet to become it, and the witness.
  constexpr int kOfRanks[] = {SIGUSR1, SIGUSR2};
  sigset_t of_ranks, here;
  sigemptyset(&of_ranks);
  for (const int s : kOfRanks) sigaddset(&of_ranks, s);
  sigprocmask(SIG_BLOCK, &of_ranks, &here);
  const pid_t self = getpid();
  const pid_t child = signals < 0 ? -1 : fork();
  if (child == 0) {
    for (const int s : kOfRanks) std::signal(s, SIG_IGN);  // until mpirun is ready for them
    sigprocmask(SIG_SETMASK, &before, nullptr);
    dup2(output[1], STDOUT_FILENO);
    dup2(errors[1], STDERR_FILENO);
    become(command, self, SIGTERM);
  }
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  const Witness witness(child);
  sigprocmask(SIG_SETMASK, &here, nullptr);
  Relay passed[2] = {{output[0], STDOUT_FILENO}, {errors[0], STDERR_FILENO}};
  passed[0].filter = filters.output;
  passed[1].filter = filters.errors;
  for (const int fd : {output[1], errors[1]}) close(fd);
  for (const Relay& p : passed) fcntl(p.from, F_SETFL, O_NONBLOCK);

  using Clock = std::chrono::steady_clock;
  bool interrupted = false, ending = false, late = false;
  int got = 0;
  Clock::time_point deadline;
  Clock::time_point next_question = Clock::now(), over_since = Clock::time_point::max();
  const auto end = [&](bool told) {
    if (!ending && !told) kill(child, SIGTERM);
    if (!std::exchange(ending, true)) deadline = Clock::now() + (late ? kTimeWhenOver : kTimeToEnd);
  };
  int status = 0;
  const auto code = [&] { return interrupted ? runtime::kExitInterrupted : exit_code(status); };
  for (bool ended = false, rested = false;;) {
    if (!ended && ending && Clock::now() > deadline) kill(child, SIGKILL);
    ended = ended || waitpid(child, &status, WNOHANG) != 0;
    if (ended) {
      for (Relay& p : passed) p.drain();
      const auto out = [&] { return passed[0].held.empty() && passed[1].held.empty(); };
      if (out() && !std::exchange(rested, true)) {
        for (Relay& p : passed) p.end(code());
      }
      const bool in_line = passed[0].in_line && !passed[0].held.empty();
      if (out() || (ending && (!in_line || Clock::now() > deadline))) break;
    }
    if (const auto now = Clock::now(); over && !ended && !ending && now >= next_question) {
      next_question = now + std::chrono::seconds(1);
      const std::optional<std::chrono::seconds> bears = over(child);
      over_since = bears ? std::min(over_since, now) : Clock::time_point::max();
      late = bears && over_since < now - *bears;
      if (late) end(false);
    }
    pollfd fds[3] = {passed[0].next(), passed[1].next(), {signals, POLLIN, 0}};
    if (poll(fds, 3, ending ? 100 : over ? 1000 : -1) <= 0) continue;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].revents != 0) passed[i].step();
    }
    // Nobody reads on, or what is computed is lost.
    if (passed[0].error != 0 || passed[1].error == EPIPE) end(false);
    signalfd_siginfo info{};
    if (fds[2].revents == 0 || read(signals, &info, sizeof info) != sizeof info || info.ssi_signo == SIGCHLD) continue;
    // Ctrl-C at the terminal, a batch system and `timeout` reach the child as well; a second one from us would make
    // mpirun give up on its ranks instead of ending them.
    end(witness.got(info.ssi_signo));
    // Open MPI's mpirun tells its ranks only after as long as it leaves them to end by themselves, and passes on
    // nothing of what they print meanwhile: they hear of it from us, those of this host.
    if (!interrupted) {
      for (const pid_t rank : descendants_like_us(child).live) kill(rank, SIGTERM);
    }
    interrupted = true;
    if (got == 0) got = static_cast<int>(info.ssi_signo);
  }
  for (const int fd : {output[0], errors[0], signals}) close(fd);
  sigprocmask(SIG_SETMASK, &before, nullptr);  // here SIGPIPE ends us
  return {code(), !interrupted && WIFSIGNALED(status), got, passed[1].spoke, late && !interrupted, passed[0].error};
}

}  // namespace tessera::cli
