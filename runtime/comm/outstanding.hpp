// Outstanding: the large values that this rank has sent to others, and that these have not let go of. Who sends knows
// at once how much that may be, however late it hears of others: what has been sent, less what each has said that it
// has let go of. Values hold no memory here once they have left; but where they are read more slowly than they are
// made, they pile up with who reads them, or on the way there.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::runtime {

class Outstanding {
 public:
  // Smaller values are not looked at.
  static constexpr std::uint64_t kLarge = 16 << 10;
  // Less than that with one rank is nothing.
  static constexpr std::int64_t kLeast = 8 << 20;

  explicit Outstanding(std::int32_t ranks) : with_(static_cast<std::size_t>(ranks)) {}

  // A value of so many bytes leaves for that rank. Any thread.
  void sent(balancer::Rank to, std::uint64_t size) {
    if (size < kLarge) return;
    const auto bytes = static_cast<std::int64_t>(size);
    on_its_way_.fetch_add(bytes, std::memory_order_relaxed);
    add(with_[static_cast<std::size_t>(balancer::index(to))].bytes, bytes);
  }
  // It has told: since it last did, so much has come and so much has gone again.
  void told(balancer::Rank by, std::int64_t came, std::int64_t gone) {
    on_its_way_.fetch_sub(came, std::memory_order_relaxed);
    add(with_[static_cast<std::size_t>(balancer::index(by))].bytes, -gone);
  }
  // In all.
  std::int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // ... with this one.
  std::int64_t with(balancer::Rank r) const {
    return counted(with_[static_cast<std::size_t>(balancer::index(r))].bytes.load(std::memory_order_relaxed));
  }
  // In all, of which nobody has said that it has come.
  std::int64_t on_its_way() const { return on_its_way_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) With {
    std::atomic<std::int64_t> bytes{0};
  };
  static std::int64_t counted(std::int64_t bytes) { return bytes < kLeast ? 0 : bytes; }
  void add(std::atomic<std::int64_t>& with, std::int64_t bytes) {
    const std::int64_t before = with.fetch_add(bytes, std::memory_order_relaxed);
    const std::int64_t more = counted(before + bytes) - counted(before);
    if (more != 0) bytes_.fetch_add(more, std::memory_order_relaxed);
  }
  std::vector<With> with_;
  alignas(64) std::atomic<std::int64_t> bytes_{0};
  std::atomic<std::int64_t> on_its_way_{0};
};

}  // namespace tessera::runtime
