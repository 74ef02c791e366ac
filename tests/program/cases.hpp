// The test programs: `.fa` files that say in their comments how they are run and what must come out.
//
// A comment line at the start of a line, anywhere in the file:
//   // options: -D N=5        options of `tessera run`, separated by blanks
//   // argument: two words    one program argument, as it stands; repeated
//   // mpi                    also runs under mpirun
//   // crashes                a kernel does, which sanitizers report in their own way
//   // exit: 1                the exit code (fault programs)
//   // stderr: text           must occur in stderr; repeated
//   // stderr-lines-below: n  stderr has fewer lines
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::tests {

struct Case {
  std::string name;  // of the file, without extension
  std::filesystem::path source;
  std::vector<std::string> options;
  std::vector<std::string> arguments;
  bool mpi = false;
  bool crashes = false;
  int restless = 0;  // runs under the policy `restless`
  int exit_code = 0;
  std::vector<std::string> in_stderr;
  int stderr_lines_below = 0;  // 0: no limit
  std::string expected;        // text of the .expected file
};

// Cases of the folder and its subfolders, by name. `with_expected`: only those with an .expected file
// beside them (other .fa files are included ones); otherwise all.
std::vector<Case> find_cases(const std::filesystem::path& folder, bool with_expected);

// The lines of a text, sorted: programs say nothing about the order of their output.
std::vector<std::string> sorted_lines(const std::string& text);

// The command that runs the case with further `options`: `tessera run --quiet ... case.fa -- ...`.
std::vector<std::string> command(const Case&, const std::vector<std::string>& options);

}  // namespace tessera::tests
