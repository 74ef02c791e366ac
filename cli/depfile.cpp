#include "cli/depfile.hpp"

#include <fstream>
#include <iterator>
#include <string>

namespace tessera::cli {

std::vector<std::filesystem::path> read_depfile(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::vector<std::filesystem::path> files;
  std::string word;
  bool target = true;  // until the colon
  const auto flush = [&] {
    if (target && !word.empty() && word.back() == ':') {
      target = false;
    } else if (!target && !word.empty()) {
      files.push_back(std::filesystem::absolute(word).lexically_normal());
    }
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && next == '\n') {
      ++i;
      flush();
    } else if (c == '\\' && (next == ' ' || next == '#' || next == '\\')) {
      word += next;
      ++i;
    } else if (c == '$' && next == '$') {
      word += '$';
      ++i;
    } else if (c == ' ' || c == '\n') {
      flush();
    } else {
      word += c;
    }
  }
  flush();
  return files;
}

}  // namespace tessera::cli
