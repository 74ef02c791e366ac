// Imports against the C++ functions they mean: what would otherwise be luck, or a crash, at run
// time.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compiler/compiler.hpp"

namespace tessera::cli {

struct SignatureCheck {
  std::vector<compiler::Diagnostic> wrong;
  // The function gets something, but not what its parameter says (T217): as wrong, unless it does not look at it.
  std::vector<compiler::Diagnostic> doubtful;
  // Kernels to be called otherwise: compiler::Options::by_reference.
  std::map<std::string, std::string> by_reference;
};

// check_signatures finds each imported kernel whose definition in the linked `program` can't be
// called with the parameters of its import. Every form that gets the same arguments in the same
// registers is right: `unsigned` for an int, `InputDF` or `InputDF &` for `const InputDF &`; and so
// are `const int &` and `const double &`, if they are passed so. Functions without debug
// information (of libraries, or with -g0) are not checked.
SignatureCheck check_signatures(const compiler::Output& translated, const std::filesystem::path& program);

}  // namespace tessera::cli
