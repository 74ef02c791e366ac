#include "cli/lsp/framing.hpp"

#include <strings.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace tessera::cli::lsp {
namespace {

constexpr std::string_view kLength = "Content-Length:";
constexpr std::size_t kLargest = 256u << 20;  // no document is larger; a number beyond is garbage

// Where the header field begins, in any case of letters.
std::size_t find_length(std::string_view text) {
  for (std::size_t k = 0; k + kLength.size() <= text.size(); ++k) {
    if (strncasecmp(text.data() + k, kLength.data(), kLength.size()) == 0) return k;
  }
  return text.npos;
}

// The number behind the field; nothing when there is none that makes sense.
std::optional<std::size_t> number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  std::size_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (wrong != std::errc{} || value > kLargest || rest.find_first_not_of(" \t\r") != rest.npos) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

bool FrameReader::fill() {
  char bytes[65536];
  while (true) {
    const ssize_t n = read(fd_, bytes, sizeof bytes);
    if (n > 0) buffer_.append(bytes, static_cast<std::size_t>(n));
    if (n >= 0) return n > 0;
    if (errno != EINTR) return false;
  }
}

std::optional<std::string> FrameReader::next() {
  std::optional<std::size_t> length;
  while (true) {  // header lines; anything else is skipped
    const std::size_t end = buffer_.find('\n');
    if (end == buffer_.npos) {
      // Garbage without a newline must not pile up; a header is short.
      if (buffer_.size() > (1u << 20)) buffer_.erase(0, buffer_.size() - 1024);
      if (!fill()) return std::nullopt;
      continue;
    }
    const std::string line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    const std::size_t field = find_length(line);
    if (field != line.npos) {
      length = number(std::string_view(line).substr(field + kLength.size()));
    } else if (length && (line.empty() || line == "\r")) {
      break;
    }
  }
  while (buffer_.size() < *length) {
    if (!fill()) return std::nullopt;
  }
  std::string body = buffer_.substr(0, *length);
  buffer_.erase(0, *length);
  return body;
}

bool write_frame(int fd, std::string_view json) {
  std::string frame = std::string(kLength) + " " + std::to_string(json.size()) + "\r\n\r\n";
  frame += json;
  for (std::size_t done = 0; done < frame.size();) {
    const ssize_t n = write(fd, frame.data() + done, frame.size() - done);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace tessera::cli::lsp
