// Backlogs: what the values of this rank hold on others, and those of others here. Values that a rank sends hold no
// memory there any more; but where they are read more slowly than they are made, they pile up with who reads them, who
// can do nothing about it. So each rank tells whose values they are, while they hold much, and that rank counts them as
// if they were its own (Pileup).
//
//   rank 0   source(t, x)                       makes one after the other, until much of it is with rank 1
//   rank 1   half(x, y), slowly                 tells: so much of yours is here
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/comm/communicator.hpp"
#include "runtime/memory/held.hpp"

namespace tessera::runtime {

class Backlogs {
 public:
  // Less than that is nothing; it is told again when it has changed by so much, and at most once in a millisecond.
  static constexpr std::int64_t kLeast = 8 << 20, kStep = 1 << 20;
  static constexpr Clock::duration kTells = std::chrono::milliseconds(1);
  // Smaller values are not looked at.
  static constexpr std::uint64_t kLarge = 16 << 10;

  Backlogs(Communicator& comm, std::int32_t ranks) : comm_(comm), others_(static_cast<std::size_t>(ranks)) {}
  // ---- communication thread
  void came(Rank from, const Parcel&);
  void on(Rank from, const Backlog& m);
  void turn(Clock::time_point now, bool busy);
  Clock::time_point next(Clock::time_point until) const { return any_ ? std::min(until, next_) : until; }
  // ---- any thread: what others hold of this rank's values, in all
  std::int64_t elsewhere() const { return elsewhere_.load(std::memory_order_relaxed); }
  // ... some of whom run fragments, which may read it.
  bool busy() const { return busy_.load(std::memory_order_relaxed) > 0; }

 private:
  struct Other {
    std::shared_ptr<HeldFrom> here;  // of its values
    std::int64_t told = 0, there = 0;
    bool told_busy = false, busy = false;
  };
  Communicator& comm_;
  std::vector<Other> others_;
  bool any_ = false;  // something of others is here, or they have been told so
  Clock::time_point next_{};
  std::atomic<std::int64_t> elsewhere_{0};
  std::atomic<int> busy_{0};
};

}  // namespace tessera::runtime
