// Object files: their symbols, to explain in the user's words what a linker would not link, and whether their code has
// changed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::cli {

struct Symbol {
  std::string name;      // as in the object: mangled for C++ functions
  bool defined = false;  // else it is wanted from elsewhere
  bool weak = false;     // templates and inline functions, which may come twice
};

// read_symbols lists the global symbols of a 64-bit ELF object; empty for anything else.
std::vector<Symbol> read_symbols(const std::filesystem::path& object);

// hash_of_code is of what an object does: its code and data, the names they have, and those they use. What is there for
// debuggers (lines, paths) makes no difference. Of a file that can't be understood it is that of its bytes.
std::string hash_of_code(const std::filesystem::path& object);

// plain_name returns the name of a C++ function without namespace and parameters (`f` for `_Z1fi`),
// or "" when `symbol` is not mangled.
std::string plain_name(const std::string& symbol);

// full_name is as the linker writes it: `f(int)`.
std::string full_name(const std::string& symbol);

}  // namespace tessera::cli
