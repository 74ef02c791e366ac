// Where kernels are defined: a look over C++ files that finds functions without compiling anything.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::cli::lsp {

struct CxxFunction {
  std::string name;
  std::filesystem::path file;
  std::uint32_t begin = 0, end = 0;  // of its name
  bool external = false;             // inside extern "C"
  bool defined = false;              // it has a body
  std::string signature;             // on one line
  std::string documentation;         // the comment above it
};

// functions_of lists the functions at the outermost level (namespaces are looked into) of a C++
// text.
std::vector<CxxFunction> functions_of(std::string_view text);

// Kernels remembers what it has read until a file changes.
class Kernels {
 public:
  // find returns the function that an import of `name` means: in the *.cpp beside the program, an
  // extern "C" definition before anything else; null when there is none. Valid until the next call.
  const CxxFunction* find(const std::filesystem::path& folder, const std::string& name);

 private:
  struct File {
    std::filesystem::file_time_type changed;
    std::vector<CxxFunction> functions;
  };
  std::map<std::filesystem::path, File> files_;
};

}  // namespace tessera::cli::lsp
