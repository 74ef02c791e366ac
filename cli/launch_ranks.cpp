#include "cli/launch_ranks.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "balancer/profile.hpp"
#include "cli/failure.hpp"
#include "cli/launched.hpp"
#include "cli/process.hpp"
#include "runtime/control/control_point.hpp"
#include "runtime/launch/options.hpp"
#include "runtime/launch/program_main.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

// Every rank reads the profile by itself; a wrong one is refused here, once, before any starts.
void check_profile(const abi::Program& program, const runtime::RunOptions& options) {
  if (options.load_groups.empty()) return;
  try {
    balancer::load_profile(options.load_groups, {program.hash[0], program.hash[1]}, program.name,
                           options.load_groups_anyway);
  } catch (const balancer::ProfileError& e) {
    throw usage_error(std::string("--load-groups: ") + e.what());
  }
}

// Memory of `tessera run` in which ranks of its host say how they end. At 0: rank 0 says that the run has ended well, on
// all ranks; on a busy machine Open MPI now and then (2 of 300 runs of four ranks) takes a rank for lost that has ended
// well, and ends with code 1. At 1 + rank: it got SIGTERM. When all of them did and none gave up by itself, mpirun was
// told to end, which it does with code 1 as well. (It kills what does not end at once: on a busy machine a rank may not get to say so.)
constexpr const char* kEnds = "TESSERA_ENDS";
constexpr const char* kEndsFile = "tessera-ends";
int ends = -1;
std::int32_t own_rank = 0;

void on_terminate(int signal) {
  (void)!pwrite(ends, "t", 1, 1 + own_rank);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

// On another host, or long after, the path may lead to anything.
void open_ends() {
  const char* path = std::getenv(kEnds);
  if (path == nullptr || std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) return;
  own_rank = launcher_rank();
  std::error_code ignored;
  const std::string file = fs::read_symlink(path, ignored).string();
  if (file.rfind(std::string("/memfd:") + kEndsFile, 0) != 0) return;
  ends = open(path, O_WRONLY | O_CLOEXEC);
  if (ends >= 0) std::signal(SIGTERM, on_terminate);
}

// What goes wrong in a rank says so itself, unless that was killed. mpirun keeps quiet (-q).
void explain(const Foreground& ended) {
  const int signal = ended.exit_code - 128;
  if (signal == SIGKILL) {
    fmt::print(stderr, "tessera: error: a rank was killed: by the system for want of memory, or by somebody\n");
  } else if (signal > 0 && signal < SIGRTMIN) {
    fmt::print(stderr, "tessera: error: a rank was ended by signal {} ({})\n", signal, strsignal(signal));
  } else if (ended.exit_code != 0 && !ended.spoke) {
    fmt::print(stderr,
               "tessera: error: mpirun ended with exit code {}, and no rank said why: did a signal end mpirun, or does a kernel call _exit()?\n"
               "To see whether mpirun starts ranks at all: mpirun -n 2 --oversubscribe hostname\n",
               ended.exit_code);
  }
}

// What Open MPI writes to files for each run, 8 MB and a little; with less it says so in its own words, or hangs.
constexpr std::uintmax_t kForMpi = 16 << 20;

void check_room_for_mpi() {
  std::error_code failed;
  const fs::path folder = fs::temp_directory_path(failed);
  if (failed) throw environment_error("TMPDIR: " + failed.message() + ": MPI needs a folder for temporary files");
  if (fs::space(folder, failed).available >= kForMpi) return;
  throw environment_error("the folder for temporary files, " + folder.string() +
                          ", is full, and MPI needs 16 MB there; make room, or set TMPDIR to another folder");
}

}  // namespace

const abi::Program& load_program(const fs::path& file) {
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw environment_error(std::string("can't load the program: ") + dlerror());
  void* entry = dlsym(handle, "tessera_program");
  if (entry == nullptr) throw environment_error(file.string() + " is not a Tessera program");
  return *reinterpret_cast<const abi::Program* (*)()>(entry)();
}

fs::path find_mpirun() {
  if (const auto found = find_program("mpirun")) return *found;
  throw environment_error(
      "no mpirun found in PATH: -n starts the ranks with it.\n"
      "On Debian or Ubuntu: apt-get install openmpi-bin; without -n the program runs in this "
      "process");
}

int run_here(const fs::path& program, const runtime::RunOptions& options,
             const std::vector<std::string>& arguments) {
  launch::prepare_process();
  return runtime::run(load_program(program), options, arguments);
}

int exec_program(const fs::path& program, const std::vector<std::string>& arguments) {
  launch::prepare_process();
  open_ends();
  const int code = launch::run_with_environment(load_program(program), arguments);
  if (code == 0 && own_rank == 0) (void)!pwrite(ends, "y", 1, 0);
  return code;
}

int run_on_ranks(const fs::path& program, std::int32_t ranks, const runtime::RunOptions& options,
                 const std::vector<std::string>& arguments) {
  check_profile(load_program(program), options);
  check_room_for_mpi();
  std::error_code ignored;
  Command command = {find_mpirun().string(), "-q", "-n", std::to_string(ranks)};
  // More ranks than cores is normal on a laptop, and a rank's threads need all its host's cores.
  command.insert(command.end(), {"--oversubscribe", "--bind-to", "none", "-x", "TESSERA_OPTIONS", "-x", kEnds});
  if (geteuid() == 0) command.push_back("--allow-run-as-root");
  command.insert(command.end(), {fs::read_symlink("/proc/self/exe", ignored).string(),
                                 "exec-program", program.string(), "--"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  setenv("TESSERA_OPTIONS", launch::format_options(options).c_str(), 1);
  ends = memfd_create(kEndsFile, MFD_CLOEXEC);
  setenv(kEnds, fmt::format("/proc/{}/fd/{}", getpid(), ends).c_str(), 1);
  const Foreground ended = run_foreground(command);
  runtime::remove_left_over_sockets();  // of a rank 0 that was killed
  if (ended.unwritten != 0) throw environment_error(std::string("can't write to stdout: ") + strerror(ended.unwritten));
  std::string said(1 + static_cast<std::size_t>(ranks), '\0');
  (void)!pread(ends, said.data(), said.size(), 0);
  if (ended.exit_code == 1 && said[0] != 0) return 0;
  if (ended.exit_code == 1 && said.find('\0', 1) == std::string::npos) {
    throw Failure(runtime::kExitInterrupted, "tessera: error: mpirun was ended by a signal");
  }
  if (ended.exit_code != runtime::kExitInterrupted) explain(ended);
  return ended.exit_code;
}

}  // namespace tessera::cli
