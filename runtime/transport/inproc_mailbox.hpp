// Mailbox: where parcels to one rank of the in-process transport wait until they are due.
//
// One lane (FIFO) per sender; a parcel's due time is never before that of the one ahead of it, so a
// lane stays a queue in time as well. Any thread may put; one thread at a time takes (the rank's
// progress lock); wait and wake from any thread. The mutex guards everything and is never held while
// a sink runs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <random>
#include <vector>

#include "runtime/transport/control.hpp"
#include "runtime/transport/transport.hpp"

namespace tessera::runtime {

struct Mail {
  Rank from{0};
  Control control = Control::parcel;
  Clock::time_point due{};
  Parcel parcel;
};

class Mailbox {
 public:
  // With a seed, mail of different senders that is due is taken in random order; without, in the
  // order in which it was put. `timed`: there are delays, so look at the clock.
  Mailbox(std::int32_t ranks, std::uint64_t seed, bool timed);

  // put queues a mail; its `due` is pushed back to that of the same sender's latest.
  void put(Mail mail);
  // take appends all mail that is due to `out`.
  void take(std::vector<Mail>& out);
  // wait blocks until mail is due, wake() was called since the last wait, or `until` has passed.
  void wait(Clock::time_point until);
  // As wait, but a wake() is kept for the next wait.
  void wait_for_mail(Clock::time_point until);
  void wake();

 private:
  struct Lane {
    std::deque<Mail> mail;
    Clock::time_point latest{};
  };

  void sleep(Clock::time_point until, bool heed_wake);
  void notify();
  void take_due(std::vector<Mail>& out);

  std::mutex mutex_;
  std::condition_variable changed_;
  const bool shuffled_;
  const bool timed_;
  std::mt19937_64 random_;
  std::vector<Lane> lanes_;     // by sender; used when shuffled or timed
  std::vector<Mail> in_order_;  // else
  bool woken_ = false;
};

}  // namespace tessera::runtime
