#include "cli/mpirun.hpp"

#include <unistd.h>

#include "cli/failure.hpp"
#include "runtime/transport/open_mpi.hpp"

namespace fs = std::filesystem;

namespace tessera::cli {
namespace {

using runtime::built_with_open_mpi;

// By the name behind the links: MPICH's (and Intel's) is called mpiexec.hydra.
bool is_mpich(const fs::path& mpirun) {
  std::error_code ignored;
  const std::string name = fs::canonical(mpirun, ignored).filename().string();
  return name.find("hydra") != std::string::npos || name.find("mpich") != std::string::npos;
}

}  // namespace

fs::path find_mpirun() {
  const bool open_mpi = built_with_open_mpi();
  const std::string ours = open_mpi ? "Open MPI" : "MPICH", other = open_mpi ? "MPICH" : "Open MPI";
  const std::string package = open_mpi ? "openmpi-bin" : "mpich";
  if (const auto found = find_program("mpirun")) {
    if (is_mpich(*found) != open_mpi) return *found;
    // Debian has both side by side.
    if (const auto beside = find_program(open_mpi ? "mpirun.openmpi" : "mpirun.mpich")) return *beside;
    throw environment_error(found->string() + " is " + other + "'s, and Tessera is built with " + ours +
                            ": ranks that it starts would not know of each other.\nPut " + ours +
                            "'s mpirun first into PATH; on Debian or Ubuntu: apt-get install " + package);
  }
  throw environment_error(
      "no mpirun found in PATH: -n starts the ranks with it.\n"
      "On Debian or Ubuntu: apt-get install " +
      package +
      "; without -n the program runs in this "
      "process");
}

std::string hosts_for_mpirun(const HostFile& hosts) {
  return hosts.text(built_with_open_mpi() ? HostFile::Form::slots : HostFile::Form::colon);
}

// More ranks than cores is normal on a laptop, and a rank's threads need all its host's cores.
Command start_of_mpirun(std::int32_t ranks, const std::vector<std::string>& variables, const std::string& hosts) {
  Command command = {find_mpirun().string(), "-n", std::to_string(ranks)};
  const auto add = [&](const std::vector<std::string>& words) {
    command.insert(command.end(), words.begin(), words.end());
  };
  if (built_with_open_mpi()) {
    add({"--oversubscribe", "--bind-to", "none"});
    for (const std::string& v : variables) add({"-x", v});
    if (geteuid() == 0) add({"--allow-run-as-root"});
    if (!hosts.empty()) add({"--hostfile", hosts});
    return command;
  }
  add({"-bind-to", "none"});
  for (const std::string& v : variables) {  // the others reach the ranks with all of the environment
    const std::size_t equals = v.find('=');
    if (equals != v.npos) add({"-genv", v.substr(0, equals), v.substr(equals + 1)});
  }
  if (!hosts.empty()) add({"-f", hosts});
  return command;
}

bool shows_text_as_it_is(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    for (const char* part : {"output", "xterm", "prepend", "outfile"}) {
      if (word.find(part) != word.npos) return false;
    }
  }
  return !runtime::mpirun_tells_ranks_apart();
}

}  // namespace tessera::cli
