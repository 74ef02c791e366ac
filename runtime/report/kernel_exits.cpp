// Kernels that end the process themselves: exit(), quick_exit(), _exit(). The last two functions stand here in place of those of the C
// library, which tells nobody: programs find them first, since they are linked with this library.
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>

#include "runtime/report/ending.hpp"
#include "runtime/run.hpp"
#include "runtime/transport/process_environment.hpp"

namespace tessera::runtime {
namespace {

[[noreturn]] void report_exit(const char* function) {
  const std::string name = function;
  end_saying("the kernel ended the process: " + name + "() is for the end of the program, which comes by itself; throw an exception to give up [T414]",
             "tessera: error: a thread that a kernel started has called " + name + "() [T414]", kExitProgram);
}

void on_exit();
int catch_them() { return std::atexit(on_exit) | std::at_quick_exit(on_exit); }

void on_exit() {
  if (program_running() == nullptr) return;  // or a child that a kernel has forked
  // A handler is called once: another kernel that calls exit() now would end the process, with its own code, before this is told.
  (void)catch_them();
  report_exit("exit");
}

// MPI ends a process that has failed in its own threads, too; that is no success at least.
[[noreturn]] void leave_process(int code) {
  if (program_running() != nullptr && (in_fragment() || (!own_thread() && code == 0))) report_exit("_exit");
  end_process(code);
}

}  // namespace

void catch_exits() {
  static const int registered = catch_them();
  (void)registered;
}

}  // namespace tessera::runtime

extern "C" {
void _exit(int code) { tessera::runtime::leave_process(code); }
void _Exit(int code) noexcept { tessera::runtime::leave_process(code); }
}
