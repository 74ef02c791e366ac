// `tessera fmt`: the layout of a program, and nothing but the layout.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compiler.hpp"

namespace tessera::compiler::format {

// laid_out returns `text` with blanks and indentation put right. Line breaks stay where the author
// put them (several empty lines become one); comments, strings, directives, foreign blocks and
// macro uses keep their bytes, and a macro use keeps its neighbours: `x$N` and `x $N` are different
// programs.
std::string laid_out(std::string_view text);

struct Result {
  bool ok = false;       // `text` may replace the file
  bool changed = false;  // and differs from it
  std::string text;
  std::vector<Diagnostic> diagnostics;  // why not
};

// format lays out a file, which must parse (includes are read, names are not looked at), and makes
// sure that the translator reads the same tokens before and after.
Result format(const std::filesystem::path& source, const Options& options);

}  // namespace tessera::compiler::format
