// ProgramError: the user's program is wrong, found while it runs. Thrown inside a fragment, caught
// by the worker that runs it, which adds the fragment and ends the run.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/abi/tessera/abi.hpp"

namespace tessera::runtime {

class ProgramError : public std::runtime_error {
 public:
  // `pos` zero: the position of the fragment's statement.
  ProgramError(abi::Pos pos, const std::string& text) : std::runtime_error(text), pos_(pos) {}
  abi::Pos pos() const { return pos_; }

 private:
  abi::Pos pos_;
};

// coded ends a message with its code, T4xx of compiler/catalogue/run_time.cpp.
inline std::string coded(std::string text, const char* code) { return std::move(text) + " [" + code + "]"; }

// "an int", "opaque bytes", ...
const char* type_name(abi::Type);

}  // namespace tessera::runtime
