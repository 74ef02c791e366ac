// A batch: random programs that are compiled apart, linked into one shared object, and run in one
// child process, which may crash or hang without taking the whole test along.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "generator.hpp"
#include "tests/reference/interpreter.hpp"

namespace tessera::differential {

struct Case {
  std::uint64_t seed = 0;
  std::filesystem::path source;  // the .fa file
  std::vector<std::string> arguments;
  reference::Outcome expected;
};

struct Mismatch {
  std::uint64_t seed = 0;
  std::string configuration;
  std::string what;
  std::filesystem::path transcript = {};  // of a whole run
};

struct Totals {
  double translate = 0, compile = 0, run = 0;  // seconds
  std::size_t runs = 0, lines = 0;             // programs times configurations; of expected output
  std::size_t source_lines = 0;
  std::size_t balanced = 0, moving = 0, moved = 0;  // runs with a policy that moves; those that did; fragments
  std::size_t swept = 0;                            // data fragments, with no reader left
  std::size_t refused = 0, failed = 0;              // programs wrong on purpose: by the translator, later
};

// prepare makes the program of the seed, translates and interprets it. A problem with any of these
// goes to `mismatches`, and there is no case then. `wrong` percent of the seeds give programs that
// are wrong: the translator may refuse them, else every run must end with exit code 1 where the
// interpreter finds that the program can't end well.
struct Like {
  int size = 24, wrong = 10, swept = 1;
  bool steady = false, known = false;  // of any number of steps (steady.hpp)
  bool wide = false;                   // and of cells
};
bool prepare(std::uint64_t seed, const Like&, const std::filesystem::path& folder, Case& out,
             std::vector<Mismatch>& mismatches, Totals& totals);

// The text of the program of a seed, as prepare makes it.
Generated program_of(std::uint64_t seed, const Like&);

// run_batch compiles the cases and runs them in all configurations.
struct Plan;
void run_batch(std::vector<Case> cases, const Plan& plan, const std::filesystem::path& folder,
               std::vector<Mismatch>& mismatches, Totals& totals);

}  // namespace tessera::differential
