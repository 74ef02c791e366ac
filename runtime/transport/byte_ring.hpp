// ByteRing: a stream of bytes from one process to another of the same host, through memory they share. One thread
// writes, one reads; neither ever waits. What is written is seen after publish(), and a reader has to be told
// (Doorbell): it does not look by itself.
//
// head and tail count bytes since the beginning; head - tail are in the ring. Each side keeps its own count beside the
// shared one, and a copy of the other's, so that it touches the other's line only when it has to.
//
// Example: RingWriter out(ring); out.write(data, size); out.publish(); bell.ring();
//          RingReader in(ring);  in.read([](std::span<const std::byte> bytes) { ... });
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tessera::runtime {

struct ByteRing {
  alignas(64) std::atomic<std::uint64_t> head{0};
  std::atomic<std::uint32_t> wanting{0};  // the writer has more than there was room for
  alignas(64) std::atomic<std::uint64_t> tail{0};
  std::uint64_t capacity;  // bytes behind this, a power of two
  explicit ByteRing(std::uint64_t bytes) : capacity(bytes) {}

  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
  static std::size_t footprint(std::uint64_t capacity) { return sizeof(ByteRing) + capacity; }
};
static_assert(sizeof(ByteRing) == 128);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "shared between processes");

class RingWriter {
 public:
  RingWriter() = default;
  explicit RingWriter(ByteRing& ring) : ring_(&ring), capacity_(ring.capacity) {}
  explicit operator bool() const { return ring_ != nullptr; }

  // write takes the first bytes of `from`, as many as there is room for, and returns their number.
  std::size_t write(const void* from, std::size_t size) {
    if (at_ + size - tail_ > capacity_) tail_ = ring_->tail.load(std::memory_order_acquire);
    const std::size_t n = std::min<std::size_t>(size, capacity_ - (at_ - tail_));
    const std::size_t offset = at_ & (capacity_ - 1);
    const std::size_t first = std::min<std::size_t>(n, capacity_ - offset);
    if (first != 0) std::memcpy(ring_->data() + offset, from, first);
    if (n != first) std::memcpy(ring_->data(), static_cast<const std::byte*>(from) + first, n - first);
    at_ += n;
    return n;
  }
  // publish shows the reader what was written; `more` does not fit: it is to tell us when there is room. Should it not
  // see that in time, nobody tells: look again now and then.
  void publish(bool more) {
    if (more) ring_->wanting.store(1, std::memory_order_relaxed);
    ring_->head.store(at_, std::memory_order_release);
  }

 private:
  ByteRing* ring_ = nullptr;
  std::uint64_t capacity_ = 0;  // not the shared one: that lies where the reader writes
  std::uint64_t at_ = 0, tail_ = 0;
};

class RingReader {
 public:
  RingReader() = default;
  explicit RingReader(ByteRing& ring) : ring_(&ring), capacity_(ring.capacity) {}

  // read calls f(std::span<const std::byte>) with all that has come, in one part or two. False: nothing has.
  template <class F>
  bool read(F f) {
    const std::uint64_t head = ring_->head.load(std::memory_order_acquire);
    if (head == at_) return false;
    while (at_ != head) {
      const std::uint64_t offset = at_ & (capacity_ - 1);
      const std::uint64_t n = std::min(head - at_, capacity_ - offset);
      f(std::span<const std::byte>(ring_->data() + offset, n));
      at_ += n;
    }
    ring_->tail.store(at_, std::memory_order_release);
    return true;
  }
  // Whether the writer is to be told that there is room again; once.
  bool wanted() {
    return ring_->wanting.load(std::memory_order_relaxed) != 0 &&
           ring_->wanting.exchange(0, std::memory_order_relaxed) != 0;
  }

 private:
  ByteRing* ring_ = nullptr;
  std::uint64_t capacity_ = 0;
  std::uint64_t at_ = 0;
};

}  // namespace tessera::runtime
