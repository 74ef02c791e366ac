#include "runtime/report/crash.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "runtime/node/node.hpp"
#include "runtime/report/describe.hpp"

namespace tessera::runtime {
namespace {

constexpr std::size_t kStack = 64 * 1024;
const abi::Program* running_program = nullptr;
pid_t running_process = 0;
std::atomic_flag reporting = ATOMIC_FLAG_INIT;

const char* what(int signal) {
  switch (signal) {
    case SIGSEGV: return "segmentation fault (a wild or null pointer, or a stack overflow)";
    case SIGBUS: return "bus error";
    case SIGFPE: return "arithmetic fault (integer division by zero)";
    case SIGILL: return "illegal instruction";
    default: return "abort";
  }
}

// Says what ended which fragment, and ends the process. It is lost anyway: formatting allocates, which a signal's
// handler may not, so an alarm ends it if that should hang.
[[noreturn]] void report(const std::string& in_kernel, const std::string& outside, int code_outside) {
  if (reporting.test_and_set()) {
    for (;;) pause();  // another thread reports
  }
  ::signal(SIGALRM, SIG_DFL);
  alarm(2);
  const Worker* w = thread_worker;
  std::string text;
  int code = kExitProgram;
  if (w != nullptr && w->current != nullptr) {
    const abi::Cf* c = w->current;
    text = place(*running_program, c->block->pos) + ": error: " + in_kernel + "\n  in " +
           describe(*running_program, c) + "\n";
  } else {
    text = outside + "\n";
    code = code_outside;
  }
  ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  (void)ignored;
  fflush(stdout);
  _exit(code);
}

void on_crash(int signal) {
  report(std::string(what(signal)) + " in a kernel [T410]",
         std::string("tessera: internal error: ") + what(signal) +
             " outside any fragment: a bug in Tessera, or a thread that a kernel started",
         kExitInternal);
}

void on_exit();
int catch_exit() { return std::atexit(on_exit) | std::at_quick_exit(on_exit); }

void on_exit() {
  if (running_program == nullptr || getpid() != running_process) return;  // or a child that a kernel has forked
  // A handler is called once: another kernel that calls exit() now would end the process, with its own code, before this is told.
  (void)catch_exit();
  report("the kernel ended the process: exit() is for the end of the program, which comes by itself; "
         "throw an exception to give up [T414]",
         "tessera: error: a thread that a kernel started has called exit() [T414]", kExitProgram);
}

// Held back for what has to be said when there is no more.
constexpr std::size_t kReserve = 1 << 20;
std::atomic<void*> reserve{nullptr};
std::new_handler handler_before = nullptr;

thread_local bool own_thread = false;

void on_no_memory() {
  // In a fragment: Node::execute says whose. Threads that kernels start, and processes, may know what to do.
  if (!own_thread || (thread_worker != nullptr && thread_worker->current != nullptr) || getpid() != running_process) throw std::bad_alloc();
  static std::atomic_flag told = ATOMIC_FLAG_INIT;
  if (told.test_and_set()) _exit(kExitEnvironment);  // telling needs more than the reserve
  report("", "tessera: error: " + not_enough_memory(), kExitEnvironment);
}

}  // namespace

void mark_own_thread() { own_thread = true; }

std::string not_enough_memory() {
  free(reserve.exchange(nullptr));
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return fmt::format("out of memory: this process has held up to {} MB; is there a limit (`ulimit -a`)? More hosts have more", used.ru_maxrss >> 10);
}

LastWords::LastWords(const abi::Program& program) {
  running_program = &program;
  running_process = getpid();
  static const int registered = catch_exit();
  (void)registered;
  reserve = malloc(kReserve);
  handler_before = std::set_new_handler(on_no_memory);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK;
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(s, &action, nullptr);
#endif
}
LastWords::~LastWords() {
  std::set_new_handler(handler_before);
  free(reserve.exchange(nullptr));
  running_program = nullptr;
}

CrashStack::CrashStack() : memory_(malloc(kStack)) {
  stack_t s{};
  s.ss_sp = memory_;
  s.ss_size = kStack;
  sigaltstack(&s, nullptr);
}
CrashStack::~CrashStack() {
  stack_t s{};
  s.ss_flags = SS_DISABLE;
  sigaltstack(&s, nullptr);
  free(memory_);
}

}  // namespace tessera::runtime
