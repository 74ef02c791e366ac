#include "runtime/node/backlogs.hpp"

#include <algorithm>
#include <cstdlib>

namespace tessera::runtime {

void Backlogs::came(Rank from, const Parcel& p) {
  for (const ValueRef& v : p.values) {
    if (!v || v.get()->size < kLarge) continue;
    auto& here = others_[static_cast<std::size_t>(balancer::index(from))].here;
    if (here == nullptr) here = std::make_shared<HeldFrom>();
    here->sample(v.get());
    any_ = true;
  }
}

void Backlogs::on(Rank from, const Backlog& m) {
  Other& other = others_[static_cast<std::size_t>(balancer::index(from))];
  elsewhere_.store(elsewhere() + m.bytes - std::exchange(other.there, m.bytes), std::memory_order_relaxed);
  busy_.store(busy_.load(std::memory_order_relaxed) + (m.busy ? 1 : 0) - (std::exchange(other.busy, m.busy) ? 1 : 0),
              std::memory_order_relaxed);
}

void Backlogs::turn(Clock::time_point now, bool busy) {
  if (!any_ || now < next_) return;
  next_ = now + kTells;
  any_ = false;
  for (std::size_t r = 0; r < others_.size(); ++r) {
    Other& other = others_[r];
    if (other.here == nullptr) continue;
    const std::int64_t now_here = other.here->bytes();
    const std::int64_t bytes = now_here < kLeast ? 0 : now_here;
    any_ = any_ || now_here > 0 || other.told > 0;
    const bool changed = std::abs(bytes - other.told) >= kStep || (bytes > 0 && busy != other.told_busy);
    if (!changed && (bytes != 0 || other.told == 0)) continue;
    other.told = bytes;
    other.told_busy = busy;
    comm_.send(Rank{static_cast<std::int32_t>(r)}, Backlog{bytes, bytes > 0 && busy});
  }
}

}  // namespace tessera::runtime
