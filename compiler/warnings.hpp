// Warnings: which warnings a person wants to see, and which count as errors.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::compiler {

struct Diagnostic;

// Warnings is what the -W flags and --strict say. All warnings are on until something is turned
// off.
struct Warnings {
  std::set<std::string, std::less<>> off;           // codes
  std::set<std::string, std::less<>> errors;        // codes
  std::set<std::string, std::less<>> never_errors;  // codes that --strict leaves alone
  bool strict = false;                              // all warnings are errors

  // set obeys one flag, the text behind -W: no-NAME, NAME, error, error=NAME, no-error=NAME, where
  // NAME is a code too. Returns what is wrong with it, or "". Later flags win.
  std::string set(std::string_view flag);

  // apply leaves out the warnings that are off, and makes errors of those that are to be.
  void apply(std::vector<Diagnostic>& diagnostics) const;

  // text is equal for equal settings.
  std::string text() const;
};

}  // namespace tessera::compiler
