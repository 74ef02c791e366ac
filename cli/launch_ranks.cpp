#include "cli/launch_ranks.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include "balancer/profile.hpp"
#include "cli/failure.hpp"
#include "cli/process.hpp"
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

// Where rank 0 says that the run has ended well, on all ranks. On a busy machine Open MPI now and then (2 of 300 runs
// of four ranks) takes a rank for lost that has ended well, and ends with code 1.
constexpr const char* kSuccess = "TESSERA_SUCCESS";
constexpr const char* kSuccessFile = "tessera-success";

// On another host, or long after, the path may lead to anything.
void report_success() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const char* path = std::getenv(kSuccess);
  if (path == nullptr || rank == nullptr || std::string_view(rank) != "0") return;
  std::error_code ignored;
  const std::string file = fs::read_symlink(path, ignored).string();
  if (file.rfind(std::string("/memfd:") + kSuccessFile, 0) == 0) std::ofstream(path) << "yes";
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
               "tessera: error: mpirun ended with exit code {}, and no rank said why: does a kernel call _exit()?\n"
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
  const int code = launch::run_with_environment(load_program(program), arguments);
  if (code == 0) report_success();
  return code;
}

int run_on_ranks(const fs::path& program, std::int32_t ranks, const runtime::RunOptions& options,
                 const std::vector<std::string>& arguments) {
  check_profile(load_program(program), options);
  check_room_for_mpi();
  std::error_code ignored;
  Command command = {find_mpirun().string(), "-q", "-n", std::to_string(ranks)};
  // More ranks than cores is normal on a laptop, and a rank's threads need all its host's cores.
  command.insert(command.end(), {"--oversubscribe", "--bind-to", "none", "-x", "TESSERA_OPTIONS", "-x", kSuccess});
  if (geteuid() == 0) command.push_back("--allow-run-as-root");
  command.insert(command.end(), {fs::read_symlink("/proc/self/exe", ignored).string(),
                                 "exec-program", program.string(), "--"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  setenv("TESSERA_OPTIONS", launch::format_options(options).c_str(), 1);
  // Memory of this process, which rank 0 writes to as a file.
  const int success = memfd_create(kSuccessFile, MFD_CLOEXEC);
  setenv(kSuccess, fmt::format("/proc/{}/fd/{}", getpid(), success).c_str(), 1);
  const Foreground ended = run_foreground(command);
  if (ended.unwritten != 0) throw environment_error(std::string("can't write to stdout: ") + strerror(ended.unwritten));
  char written = 0;
  if (ended.exit_code == 1 && pread(success, &written, 1, 0) == 1) return 0;
  if (ended.exit_code != runtime::kExitInterrupted) explain(ended);
  return ended.exit_code;
}

}  // namespace tessera::cli
