#include "runtime/report/crash.hpp"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "runtime/node/node.hpp"
#include "runtime/report/describe.hpp"

namespace tessera::runtime {
namespace {

constexpr std::size_t kStack = 64 * 1024;
const abi::Program* crashed_program = nullptr;
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

// The process is lost anyway: formatting allocates, which is not strictly allowed here, so an alarm
// ends the process if that should hang.
void on_crash(int signal) {
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
    text = place(*crashed_program, c->block->pos) + ": error: " + what(signal) +
           " in a kernel [T410]\n  in " + describe(*crashed_program, c) + "\n";
  } else {
    text = std::string("tessera: internal error: ") + what(signal) +
           " outside any fragment: a bug in Tessera, or a thread that a kernel started\n";
    code = kExitInternal;
  }
  ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  (void)ignored;
  fflush(stdout);
  _exit(code);
}

}  // namespace

void install_crash_handlers(const abi::Program& program) {
  crashed_program = &program;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK;
  for (const int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(s, &action, nullptr);
#endif
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
