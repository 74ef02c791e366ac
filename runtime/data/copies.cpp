// The cache of copies: values of other ranks' names, which go when they take more memory than allowed.
#include <chrono>
#include <mutex>
#include <utility>

#include "runtime/data/happens.hpp"

namespace tessera::runtime {

// It counts as a copy. The caller holds the shard's lock.
void DataFragments::note_copy(DfEntry* e) {
  copy_bytes_.fetch_add(static_cast<std::int64_t>(e->value->size), std::memory_order_relaxed);
  copies_alive_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard hold(copies_mutex_);
  copies_.push_back(e->id);
}

// It counts as a copy no longer. The caller holds the shard's lock.
void DataFragments::forget_copy(DfEntry* e) {
  copy_bytes_.fetch_sub(static_cast<std::int64_t>(e->value->size), std::memory_order_relaxed);
  copies_alive_.fetch_sub(1, std::memory_order_relaxed);
}

void DataFragments::trim_copies(Clock::time_point now) {
  const std::int64_t limit = facts_.options.cache_limit_mb << 20;
  // Ids of dropped copies stay in the list until it is mostly made of them.
  const auto stale = [this] {
    return static_cast<std::int64_t>(copies_.size()) > 2 * copies_alive_.load(std::memory_order_relaxed) + 65536;
  };
  if (now < next_trim_) return;
  std::size_t tries = 0;
  while (true) {
    abi::Id id;
    {
      const std::lock_guard hold(copies_mutex_);
      if (copy_bytes() <= limit && !stale()) return;
      if (copies_.empty() || tries++ > 2 * copies_.size()) {
        next_trim_ = now + std::chrono::milliseconds(20);  // all in use: no use in looking all the time
        return;
      }
      id = copies_.front();
      copies_.pop_front();
    }
    Shard& shard = table_.shard(id);
    const std::lock_guard hold(shard.mutex);
    DfEntry* e = shard.find(id);
    if (e == nullptr || e->state != protocol::State::copy) continue;
    const bool in_use = __atomic_load_n(&e->value->refs, __ATOMIC_RELAXED) > 1;
    if (copy_bytes() <= limit || in_use || e->touched) {
      e->touched = false;
      const std::lock_guard again(copies_mutex_);
      copies_.push_back(id);
      continue;
    }
    happens(shard, e, {id, e->scope}, protocol::Evict{});
  }
}

}  // namespace tessera::runtime
