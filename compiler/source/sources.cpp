#include "compiler/source/sources.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

namespace tessera::compiler {

namespace {

std::string not_a_file(std::filesystem::file_type type) {
  using Type = std::filesystem::file_type;
  switch (type) {
    case Type::directory:
      return "a folder";
    case Type::fifo:
      return "a FIFO";
    case Type::socket:
      return "a socket";
    case Type::block:
    case Type::character:
      return "a device";
    default:
      return "";
  }
}

}  // namespace

std::optional<std::uint32_t> Sources::load(const std::filesystem::path& path, std::string* why) {
  const auto refused = [&](const std::string& reason) {
    if (why != nullptr) *why = reason;
    return std::nullopt;
  };
  if (const auto known = loaded_.find(path); known != loaded_.end()) return known->second;
  std::error_code ignored;
  if (unsaved_ != nullptr && !unsaved_->empty()) {
    const auto text = unsaved_->find(std::filesystem::weakly_canonical(path, ignored));
    if (text != unsaved_->end()) {
      const std::uint32_t number = add(path.string(), text->second);
      files_[number].path = path;
      loaded_[path] = number;
      return number;
    }
  }
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::is_regular_file(status)) return refused(not_a_file(status.type()));
  errno = 0;
  const auto unreadable = [&] {
    return refused(errno == 0 ? "unreadable" : std::string("unreadable (") + std::strerror(errno) + ")");
  };
  std::ifstream in(path, std::ios::binary);
  if (!in) return unreadable();
  // No more than is looked at: files of /proc do not tell how large they are.
  std::string text;
  for (char piece[1 << 14]; in.read(piece, sizeof piece), in.gcount() > 0 && text.size() <= kMostText;) {
    text.append(piece, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return unreadable();
  if (text.size() > kMostText) return refused("larger than " + std::to_string(kMostText >> 20) + " MiB");
  const std::uint32_t number = add(path.string(), std::move(text));
  files_[number].path = path;
  loaded_[path] = number;
  return number;
}

std::uint32_t Sources::add(std::string name, std::string text) {
  SourceFile file;
  file.name = std::move(name);
  file.text = std::move(text);
  if (constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF"; file.text.starts_with(kByteOrderMark))
    file.text.erase(0, kByteOrderMark.size());
  file.line_starts.push_back(0);
  for (std::uint32_t k = 0; k < file.text.size(); ++k) {
    if (file.text[k] == '\n') file.line_starts.push_back(k + 1);
  }
  files_.push_back(std::move(file));
  return size() - 1;
}

LineColumn Sources::line_column(Place place) const {
  const auto& starts = files_[place.file].line_starts;
  const auto next = std::upper_bound(starts.begin(), starts.end(), place.offset);
  const auto line = static_cast<int>(next - starts.begin());
  return {line, static_cast<int>(place.offset - starts[static_cast<std::size_t>(line - 1)]) + 1};
}

Span Sources::span(Place place, std::uint32_t length) const {
  const std::string& text = files_[place.file].text;
  if (place.offset < text.size() && text[place.offset] == '$') {
    std::uint32_t end = place.offset + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
      ++end;
    }
    length = std::max(length, end - place.offset);
  }
  const LineColumn at = line_column(place);
  return {files_[place.file].name, at.line, at.column, std::max(1, static_cast<int>(length))};
}

Span Sources::span(const MappedText& text, Extent extent) const {
  if (text.at.empty()) return {size() == 0 ? "" : files_[0].name, 1, 1, 1};
  const std::uint32_t last = static_cast<std::uint32_t>(text.at.size()) - 1;
  if (extent.begin > last) {  // the end of the program: just behind its last byte
    Place place = text.at[last];
    return span(place, 1);
  }
  const Place begin = text.at[extent.begin];
  std::uint32_t length = 1;
  if (extent.end > extent.begin + 1) {
    const Place end = text.at[std::min(extent.end - 1, last)];
    if (end.file == begin.file && end.offset > begin.offset) {
      length = end.offset - begin.offset + 1;
    }
  }
  return span(begin, length);
}

}  // namespace tessera::compiler
