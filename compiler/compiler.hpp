// The translator as free functions: a `.fa` file in, a block program and C++ text out. Nothing here
// prints or exits; mistakes of the user come back as diagnostics.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/warnings.hpp"

namespace tessera::compiler {

struct Index;

enum class Severity { note, warning, error };

struct Span {  // in the user's own file, before preprocessing
  std::string file;
  int line = 0;    // 1-based
  int column = 0;  // 1-based, in bytes
  int length = 1;
};

struct Note {
  Span span;
  std::string text;
};

struct Diagnostic {
  Severity severity = Severity::error;
  std::string code;  // stable: "T101"
  Span span;
  std::string text;
  std::vector<Note> notes;
};

struct Options {
  std::vector<std::pair<std::string, std::string>> defines;  // -D NAME[=VALUE]
  std::vector<std::filesystem::path> include_path;           // --path
  std::filesystem::path library;                             // where #include <...> looks; empty: none
  bool called = false;     // as a library, by another program (docs/library.md): `main` may have values and names
  Warnings warnings;       // -W, --strict
  std::string dump_after;  // pass name: fill Output::dump
  std::set<std::string> without;  // --without: passes that only optimise
  // For editors: texts that stand for files, by canonical path, and whether Output::index is wanted.
  std::map<std::filesystem::path, std::string> unsaved;
  bool index = false;
  // Kernels (symbols) of which parameters are `const int &` or `const double &`, as some old ones have:
  // one letter per parameter, & where it is so.
  std::map<std::string, std::string> by_reference;
};

// An imported kernel that the program uses: its "extern C" symbol, where it is imported, and the types
// of its parameters, as the program spells them.
struct Import {
  std::string symbol;
  Span span;
  std::vector<std::string> parameters;  // "int", "long", "real", "string", "name", "value"
  std::filesystem::path library;        // of a library file's import: the C++ file beside it
};

// A kernel written in place becomes a function of the text `kernels_cpp`.
struct Output {
  bool ok = false;                      // no errors among the diagnostics
  std::vector<Diagnostic> diagnostics;  // in order of position
  std::string program_cpp;              // generated; includes tessera/abi.hpp only
  std::vector<std::string>
      program_parts;            // of a large program: further files, to be compiled and linked with the first
  std::string kernels_cpp;      // in-place kernels with #line; includes ucenv.h; may be empty
  std::vector<Import> imports;  // one per symbol
  std::vector<std::filesystem::path> files;  // every source read (for the cache key)
  std::string dump;
  std::shared_ptr<const Index> index;  // when asked for and the text could be read at all
};

Output translate(const std::filesystem::path& source, const Options&);

// render prints a diagnostic as people read it: file:line:column, the source line, a caret.
std::string render(const Diagnostic&, bool colour);

}  // namespace tessera::compiler
