// The mpirun that starts ranks: Open MPI's, or MPICH's (hydra), whichever the runtime was built with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/host_file.hpp"
#include "cli/process.hpp"

namespace tessera::cli {

// find_mpirun returns its path; throws Failure (environment): there is none, or only the other one's.
std::filesystem::path find_mpirun();

// The text of a host file for it.
std::string hosts_for_mpirun(const HostFile& hosts);

// The command up to the user's own words for it, and to the program. The variables (NAME, or NAME=VALUE) reach the
// ranks, on all hosts. hosts: a file of these; empty: mpirun finds hosts by its own means.
Command start_of_mpirun(std::int32_t ranks, const std::vector<std::string>& variables, const std::string& hosts);

// It writes nothing before a line, and no files of lines: a mark (printed_marks.hpp) would leave its traces there.
bool shows_text_as_it_is(const std::vector<std::string>& words);

}  // namespace tessera::cli
