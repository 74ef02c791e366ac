// Diagnostics for other programs: editors, CI, code scanners.
#pragma once

#include <string>
#include <vector>

#include "compiler/compiler.hpp"

namespace tessera::cli {

// as_json is the format of `tessera check --format json`, described in docs/errors.md.
std::string as_json(const std::vector<compiler::Diagnostic>&);

// as_sarif is a SARIF 2.1.0 log with one run.
std::string as_sarif(const std::vector<compiler::Diagnostic>&);

}  // namespace tessera::cli
