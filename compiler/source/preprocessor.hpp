// Preprocessing: files in, one text without comments, directives and macros out.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.hpp"
#include "compiler/diagnostics.hpp"
#include "compiler/source/macro.hpp"
#include "compiler/source/sources.hpp"

namespace tessera::compiler {

// Preprocessor reads the program and everything it includes. Each byte of the result remembers
// where the user wrote it. Strings and foreign blocks pass through unchanged.
class Preprocessor {
 public:
  // `out` is the text that `diagnostics` maps extents with; it grows while files are read.
  Preprocessor(Sources& sources, Diagnostics& diagnostics, const Options& options, MappedText& out);

  // run preprocesses the main file, which is already loaded as `file`; false when the result is cut
  // short and must not be looked at.
  bool run(std::uint32_t file);

  // defined lists the macros that the main file defines, with the places of their names.
  const std::vector<std::pair<std::string, Place>>& defined() const { return defined_; }
  bool is_macro(std::string_view name) const { return macros_.defined(name); }
  // skipped is what was read without becoming part of the program: branches not taken, directives.
  const std::string& skipped() const { return skipped_; }

 private:
  struct Condition {
    bool taken;        // this branch is read
    bool outer_taken;  // the text around the #ifdef is read
    bool seen_else;
    Place place;
  };
  void file(std::uint32_t number);
  std::size_t comment(std::uint32_t number, std::size_t pos, bool line_ends);
  std::size_t directive(std::uint32_t number, std::size_t pos);
  // line_of collects a directive's line without comments, continuation lines joined.
  MappedText line_of(std::uint32_t number, std::size_t& pos);
  void define(const MappedText& line, std::size_t pos);
  void include(const MappedText& line, std::size_t pos, std::uint32_t from);
  void include_library(const MappedText& line, std::size_t pos);
  // insert puts an included file here, unless includes have taken too much (T122): files that include others twice
  // double the text at each step.
  void insert(std::uint32_t number, Place place, std::uint32_t length);
  void condition(const std::string& word, const std::string& name, const MappedText& line);
  bool reading() const { return conditions_.empty() || conditions_.back().taken; }
  void flush();
  void error(std::string_view code, Place place, std::uint32_t length, std::string text);

  Sources& sources_;
  Diagnostics& diagnostics_;
  const Options& options_;
  MappedText& out_;
  MacroExpander macros_;
  MappedText pending_;  // read since the last directive, macros not substituted yet
  std::vector<Condition> conditions_;
  std::vector<std::uint32_t> including_;
  std::size_t includes_ = 0, inserted_ = 0;  // files and bytes
  bool cut_short_ = false;
  std::vector<std::pair<std::string, Place>> defined_;
  std::string skipped_;
};

}  // namespace tessera::compiler
