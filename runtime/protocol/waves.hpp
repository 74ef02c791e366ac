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
// A rank that could go on by itself, but would rather not (work/lead.hpp), rests: it is not idle. If the run is quiet
// but for such ranks they are called. That is no more than a hint, so it need not be exact: they may go on at any time.
//
// Pure, as step.hpp. Rank 0's communication thread owns it.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::protocol {

struct Waves {
  struct Answer {
    bool idle = false;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    bool rests = false;
  };
  enum class Verdict {
    waiting,    // answers are missing
    busy,       // ask again later
    ask_again,  // quiet so far: the second wave may follow at once
    rests,      // quiet, but somebody only rests
    quiet,
  };

  explicit Waves(std::int32_t of) : ranks(of) {}

  // Begins a wave; the number goes into the questions.
  std::uint64_t begin() {
    answers = 0;
    now = {true, 0, 0, false};
    running = true;
    return ++number;
  }

  Verdict answer(std::uint64_t to, const Answer& a) {
    if (!running || to != number) return Verdict::waiting;
    now.idle = now.idle && (a.idle || a.rests);
    now.rests = now.rests || a.rests;
    now.sent += a.sent;
    now.received += a.received;
    if (++answers < ranks) return Verdict::waiting;
    running = false;
    const bool calm = now.idle && now.sent == now.received;
    const bool same =
        before.idle && before.rests == now.rests && before.sent == now.sent && before.received == now.received;
    before = now;
    before.idle = calm;
    if (!calm) return Verdict::busy;
    return !same ? Verdict::ask_again : now.rests ? Verdict::rests : Verdict::quiet;
  }

  std::int32_t ranks;
  std::uint64_t number = 0;
  std::int32_t answers = 0;
  bool running = false;
  Answer now;
  Answer before;  // idle: that wave was calm
};

}  // namespace tessera::protocol
