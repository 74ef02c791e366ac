#include "cli/report/columns.hpp"

#include <zlib.h>

#include <stdexcept>
#include <utility>

namespace tessera::cli {
namespace {

std::string base64(const std::vector<unsigned char>& bytes) {
  static constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t k) -> std::uint32_t { return i + k < bytes.size() ? bytes[i + k] : 0; };
    const std::uint32_t three = at(0) << 16 | at(1) << 8 | at(2);
    text += kDigits[three >> 18];
    text += kDigits[three >> 12 & 63];
    text += i + 1 < bytes.size() ? kDigits[three >> 6 & 63] : '=';
    text += i + 2 < bytes.size() ? kDigits[three & 63] : '=';
  }
  return text;
}

}  // namespace

void Columns::add(const std::string& name, const std::vector<std::uint32_t>& numbers, As as) {
  std::vector<std::uint32_t> kept(numbers.size());
  std::uint32_t before = 0, all = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::uint32_t n = numbers[i];
    if (as == As::differences) n -= std::exchange(before, n);
    if (as != As::numbers) n = n << 1 ^ (0u - (n >> 31));  // small ones of either sign are small numbers
    kept[i] = n;
    all |= n;
  }
  unsigned planes = 0;
  for (; planes < 4 && all >> (8 * planes) != 0; ++planes) {
    for (const std::uint32_t n : kept) bytes_.push_back(static_cast<unsigned char>(n >> (8 * planes)));
  }
  list_.push_back({name, numbers.size(), planes, static_cast<int>(as)});
}

std::string Columns::text() const {
  uLongf size = compressBound(bytes_.size());
  std::vector<unsigned char> packed(size);
  if (compress2(packed.data(), &size, bytes_.data(), bytes_.size(), 6) != Z_OK) {
    throw std::runtime_error("the report's data can't be compressed: no memory?");
  }
  packed.resize(size);
  return base64(packed);
}

}  // namespace tessera::cli
