// The child process of a batch: it runs the programs, and may crash or hang.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "batch.hpp"
#include "configurations.hpp"

namespace tessera::differential {

// Progress is shared with the child: where it is now, and what it has seen.
struct Progress {
  volatile std::size_t program, configuration, runs;
  volatile std::size_t balanced, moving, moved;  // runs with a policy that moves; those that did; fragments
  volatile std::size_t swept;                    // data fragments (runtime/fragment/horizon.hpp)
};

// run_child runs the cases from `first` on, and writes mismatches to `report`, one per line. What the
// program that ended it said is in `report`.stderr.
[[noreturn]] void run_child(const std::vector<Case>& cases, const Plan& plan, std::size_t first,
                            const std::filesystem::path& library, const std::filesystem::path& report,
                            Progress& progress);

// fails makes one whole run in a process of its own, and tells whether it is wrong. With a `transcript`, all that
// happened is written there.
bool fails(const Case& c, const Plan& plan, const Configuration& configuration, const std::filesystem::path& library,
           const std::filesystem::path& report, const std::filesystem::path& transcript = {});

// One whole run, as part of a longer story: what the user gets goes to files, also when it dies. If it does, whoever
// passes on what is printed may have been killed before (ToldText::pass_on).
inline constexpr int kDied = 99;
struct Lines {
  std::filesystem::path printed, again;
  std::uint64_t killed = 0;
};
[[noreturn]] void run_part(const abi::Program& program, const Configuration& configuration,
                           const std::vector<std::string>& arguments, const Lines& lines);

std::vector<Mismatch> read_report(const std::filesystem::path& path);

// read returns the text of a file, "" when there is none.
std::string read(const std::filesystem::path& path);

// difference names the first lines that are missing or too many; both lists are sorted.
std::string difference(const std::vector<std::string>& expected, const std::vector<std::string>& got);

}  // namespace tessera::differential
