// What the translator's tests share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/compiler.hpp"

namespace tessera::compiler::testing {

// A program in a temporary folder, gone with the object.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  std::filesystem::path write(const std::string& name, const std::string& text) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

Output translate_text(const std::string& text, const Options& options = {});

// codes of all diagnostics, in their order: "T206 T301".
std::string codes(const Output& output);

// without_remarks leaves out the notes about advice that has no effect.
Output without_remarks(Output output);

std::string read_file(const std::filesystem::path& path);

// The files of a folder of tests/compiler with this extension, sorted.
std::vector<std::filesystem::path> inputs(const std::string& folder, const std::string& extension);

// expect_golden compares with tests/compiler/goldens/NAME; TESSERA_UPDATE_GOLDENS=1 writes it.
void expect_golden(const std::string& name, const std::string& text);

// rendered diagnostics, with paths as seen from `folder`.
std::string rendered(const Output& output, const std::filesystem::path& folder);

}  // namespace tessera::compiler::testing
