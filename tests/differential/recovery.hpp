// Runs that die, and runs that go on from their journals.
#pragma once

#include <filesystem>
#include <string>

#include "batch.hpp"
#include "runtime/abi/tessera/abi.hpp"

namespace tessera::differential {

// run_recovering plays story number `run` of a program: up to three runs with one journal die at some time, each on
// ranks, threads and by a policy of its own; between them the journal may be damaged; the last one comes to its end.
// All together have printed each line that the interpreter prints, and none more often than that. Returns what is
// wrong.
std::string run_recovering(const abi::Program& program, const Case& of, std::size_t run,
                           const std::filesystem::path& report, const std::filesystem::path& said);

}  // namespace tessera::differential
