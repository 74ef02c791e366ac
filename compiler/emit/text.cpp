#include "compiler/emit/text.hpp"

#include "compiler/block/lower.hpp"

namespace tessera::compiler::emit {
namespace {
constexpr std::size_t kWrittenLimit = 60;
}

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte >= 0x7f || c == '?') {  // '?': no trigraphs
      out += '\\';
      out += static_cast<char>('0' + (byte >> 6));
      out += static_cast<char>('0' + ((byte >> 3) & 7));
      out += static_cast<char>('0' + (byte & 7));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string Context::pos(Extent at) const {
  const Place place = at.begin < text.at.size() ? text.at[at.begin] : Place{};
  const LineColumn where = sources.line_column(place);
  std::string out = "at(" + std::to_string(where.line) + ", " + std::to_string(where.column);
  if (place.file != 0) out += ", " + std::to_string(place.file);
  return out + ")";
}

std::string Context::written(Extent at) const { return literal(block::one_line(text.view(at), kWrittenLimit)); }

}  // namespace tessera::compiler::emit
