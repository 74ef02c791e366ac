// Members: which ranks take part in the run, as one rank knows it. Rank 0 decides (membership.hpp)
// and tells all; for a while ranks may know different things, and nothing may depend on more: what
// is sent to a rank that has left is passed on by it.
//
// Ranks: 0 .. placed-1 take part from the start, then the spares, then the coordinator if the
// policy keeps one for itself. Locators count the first `placed` ranks, whoever leaves or joins, so
// that a place keeps its number; the place of a rank that left is taken by a spare that joined, if
// there is one, else by the next rank.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::runtime {

using balancer::Rank;

class Members {
 public:
  // `workers` are the ranks that may execute: all, or all but the coordinator.
  Members(std::int32_t workers, std::int32_t spares)
      : placed_(workers - spares), takes_part_(static_cast<std::size_t>(workers)) {
    for (std::int32_t r = 0; r < placed_; ++r) takes_part_[static_cast<std::size_t>(r)].store(true);
  }

  std::int32_t workers() const { return static_cast<std::int32_t>(takes_part_.size()); }
  std::int32_t placed() const { return placed_; }
  bool spare(Rank r) const { return balancer::index(r) >= placed_ && balancer::index(r) < workers(); }

  // Any thread. Ranks that never execute take no part.
  bool takes_part(Rank r) const {
    const std::int32_t i = balancer::index(r);
    return i >= 0 && i < workers() && takes_part_[static_cast<std::size_t>(i)].load();
  }
  // Communication thread.
  void set(Rank r, bool part) {
    steady_.store(false);
    takes_part_[static_cast<std::size_t>(balancer::index(r))].store(part);
  }
  // Nobody has left or joined, as far as this rank knows. Any thread.
  bool steady() const { return steady_.load(); }

  // The rank that a locator's value means. Any thread.
  Rank place(std::int64_t value) const {
    const std::int64_t rest = value % placed_;
    const Rank r{static_cast<std::int32_t>(rest < 0 ? rest + placed_ : rest)};
    return takes_part(r) ? r : substitute(r);
  }

  // All that take part, without `except`.
  std::vector<Rank> others(Rank except) const {
    std::vector<Rank> list;
    for (std::int32_t r = 0; r < workers(); ++r) {
      if (Rank{r} != except && takes_part(Rank{r})) list.push_back(Rank{r});
    }
    return list;
  }

 private:
  Rank substitute(Rank gone) const {
    std::vector<Rank> joined;
    for (std::int32_t r = placed_; r < workers(); ++r) {
      if (takes_part(Rank{r})) joined.push_back(Rank{r});
    }
    const std::int32_t i = balancer::index(gone);
    if (!joined.empty()) return joined[static_cast<std::size_t>(i) % joined.size()];
    for (std::int32_t d = 1; d < placed_; ++d) {
      if (const Rank r{(i + d) % placed_}; takes_part(r)) return r;
    }
    return gone;  // it passes the fragment on
  }

  const std::int32_t placed_;
  std::vector<std::atomic<bool>> takes_part_;
  std::atomic<bool> steady_{true};
};

}  // namespace tessera::runtime
