#include "runtime/transport/byte_ring.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <random>
#include <thread>
#include <vector>

namespace tessera::runtime {
namespace {

// A ring in memory of its own.
struct Memory {
  explicit Memory(std::uint64_t capacity)
      : bytes(static_cast<std::byte*>(::operator new (ByteRing::footprint(capacity), std::align_val_t{64}))),
        ring(new (bytes) ByteRing(capacity)) {}
  ~Memory() { ::operator delete (bytes, std::align_val_t{64}); }
  std::byte* bytes;
  ByteRing* ring;
};

std::byte nth(std::uint64_t k) { return static_cast<std::byte>(k * 7 + (k >> 8)); }

// Writes the next `size` bytes of the sequence as far as they fit.
std::size_t write(RingWriter& out, std::uint64_t& written, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t k = 0; k < size; ++k) bytes[k] = nth(written + k);
  const std::size_t n = out.write(bytes.data(), size);
  written += n;
  return n;
}

// Reads all there is; false where it is not the sequence.
bool read(RingReader& in, std::uint64_t& seen) {
  bool right = true;
  in.read([&](std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) right = right && b == nth(seen++);
  });
  return right;
}

TEST(ByteRing, GivesWhatWasWrittenInOrder) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    Memory memory(64 << (seed % 4));
    RingWriter out(*memory.ring);
    RingReader in(*memory.ring);
    std::uint64_t written = 0, shown = 0, seen = 0;
    for (int step = 0; step < 500; ++step) {
      switch (random() % 3) {
        case 0:
          write(out, written, random() % 100);
          break;
        case 1:
          out.publish(false);
          shown = written;
          break;
        default:
          ASSERT_TRUE(read(in, seen)) << "seed " << seed;
          ASSERT_EQ(seen, shown) << "all that was published, and nothing else; seed " << seed;
      }
      ASSERT_LE(written - seen, memory.ring->capacity);
    }
  }
}

TEST(ByteRing, TakesWhatThereIsRoomFor) {
  Memory memory(64);
  RingWriter out(*memory.ring);
  RingReader in(*memory.ring);
  std::uint64_t written = 0, seen = 0;
  EXPECT_EQ(write(out, written, 100), 64u);
  EXPECT_EQ(write(out, written, 1), 0u);
  EXPECT_FALSE(in.wanted());
  out.publish(true);
  EXPECT_TRUE(read(in, seen));
  EXPECT_TRUE(in.wanted()) << "the writer is to be told";
  EXPECT_FALSE(in.wanted()) << "once";
  EXPECT_EQ(write(out, written, 100), 64u);
}

TEST(ByteRing, BetweenThreads) {
  Memory memory(128);
  constexpr std::uint64_t kAll = 300'000;
  std::thread writer([&] {
    RingWriter out(*memory.ring);
    std::mt19937_64 random(1);
    for (std::uint64_t written = 0; written < kAll;) {
      if (write(out, written, std::min<std::uint64_t>(1 + random() % 90, kAll - written)) == 0)
        std::this_thread::yield();
      out.publish(false);
    }
  });
  RingReader in(*memory.ring);
  std::uint64_t seen = 0;
  bool right = true;
  while (seen < kAll && right) {
    const std::uint64_t before = seen;
    right = read(in, seen);
    if (seen == before) std::this_thread::yield();
  }
  EXPECT_TRUE(right);
  writer.join();
}

}  // namespace
}  // namespace tessera::runtime
