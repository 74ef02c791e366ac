// Backlogs: what large values of others do here, told to them: so many bytes have come, so many have gone again, and
// whether fragments run here, which may read the rest. Who sends them counts what is left as its own
// (comm/outstanding.hpp), and waits where that is much (work/pileup.hpp).
//
//   rank 0   source(t, x)                       makes one after the other, until much of it is with rank 1
//   rank 1   half(x, y), slowly                 tells: so much has come, so much has gone
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/comm/communicator.hpp"
#include "runtime/memory/held.hpp"

namespace tessera::runtime {

class Backlogs {
 public:
  // It is told again when so much more has come or gone; what is less, later. At most once in a millisecond.
  static constexpr std::int64_t kStep = 1 << 20;
  static constexpr Clock::duration kTells = std::chrono::milliseconds(1), kTellsLittle = std::chrono::milliseconds(20);
  // Who waits asks no more than so many others, and so often.
  static constexpr std::int32_t kAsked = 32;
  static constexpr Clock::duration kAsks = std::chrono::milliseconds(4);

  Backlogs(Communicator& comm, std::shared_ptr<Held> held, Rank self, std::int32_t ranks)
      : comm_(comm), held_(std::move(held)), self_(balancer::index(self)), others_(static_cast<std::size_t>(ranks)) {}
  // ---- communication thread
  void came(Rank from, const Parcel&);
  void on(Rank from, const Backlog& m, bool busy);
  void turn(Clock::time_point now, bool busy);
  Clock::time_point next(Clock::time_point until) const {
    if (any_) until = std::min(until, next_);
    return wanted_.load(std::memory_order_relaxed) ? std::min(until, asks_) : until;
  }
  // ---- any thread
  // Somebody else runs fragments, as was told last: they may read values of this rank.
  bool busy() const { return busy_.load(std::memory_order_relaxed) > 0; }
  // Somebody who has much of this rank, or was busy when it last said so, does not answer: fragments may keep it from
  // that.
  bool silent() const { return silent_.load(std::memory_order_relaxed) > 0; }
  // Somebody waits for others to read values, and wants to know whether they are busy.
  void want() { wanted_.store(true, std::memory_order_relaxed); }

 private:
  struct Other {
    std::shared_ptr<HeldFrom> here;  // of its values
    std::int64_t gone() const { return here == nullptr ? 0 : here->gone(); }
    std::int64_t came = 0, told_came = 0, told_gone = 0;
    Clock::time_point told{};
    bool told_busy = false, busy = false, silent = false;
  };
  static bool is_due(const Other& other, Clock::time_point now, bool busy);
  enum class Why { changed, asked, asks };
  void tell(std::int32_t to, bool busy, Why);
  void set_silent(Other&, bool);
  void ask(Clock::time_point now);
  Communicator& comm_;
  const std::shared_ptr<Held> held_;  // of this rank
  const std::int32_t self_;
  std::vector<Other> others_;
  bool any_ = false;  // something is yet to be told
  Clock::time_point looked_{}, next_{}, asks_{};
  std::atomic<bool> wanted_{false};
  std::atomic<int> busy_{0}, silent_{0};
};

}  // namespace tessera::runtime
