#include "runtime/report/crash.hpp"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "runtime/memory/sanitizer.hpp"
#include "runtime/report/ending.hpp"
#include "runtime/report/forks.hpp"
#include "runtime/start/agreement.hpp"
#include "runtime/start/facts.hpp"
#include "runtime/transport/flush_output.hpp"
#include "runtime/transport/process_environment.hpp"
#include "runtime/words/describe.hpp"
#include "runtime/work/worker.hpp"

namespace tessera::runtime {
namespace {

constexpr std::size_t kStack = std::size_t{64} * 1024;
const abi::Program* running_program = nullptr;
pid_t running_process = 0;
std::atomic_flag reporting = ATOMIC_FLAG_INIT;
thread_local bool reports = false;
thread_local bool own = false;
std::atomic<bool> leaving{false};
void (*at_crash)() = nullptr;

const char* what(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "segmentation fault (a wild or null pointer, an index behind the end of a value, or a stack overflow: "
             "`tessera run -g --sanitize address` shows where)";
    case SIGBUS:
      return "bus error";
    case SIGFPE:
      return "arithmetic fault (integer division by zero)";
    case SIGILL:
      return "illegal instruction";
    default:
      return "abort";
  }
}

void put(const char* text) { (void)!write(STDERR_FILENO, text, strlen(text)); }

std::atomic<const abi::Block*> blamed{nullptr};

// In damaged memory nothing can be put together.
[[noreturn]] void end_in_few_words() {
  put("tessera: error: memory is damaged beyond telling more");
  if (const abi::Block* b = blamed.load()) {
    put("; in `");
    put(b->text);
    put("`");
  }
  put(" [T410]\n");
  end_process(kExitProgram);
}

constexpr const char* kInThread = "; it happened in a thread that a kernel has started [T410]";
constexpr const char* kAtExit =
    " after the run, in what a kernel has left for the end of the process (atexit(), the destructor of a global "
    "object) [T410]";
constexpr const char* kOutside =
    " outside any fragment: memory that a kernel has damaged before (`tessera run -g --sanitize address` shows where), "
    "or a bug in Tessera";

// Whatever is said from now on has two seconds: formatting allocates, which a signal's handler may not, and hangs where
// the crash was in the allocator itself.
void limit_telling() {
  if (in_fragment()) blamed.store(thread_worker->current->block);
  ::signal(SIGALRM, [](int) { end_in_few_words(); });
  alarm(2);
}

// A child that a kernel has forked crashes by itself: the run goes on, and what that means is for the kernel to say.
// Nothing here allocates.
void tell_of_child(int signal) {
  char text[1000];
  if (in_fragment() && running_program != nullptr) {
    const abi::Block& b = *thread_worker->current->block;
    const auto file = static_cast<std::uint32_t>(b.pos >> 48);
    snprintf(text, sizeof text, "%s:%u: warning: %s in a child that the kernel has forked [T410]\n  in `%s`\n",
             file < running_program->file_count ? running_program->files[file] : running_program->name,
             static_cast<unsigned>(static_cast<std::uint32_t>(b.pos >> 16)), what(signal), b.text);
  } else {
    snprintf(text, sizeof text, "tessera: warning: %s in a child that a kernel has forked [T410]\n", what(signal));
  }
  put(text);
}

void on_crash(int signal) {
  if (getpid() != running_process) {
    tell_of_child(signal);
    ::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  limit_telling();
  if (leaving.load() && at_crash != nullptr) at_crash();
  if (own_thread() && leaving.load())
    end_saying("", std::string("tessera: error: ") + what(signal) + kAtExit, kExitProgram);
  if (own_thread())
    end_saying(std::string(what(signal)) + " in a kernel [T410]",
               std::string("tessera: internal error: ") + what(signal) + kOutside, kExitInternal);
  end_saying("", std::string("tessera: error: ") + what(signal) + kInThread, kExitProgram);
}

// What was thrown and nobody caught, or nothing.
std::string uncaught() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return std::string("an exception that nobody catches: ") + e.what();
  } catch (...) {
    return "something was thrown that is not a std::exception, and nobody catches it";
  }
  return "";
}

void on_terminate() {
  const std::string thrown = uncaught();
  if (program_running() == nullptr) {
    put("terminate called");
    put(thrown.empty() ? "" : ": ");
    put(thrown.c_str());
    put("\n");
    std::abort();
  }
  const std::string text =
      thrown.empty() ? "std::terminate was called, by a thread that is neither joined nor detached for one" : thrown;
  if (own_thread()) {
    end_saying(
        text +
            (thrown.empty() ? "" : "; it was thrown where nothing may be: out of a destructor or a noexcept function") +
            " [T410]",
        "tessera: internal error: " + text, kExitInternal);
  }
  end_saying("", "tessera: error: " + text + kInThread, kExitProgram);
}

// It has said what happened where in the C++, and ends the process when this returns.
void on_report() {
  if (program_running() == nullptr) return;
  std::string text = "tessera: error: the sanitizer's report above is about";
  if (in_fragment()) {
    const abi::Cf* c = thread_worker->current;
    text = place(*running_program, c->block->pos) +
           ": error: the sanitizer's report above is about this kernel [T410]\n  in " + describe(*running_program, c) +
           on_which_host(thread_worker->facts.self, thread_worker->facts.hosts) + "\n";
  } else if (const Starter* by = thread_starter()) {
    text = by->place +
           ": error: the sanitizer's report above is about a thread that this kernel has started [T410]\n  in " +
           by->text + "\n";
  } else {
    text += own_thread() ? " memory that a kernel has damaged, or a bug in Tessera [T410]\n"
                         : " a thread that a kernel has started [T410]\n";
  }
  put(text.c_str());
  flush_output();
}

}  // namespace

void end_saying(const std::string& in_kernel, const std::string& outside, int code_outside) {
  if (reports) end_in_few_words();
  if (reporting.test_and_set()) {
    for (;;) pause();  // another thread reports
  }
  reports = true;
  limit_telling();
  const Worker* w = thread_worker;
  std::string text = outside + "\n";
  if (const Starter* by = thread_starter())
    text = by->place + outside.substr(outside.find(": ")) + "\n  in " + by->text + "\n";  // "tessera: error: ..."
  int code = code_outside;
  if (in_fragment() && running_program != nullptr) {
    const abi::Cf* c = w->current;
    text = place(*running_program, c->block->pos) + ": error: " + in_kernel + "\n  in " +
           describe(*running_program, c) + on_which_host(thread_worker->facts.self, thread_worker->facts.hosts) + "\n";
    code = kExitProgram;
  }
  put(text.c_str());
  flush_output();
  end_process(code);
}

const abi::Program* program_running() { return getpid() == running_process ? running_program : nullptr; }
void mark_own_thread() { own = true; }
void leave_main(void (*when_it_crashes)()) {
  at_crash = when_it_crashes;
  leaving.store(true);
}
bool own_thread() { return own; }
bool in_fragment() { return thread_worker != nullptr && thread_worker->current != nullptr; }

constexpr std::array<int, 5> kCrashes = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

LastWords::LastWords(const abi::Program& program, bool own_process)
    : terminate_before_(std::set_terminate(on_terminate)), own_process_(own_process) {
  running_program = &program;
  running_process = getpid();
  catch_exits();
  if (own_process) adopt_orphans();
  watch_forks();
  find_pthread_create();
  watch_memory(true);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  if (sanitizer_loaded()) {
    on_sanitizer_report(on_report);
    return;
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK;
  for (std::size_t i = 0; i < kCrashes.size(); ++i) sigaction(kCrashes[i], &action, &before_[i]);
#endif
}
LastWords::~LastWords() {
  if (sanitizer_loaded()) {
    on_sanitizer_report(nullptr);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  } else if (!own_process_) {
    for (std::size_t i = 0; i < kCrashes.size(); ++i) sigaction(kCrashes[i], &before_[i], nullptr);
#endif
  }
  watch_memory(false);
  std::set_terminate(terminate_before_);
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
