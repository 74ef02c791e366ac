#include "runtime/launch/program_main.hpp"

#include <dlfcn.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "runtime/launch/options.hpp"
#include "runtime/report/crash.hpp"
#include "runtime/transport/process_environment.hpp"
#include "runtime/transport/transport.hpp"
#include "tessera/main.hpp"

namespace tessera::launch {
namespace {

constexpr std::chrono::seconds kForExit{5};

}  // namespace

void (*when_exit_fails)() = nullptr;

void bound_exit() {
  runtime::leave_main(when_exit_fails);
  try {
    std::thread([] {
      std::this_thread::sleep_for(kForExit);
      constexpr std::string_view kText =
          "tessera: error: the run has ended, but the process does not: what a kernel has left for the end of the "
          "process (atexit(), the "
          "destructor of a global object) has not returned for 5 s [T414]\n";
      (void)!write(STDERR_FILENO, kText.data(), kText.size());
      if (when_exit_fails != nullptr) when_exit_fails();
      runtime::end_process(runtime::kExitProgram);
    }).detach();
  } catch (const std::system_error&) {  // no more threads: then without
  }
}

void prepare_process() {
  // A rank must not outlive the launcher that started it, however that one ends.
  if (runtime::started_by_launcher()) prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Fragments are the parallelism here: a BLAS that starts threads of its own per kernel call only
  // gets in the way. Whoever sets these variables knows better.
  for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (std::getenv(name) != nullptr) return;
  }
  setenv("OPENBLAS_NUM_THREADS", "1", 0);                             // for a library that is loaded later
  if (void* set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {  // for one that is here
    reinterpret_cast<void (*)(int)>(set)(1);
  }
}

int run_with_environment(const abi::Program& program, const std::vector<std::string>& arguments) {
  runtime::RunOptions options;
  std::string wrong;  // told by the first rank: the others may not even have these options
  try {
    options = parse_environment_options();
    name_groups(options, program.name);
  } catch (const OptionsError& e) {
    wrong = e.what();
  }
  const int code = runtime::run(program, options, arguments, wrong);
  bound_exit();
  return code;
}

}  // namespace tessera::launch

int tessera_program_main(const tessera::abi::Program* program, int argc, char** argv) {
  tessera::launch::prepare_process();
  return tessera::launch::run_with_environment(*program, {argv + (argc > 0 ? 1 : 0), argv + argc});
}
