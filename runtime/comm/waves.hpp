// Waves: how rank 0 learns that nothing moves any more in the whole run.
//
// A wave asks every rank whether it is idle and how many messages with work or data it has sent and
// received since the start. The run is quiet when two successive waves find all ranks idle, the sums
// of sent and received equal, and the same sums both times (Mattern's four counters). Why that is
// exact: take the end of the first wave. Had a message been under way or a rank active then, some
// rank would have received or sent after its first answer, and the sums of the second wave would
// differ from the first or from each other. It is never decided by a timeout; timers only pace how
// often rank 0 asks.
//
// A pure machine: no transport, no clock. Rank 0's communication thread owns it.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::runtime {

class Waves {
 public:
  struct Answer {
    bool idle = false;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };
  enum class Verdict {
    waiting,    // answers are missing
    busy,       // ask again later
    ask_again,  // quiet so far: the second wave may follow at once
    quiet,
  };

  explicit Waves(std::int32_t ranks) : ranks_(ranks) {}

  // Begins a wave; the number goes into the questions.
  std::uint64_t begin() {
    answers_ = 0;
    now_ = {true, 0, 0};
    running_ = true;
    return ++number_;
  }
  bool running() const { return running_; }

  Verdict answer(std::uint64_t number, const Answer& a) {
    if (!running_ || number != number_) return Verdict::waiting;
    now_.idle = now_.idle && a.idle;
    now_.sent += a.sent;
    now_.received += a.received;
    if (++answers_ < ranks_) return Verdict::waiting;
    running_ = false;
    const bool calm = now_.idle && now_.sent == now_.received;
    const bool same = before_.idle && before_.sent == now_.sent && before_.received == now_.received;
    before_ = now_;
    before_.idle = calm;
    if (!calm) return Verdict::busy;
    return same ? Verdict::quiet : Verdict::ask_again;
  }

 private:
  std::int32_t ranks_;
  std::uint64_t number_ = 0;
  std::int32_t answers_ = 0;
  bool running_ = false;
  Answer now_;
  Answer before_;  // idle: that wave was calm
};

}  // namespace tessera::runtime
