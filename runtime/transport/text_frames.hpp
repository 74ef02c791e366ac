// What ranks of other hosts and rank 0 say to each other about what is printed (text_carrier.hpp, text_collector.hpp):
// frames over a connection of their own.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::runtime::text {

enum class Kind : std::uint32_t {
  text,     // carrier to collector: print `size` bytes
  flush,    // carrier: say `flushed` when what any rank has printed before this is out
  last,     // carrier: nothing follows; the collector closes when all before it is out
  drain,    // collector: send what is printed, then say `drained`
  drained,  // carrier
  flushed   // collector
};
struct Frame {
  Kind kind;
  std::uint32_t size;
};
constexpr std::uint32_t kLongestText = 1 << 20;  // of a frame

using Key = std::array<std::byte, 16>;

// TextAddress says where rank 0 collects; both sides show a key first, since another service may have that port at one
// of these addresses, and anybody may find it.
struct TextAddress {
  static constexpr std::size_t kMost = 16;
  std::uint16_t port = 0;  // 0: nowhere
  std::uint32_t count = 0;
  std::array<in6_addr, kMost> addresses{};  // those of IPv4 mapped
  Key of_carrier{}, of_collector{};
};

// send_all sends it all, waiting where there is no room; false: the other side is gone.
bool send_all(int connection, const void* data, std::size_t size);
// write_all prints it all, or as much as there is somebody to read.
void write_all(int to, const char* text, std::size_t size);

}  // namespace tessera::runtime::text
