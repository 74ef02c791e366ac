// The files of one translation.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compiler.hpp"
#include "compiler/source/mapped_text.hpp"

namespace tessera::compiler {

struct SourceFile {
  std::string name;            // as messages print it
  std::filesystem::path path;  // empty: not a file (command line)
  std::string text;
  std::vector<std::uint32_t> line_starts;  // offset of the first byte of each line
  bool library = false;                    // came by #include <...>
};

struct LineColumn {
  int line = 1;
  int column = 1;
};

// Sources owns every text read in one translation and turns places into lines and columns.
class Sources {
 public:
  // `unsaved` texts stand for files, by canonical path.
  explicit Sources(const std::map<std::filesystem::path, std::string>* unsaved = nullptr) : unsaved_(unsaved) {}

  // So much text a program may consist of, what is included twice counted twice: places are kept for each byte.
  static constexpr std::size_t kMostText = std::size_t{16} << 20;

  // load reads a file; nothing when it can't be read, and then `why` says in a few words what it is instead, or "". A
  // file loaded twice gets one number. Devices and FIFOs are not opened: reading them may never end.
  std::optional<std::uint32_t> load(const std::filesystem::path& path, std::string* why = nullptr);
  std::uint32_t add(std::string name, std::string text);  // a text that is not a file

  const SourceFile& file(std::uint32_t number) const { return files_[number]; }
  void mark_library(std::uint32_t number) { files_[number].library = true; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(files_.size()); }
  LineColumn line_column(Place place) const;

  // span of `length` bytes from `place`; a macro's use is underlined whole.
  Span span(Place place, std::uint32_t length) const;
  Span span(const MappedText& text, Extent extent) const;

 private:
  const std::map<std::filesystem::path, std::string>* unsaved_;
  std::vector<SourceFile> files_;
  std::map<std::filesystem::path, std::uint32_t> loaded_;
};

}  // namespace tessera::compiler
