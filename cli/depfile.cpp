#include "cli/depfile.hpp"

#include <string>

#include "files/whole_file.hpp"

namespace tessera::cli {

std::vector<std::filesystem::path> read_depfile(const std::filesystem::path& file) {
  const std::string text = files::read_whole(file).value_or("");
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
