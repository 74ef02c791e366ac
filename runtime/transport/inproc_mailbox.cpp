#include "runtime/transport/inproc_mailbox.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tessera::runtime {

Mailbox::Mailbox(std::int32_t ranks, std::uint64_t seed, bool timed)
    : shuffled_(seed != 0), timed_(timed), random_(seed), lanes_(static_cast<std::size_t>(ranks)) {}

void Mailbox::put(Mail mail) {
  {
    const std::lock_guard lock(mutex_);
    if (!shuffled_ && !timed_) {
      in_order_.push_back(std::move(mail));
    } else {
      Lane& lane = lanes_[static_cast<std::size_t>(index(mail.from))];
      lane.latest = mail.due = std::max(mail.due, lane.latest);
      lane.mail.push_back(std::move(mail));
    }
  }
  // Also when the mail is due later: the sleeper has to know its new, earlier time to get up.
  notify();
}

void Mailbox::notify() {
  if (simulation != nullptr) simulation->notify(this, true);
  changed_.notify_all();
}

void Mailbox::take(std::vector<Mail>& out) {
  const std::lock_guard lock(mutex_);
  if (!shuffled_ && !timed_) {
    if (out.empty()) {
      out.swap(in_order_);
    } else {
      std::move(in_order_.begin(), in_order_.end(), std::back_inserter(out));
      in_order_.clear();
    }
    return;
  }
  take_due(out);
}

void Mailbox::take_due(std::vector<Mail>& out) {
  const Clock::time_point now = timed_ ? Clock::now() : Clock::time_point::max();
  std::vector<Lane*> due;
  for (Lane& lane : lanes_) {
    if (!lane.mail.empty() && lane.mail.front().due <= now) due.push_back(&lane);
  }
  while (!due.empty()) {
    // Unseeded (a plain emulated link): the earliest; seeded: any.
    std::size_t pick = 0;
    if (shuffled_) {
      pick = random_() % due.size();
    } else {
      const auto earliest = std::min_element(
          due.begin(), due.end(), [](Lane* a, Lane* b) { return a->mail.front().due < b->mail.front().due; });
      pick = static_cast<std::size_t>(earliest - due.begin());
    }
    Lane& lane = *due[pick];
    out.push_back(std::move(lane.mail.front()));
    lane.mail.pop_front();
    if (lane.mail.empty() || lane.mail.front().due > now) {
      due[pick] = due.back();
      due.pop_back();
    }
  }
}

void Mailbox::wait(Clock::time_point until) { sleep(until, true); }
void Mailbox::wait_for_mail(Clock::time_point until) { sleep(until, false); }

void Mailbox::sleep(Clock::time_point until, bool heed_wake) {
  // Waiting for `max` overflows in some standard libraries; an hour is a legal spurious return.
  until = std::min(until, Clock::now() + std::chrono::hours(1));
  std::unique_lock lock(mutex_);
  while (true) {
    if (heed_wake && std::exchange(woken_, false)) return;
    if (!in_order_.empty()) return;
    Clock::time_point next = until;
    for (const Lane& lane : lanes_) {
      if (lane.mail.empty()) continue;
      if (!timed_) return;
      next = std::min(next, lane.mail.front().due);
    }
    if (next <= Clock::now()) return;
    if (simulation == nullptr) {
      changed_.wait_until(lock, next);
    } else {
      lock.unlock();
      simulation->wait(this, next);
      lock.lock();
    }
  }
}

void Mailbox::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  notify();
}

}  // namespace tessera::runtime
