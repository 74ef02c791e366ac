// Places as editors count them: lines, and UTF-16 units within a line. Everything of ours is bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::cli::lsp {

struct Position {
  std::uint32_t line = 0;       // from 0
  std::uint32_t character = 0;  // UTF-16 units, from 0
  friend bool operator==(const Position&, const Position&) = default;
};

// Lines end with \n, \r\n or a lone \r. Each byte that is no part of a UTF-8 character counts as
// one unit, as the replacement character does that an editor shows for it.
class Lines {
 public:
  Lines(std::string_view text);  // NOLINT: a text where lines are wanted; it must live as long
  Lines(const std::string& text) : Lines(std::string_view(text)) {}  // NOLINT
  Position at(std::size_t offset) const;

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;
};

// offset_at returns the byte of a position; behind the end of a line it is that end, behind the
// last line the end of the text, inside a surrogate pair its beginning.
std::size_t offset_at(std::string_view text, Position position);

// moved returns where `offset` of `before` is in `after`, judged by what both have in common at
// their beginning and end.
std::size_t moved(std::string_view before, std::string_view after, std::size_t offset);

// file: URIs and paths. A URI of another scheme becomes a path that names no file.
std::filesystem::path path_of(std::string_view uri);
std::string uri_of(const std::filesystem::path& path);

}  // namespace tessera::cli::lsp
