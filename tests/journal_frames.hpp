// Frames of a journal's file left out, as when parts of a disk are lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tessera::tests {

// Those for which `loses` says so, but not the header.
template <class F>
void lose_frames(const std::filesystem::path& file, F loses) {
  constexpr std::size_t kHead = 32, kBytesAt = 8;
  std::string all, kept;
  {
    std::ifstream in(file, std::ios::binary);
    all.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (std::size_t at = 0; at + kHead <= all.size();) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, all.data() + at + kBytesAt, sizeof bytes);
    const std::size_t size = kHead + static_cast<std::size_t>(bytes);
    if (at == 0 || !loses()) kept.append(all, at, size);
    at += size;
  }
  std::ofstream(file, std::ios::binary) << kept;
}

}  // namespace tessera::tests
