// Programs of many steps, whose memory may not grow with these, and of many cells, each of which may not take more time
// for it (steady.hpp).
#pragma once

#include <filesystem>
#include <string>

#include "batch.hpp"
#include "configurations.hpp"
#include "runtime/abi/tessera/abi.hpp"

namespace tessera::differential {

// run_steadily runs the program with few steps, of which the interpreter knows what they print, then with `steps` and
// with four times as many, each time in a process of its own. Returns what is wrong: other lines; or more memory at
// most (values, fragments that wait, and what is known of both) with more steps.
std::string run_steadily(const abi::Program& program, const Case& of, const Configuration& configuration,
                         std::size_t steps, const std::filesystem::path& report, const std::filesystem::path& said);

// run_widely runs the program as the interpreter knows it, then with `cells` cells, and with four times as many.
// Returns what is wrong: other lines, or much more than four times as much processor time.
std::string run_widely(const abi::Program& program, const Case& of, const Configuration& configuration,
                       std::size_t cells, const std::filesystem::path& report, const std::filesystem::path& said);

}  // namespace tessera::differential
