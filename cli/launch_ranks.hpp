// Running a compiled program: in this process, or on ranks that mpirun starts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/host_file.hpp"
#include "runtime/run.hpp"

namespace tessera::cli {

// load_program loads a shared object made by build(); throws Failure (environment).
const abi::Program& load_program(const std::filesystem::path& file);

// Kernels have global objects, whose constructors or destructors run now: a crash is theirs.
extern bool in_global_objects;

// run_here loads the shared object and runs it; returns its exit code.
int run_here(const std::filesystem::path& program, const runtime::RunOptions& options,
             const std::vector<std::string>& arguments);

// What mpirun is asked for.
struct Launch {
  std::int32_t ranks = 1;
  std::optional<HostFile> hosts;          // without: mpirun finds hosts by its own means
  std::vector<std::string> mpirun_words;  // more words for it, in front of the program
  std::filesystem::path sanitizer;        // whose library is loaded first; empty: none
  std::int32_t restarts = 0;              // how often it starts them again, when one was killed or a host is lost
};

// run_again runs a program without ranks, in a process of its own, and once more when that was killed.
int run_again(const std::filesystem::path& program, std::int32_t restarts, const runtime::RunOptions& options,
              const std::vector<std::string>& arguments);

// run_on_ranks starts processes of `tessera exec-program` under mpirun and returns the first exit code that is not
// zero. A signal to this process ends them all; so does its death.
int run_on_ranks(const std::filesystem::path& program, Launch how, runtime::RunOptions options,
                 const std::vector<std::string>& arguments);

// run_sanitized is run_here in this process made anew, with the sanitizer's library loaded first; it returns only to
// throw Failure.
int run_sanitized(const std::filesystem::path& program, const runtime::RunOptions& options,
                  const std::vector<std::string>& arguments, const std::filesystem::path& sanitizer);

// exec_program is one such rank: run options come from TESSERA_OPTIONS.
int exec_program(const std::filesystem::path& program, const std::vector<std::string>& arguments);

}  // namespace tessera::cli
