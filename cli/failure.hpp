// Failure ends a command: what to say on stderr, complete, and the exit code (runtime/run.hpp).
#pragma once

#include <stdexcept>
#include <string>

#include "runtime/run.hpp"

namespace tessera::cli {

class Failure : public std::runtime_error {
 public:
  Failure(int exit_code, const std::string& text) : std::runtime_error(text), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

inline Failure usage_error(const std::string& text) { return Failure(runtime::kExitUsage, "tessera: error: " + text); }
inline Failure environment_error(const std::string& text) {
  return Failure(runtime::kExitEnvironment, "tessera: error: " + text);
}

}  // namespace tessera::cli
