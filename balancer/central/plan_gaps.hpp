// Workers that can take work, by how much of it: see plan_makespan.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace tessera::balancer {

// Gaps finds the receiver whose room is nearest above a weight. Rooms stand in buckets that are a quarter of a per cent
// wide, and two levels of bits say which have any: each step costs some instructions, however many receivers there are.
class Gaps {
 public:
  static constexpr std::int32_t kNone = -1;

  explicit Gaps(std::size_t workers) : room_(workers), next_(workers), previous_(workers) {}

  // reset forgets everybody. What has less room than a 65,536th of `widest` has none.
  void reset(double widest) {
    unit_ = widest / (1 << kOctaves);
    head_.fill(kNone);
    words_.fill(0);
    top_ = 0;
    std::fill(room_.begin(), room_.end(), 0.0);
  }
  double room(std::int32_t worker) const { return room_[static_cast<std::size_t>(worker)]; }

  void set(std::size_t worker, double room) {
    const auto i = static_cast<std::int32_t>(worker);
    if (room_[worker] > 0) unlink(i);
    room_[worker] = room >= unit_ ? std::max(room, 0.0) : 0;
    if (room_[worker] > 0) link(i);
  }

  // nearest is a worker with room for `work` and little more, kNone when nobody has that much.
  std::int32_t nearest(double work) const {
    const std::size_t bucket = bucket_of(work);
    int tries = 8;
    for (std::int32_t i = head_[bucket]; i != kNone && tries-- > 0; i = next_[i]) {
      if (room_[i] >= work) return i;
    }
    return bucket + 1 < kBuckets ? first_from(bucket + 1) : kNone;
  }
  std::int32_t widest() const {
    if (top_ == 0) return kNone;
    const std::size_t word = 63 - std::countl_zero(top_);
    return head_[word * 64 + 63 - std::countl_zero(words_[word])];
  }

 private:
  static constexpr int kOctaves = 16, kBitsPerOctave = 8;
  static constexpr std::size_t kBuckets = kOctaves << kBitsPerOctave;  // 64 * 64

  // The leading bits of a float are its logarithm, near enough.
  std::size_t bucket_of(double work) const {
    const auto ratio = static_cast<float>(std::clamp(work / unit_, 1.0, 65535.0));
    return (std::bit_cast<std::uint32_t>(ratio) >> (23 - kBitsPerOctave)) - (127u << kBitsPerOctave);
  }
  std::int32_t first_from(std::size_t bucket) const {
    std::size_t word = bucket / 64;
    std::uint64_t bits = words_[word] >> (bucket % 64) << (bucket % 64);
    if (bits == 0) {
      const std::uint64_t above = word == 63 ? 0 : top_ >> (word + 1) << (word + 1);
      if (above == 0) return kNone;
      word = std::countr_zero(above);
      bits = words_[word];
    }
    return head_[word * 64 + std::countr_zero(bits)];
  }
  void link(std::int32_t i) {
    const std::size_t b = bucket_of(room_[i]);
    next_[i] = head_[b];
    previous_[i] = kNone;
    if (head_[b] != kNone) previous_[head_[b]] = i;
    head_[b] = i;
    words_[b / 64] |= std::uint64_t{1} << b % 64;
    top_ |= std::uint64_t{1} << b / 64;
  }
  void unlink(std::int32_t i) {
    if (next_[i] != kNone) previous_[next_[i]] = previous_[i];
    if (previous_[i] != kNone) {
      next_[previous_[i]] = next_[i];
      return;
    }
    const std::size_t b = bucket_of(room_[i]);
    head_[b] = next_[i];
    if (head_[b] != kNone) return;
    words_[b / 64] &= ~(std::uint64_t{1} << b % 64);
    if (words_[b / 64] == 0) top_ &= ~(std::uint64_t{1} << b / 64);
  }

  double unit_ = 1;
  std::vector<double> room_;                   // 0: not in a bucket
  std::vector<std::int32_t> next_, previous_;  // in its bucket
  std::array<std::int32_t, kBuckets> head_;
  std::array<std::uint64_t, kBuckets / 64> words_;  // buckets with somebody
  std::uint64_t top_ = 0;                           // words with bits
};

}  // namespace tessera::balancer
