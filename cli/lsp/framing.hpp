// Framing of the language server protocol: `Content-Length: N`, an empty line, N bytes of JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera::cli::lsp {

// FrameReader takes frames off a file descriptor. It survives what is no frame: it looks for the
// next `Content-Length:` behind it.
class FrameReader {
 public:
  explicit FrameReader(int fd) : fd_(fd) {}

  // next waits for the next frame's bytes; nothing at the end of the input.
  std::optional<std::string> next();

 private:
  bool fill();

  int fd_;
  std::string buffer_;
};

// write_frame sends one message; false when nobody reads any more.
bool write_frame(int fd, std::string_view json);

}  // namespace tessera::cli::lsp
