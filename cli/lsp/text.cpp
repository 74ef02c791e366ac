#include "cli/lsp/text.hpp"

#include <algorithm>
#include <cctype>

namespace tessera::cli::lsp {
namespace {

// The bytes of the character at `pos`: 1 when there is no complete one.
std::size_t bytes_at(std::string_view text, std::size_t pos) {
  const auto lead = static_cast<unsigned char>(text[pos]);
  const std::size_t n = lead >= 0xF0 && lead < 0xF8   ? 4
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                                                      : 1;
  if (pos + n > text.size()) return 1;
  for (std::size_t k = 1; k < n; ++k) {
    if ((static_cast<unsigned char>(text[pos + k]) & 0xC0u) != 0x80u) return 1;
  }
  return n;
}

std::uint32_t units(std::size_t bytes) { return bytes == 4 ? 2 : 1; }

// The length of the line end at `pos`, or 0.
std::size_t line_end(std::string_view text, std::size_t pos) {
  if (text[pos] == '\n') return 1;
  if (text[pos] != '\r') return 0;
  return text.substr(pos + 1, 1) == "\n" ? 2 : 1;
}

}  // namespace

Lines::Lines(std::string_view text) : text_(text), starts_{0} {
  for (std::size_t k = 0; k < text.size();) {
    const std::size_t end = line_end(text, k);
    k += end == 0 ? 1 : end;
    if (end != 0) starts_.push_back(k);
  }
}

Position Lines::at(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  Position p{static_cast<std::uint32_t>(next - starts_.begin()) - 1, 0};
  for (std::size_t k = starts_[p.line]; k < offset && line_end(text_, k) == 0;) {
    const std::size_t n = bytes_at(text_, k);
    if (k + n > offset) break;
    k += n;
    p.character += units(n);
  }
  return p;
}

std::size_t offset_at(std::string_view text, Position position) {
  std::size_t k = 0;
  for (std::uint32_t line = 0; line < position.line; ++line) {
    while (k < text.size() && line_end(text, k) == 0) ++k;
    if (k >= text.size()) return text.size();
    k += line_end(text, k);
  }
  for (std::uint32_t column = 0; k < text.size() && line_end(text, k) == 0;) {
    const std::size_t n = bytes_at(text, k);
    column += units(n);
    if (column > position.character) break;
    k += n;
  }
  return k;
}

std::size_t moved(std::string_view before, std::string_view after, std::size_t offset) {
  const std::size_t most = std::min(before.size(), after.size());
  std::size_t front = 0;
  while (front < most && before[front] == after[front]) ++front;
  std::size_t back = 0;
  while (back < most - front && before[before.size() - 1 - back] == after[after.size() - 1 - back]) ++back;
  if (offset <= front) return offset;
  if (offset > before.size() - back) return offset + after.size() - before.size();
  return front;
}

std::filesystem::path path_of(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  if (uri.substr(0, kScheme.size()) == kScheme) {
    uri.remove_prefix(kScheme.size());
    uri.remove_prefix(std::min(uri.find('/'), uri.size()));  // a host, usually empty
  }
  std::string path;
  for (std::size_t k = 0; k < uri.size(); ++k) {
    const auto hex = [&](std::size_t at) {
      return at < uri.size() && std::isxdigit(static_cast<unsigned char>(uri[at])) != 0;
    };
    if (uri[k] == '%' && hex(k + 1) && hex(k + 2)) {
      path += static_cast<char>(std::stoi(std::string(uri.substr(k + 1, 2)), nullptr, 16));
      k += 2;
    } else {
      path += uri[k];
    }
  }
  path.erase(std::find(path.begin(), path.end(), '\0'), path.end());
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, ignored);
  return whole.empty() ? std::filesystem::path(path) : whole;
}

std::string uri_of(const std::filesystem::path& path) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char c : path.string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("/-._~").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri;
}

}  // namespace tessera::cli::lsp
