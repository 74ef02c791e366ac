// Kernels that end the process themselves: exit(), quick_exit(), _exit(), and those that become another program. The
// functions below stand here in place of those of the C library, which tells nobody: programs find them first, since
// they are linked with this library.
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>

#include "runtime/report/ending.hpp"
#include "runtime/run.hpp"
#include "runtime/transport/process_environment.hpp"

namespace tessera::runtime {
namespace {

[[noreturn]] void report_exit(const char* function) {
  const std::string name = function;
  end_saying("the kernel ended the process: " + name +
                 "() is for the end of the program, which comes by itself; throw an exception to give up [T414]",
             "tessera: error: a thread that a kernel started has called " + name + "() [T414]", kExitProgram);
}

void on_exit();
int catch_them() { return std::atexit(on_exit) | std::at_quick_exit(on_exit); }

void on_exit() {
  if (program_running() == nullptr) return;  // or a child that a kernel has forked
  // A handler is called once: another kernel that calls exit() now would end the process, with its own code, before
  // this is told.
  (void)catch_them();
  report_exit("exit");
}

// MPI ends a process that has failed in its own threads, too; that is no success at least.
[[noreturn]] void leave_process(int code) {
  if (program_running() != nullptr && (in_fragment() || (!own_thread() && code == 0))) report_exit("_exit");
  end_process(code);
}

}  // namespace

// Becoming another program ends the run as well, and that with the other program's exit code. A child may.
void no_other_program(const char* function) {
  if (program_running() != nullptr && (in_fragment() || !own_thread())) report_exit(function);
}

// The C library's, which looks along PATH; found before any child needs it.
using Execvpe = int (*)(const char*, char* const*, char* const*);
Execvpe next_execvpe = nullptr;

void catch_exits() {
  next_execvpe = reinterpret_cast<Execvpe>(dlsym(RTLD_NEXT, "execvpe"));
  static const int registered = catch_them();
  (void)registered;
}

}  // namespace tessera::runtime

extern "C" {
void _exit(int code) { tessera::runtime::leave_process(code); }
void _Exit(int code) noexcept { tessera::runtime::leave_process(code); }

int execve(const char* path, char* const argv[], char* const envp[]) noexcept {
  tessera::runtime::no_other_program("execve");
  return static_cast<int>(syscall(SYS_execve, path, argv, envp));
}
int execv(const char* path, char* const argv[]) noexcept {
  tessera::runtime::no_other_program("execv");
  return static_cast<int>(syscall(SYS_execve, path, argv, environ));
}
int execvpe(const char* file, char* const argv[], char* const envp[]) noexcept {
  tessera::runtime::no_other_program("execvpe");
  if (tessera::runtime::next_execvpe == nullptr) tessera::runtime::catch_exits();
  return tessera::runtime::next_execvpe(file, argv, envp);
}
int execvp(const char* file, char* const argv[]) noexcept {
  tessera::runtime::no_other_program("execvp");
  return execvpe(file, argv, environ);
}

// Those that take the words one by one, up to a null.
#define TESSERA_WORDS(words, first)  \
  const char* words[1024] = {first}; \
  va_list rest;                      \
  va_start(rest, first);             \
  for (int n = 1; n < 1023 && words[n - 1] != nullptr; ++n) words[n] = va_arg(rest, char*)
int execl(const char* path, const char* arg, ...) noexcept {
  TESSERA_WORDS(words, arg);
  va_end(rest);
  return execv(path, const_cast<char* const*>(words));
}
int execlp(const char* file, const char* arg, ...) noexcept {
  TESSERA_WORDS(words, arg);
  va_end(rest);
  return execvp(file, const_cast<char* const*>(words));
}
int execle(const char* path, const char* arg, ...) noexcept {
  TESSERA_WORDS(words, arg);
  char* const* envp = va_arg(rest, char* const*);
  va_end(rest);
  return execve(path, const_cast<char* const*>(words), envp);
}
#undef TESSERA_WORDS
}
