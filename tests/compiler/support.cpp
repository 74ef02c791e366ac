#include "support.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace tessera::compiler::testing {

namespace fs = std::filesystem;

Workspace::Workspace() {
  std::string pattern = (fs::temp_directory_path() / "tessera-compiler-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = pattern;
}

Workspace::~Workspace() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

fs::path Workspace::write(const std::string& name, const std::string& text) const {
  const fs::path path = folder_ / name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

Output translate_text(const std::string& text, const Options& options) {
  const Workspace workspace;
  return translate(workspace.write("prog.fa", text), options);
}

std::string codes(const Output& output) {
  std::string all;
  for (const Diagnostic& d : output.diagnostics) all += (all.empty() ? "" : " ") + d.code;
  return all;
}

Output without_remarks(Output output) {
  std::erase_if(output.diagnostics, [](const Diagnostic& d) { return d.severity == Severity::note; });
  return output;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<fs::path> inputs(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> result;
  for (const auto& entry : fs::directory_iterator(fs::path(TESSERA_COMPILER_TESTS) / folder)) {
    if (entry.path().extension() == extension) result.push_back(entry.path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

void expect_golden(const std::string& name, const std::string& text) {
  const fs::path path = fs::path(TESSERA_COMPILER_TESTS) / "goldens" / name;
  const char* update = std::getenv("TESSERA_UPDATE_GOLDENS");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(read_file(path), text) << path << ": run with TESSERA_UPDATE_GOLDENS=1 to accept the new text";
}

std::string rendered(const Output& output, const fs::path& folder) {
  std::string text;
  for (const Diagnostic& d : output.diagnostics) text += render(d, false);
  const std::string prefix = folder.string() + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    text.erase(at, prefix.size());
  }
  return text;
}

}  // namespace tessera::compiler::testing
