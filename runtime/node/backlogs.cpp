#include "runtime/node/backlogs.hpp"

#include <algorithm>
#include <utility>

namespace tessera::runtime {

void Backlogs::came(Rank from, const Parcel& p) {
  for (const ValueRef& v : p.values) {
    if (!v || v.get()->size < Outstanding::kLarge) continue;
    Other& other = others_[static_cast<std::size_t>(balancer::index(from))];
    if (other.here == nullptr) other.here = std::make_shared<HeldFrom>(held_);
    other.here->sample(v.get());
    other.came += static_cast<std::int64_t>(v.get()->size);
    any_ = true;
    if (other.came - other.told_came >= kStep) next_ = std::min(next_, looked_ + kTells);
  }
}

void Backlogs::on(Rank from, const Backlog& m, bool busy) {
  Other& other = others_[static_cast<std::size_t>(balancer::index(from))];
  comm_.outstanding.told(from, m.came, m.gone);
  busy_.store(busy_.load(std::memory_order_relaxed) + (m.busy ? 1 : 0) - (std::exchange(other.busy, m.busy) ? 1 : 0),
              std::memory_order_relaxed);
  if (m.answers) set_silent(other, false);
  if (m.asks) tell(balancer::index(from), busy, Why::asked);
}

void Backlogs::set_silent(Other& other, bool silent) {
  silent_.fetch_add((silent ? 1 : 0) - (std::exchange(other.silent, silent) ? 1 : 0), std::memory_order_relaxed);
}

void Backlogs::tell(std::int32_t to, bool busy, Why why) {
  Other& other = others_[static_cast<std::size_t>(to)];
  const std::int64_t gone = other.gone();
  other.told = looked_;
  other.told_busy = busy;
  any_ = any_ || busy;
  comm_.send(Rank{to}, Backlog{other.came - std::exchange(other.told_came, other.came),
                               gone - std::exchange(other.told_gone, gone), busy, why == Why::asks, why == Why::asked});
}

void Backlogs::ask(Clock::time_point now) {
  wanted_.store(false, std::memory_order_relaxed);
  asks_ = now + kAsks;
  const auto ranks = static_cast<std::int32_t>(others_.size());
  for (std::int32_t k = 1; k < std::min(ranks, kAsked); ++k) {
    const std::int32_t to = (self_ + k) % ranks;
    Other& other = others_[static_cast<std::size_t>(to)];
    set_silent(other, other.busy || comm_.outstanding.with(Rank{to}) > 0);
    tell(to, other.told_busy, Why::asks);
  }
}

bool Backlogs::is_due(const Other& other, Clock::time_point now, bool busy) {
  const std::int64_t gone = other.gone(), came = other.came - other.told_came, went = gone - other.told_gone;
  const bool much = other.came - gone >= Outstanding::kLeast;
  return came >= kStep || went >= kStep || (busy ? much && !other.told_busy : other.told_busy) ||
         (came + went > 0 && now - other.told >= kTellsLittle);
}

void Backlogs::turn(Clock::time_point now, bool busy) {
  if (wanted_.load(std::memory_order_relaxed) && now >= asks_) ask(now);
  if (!any_ || now < next_) return;
  looked_ = now;
  any_ = false;
  bool much = false;
  for (std::size_t r = 0; r < others_.size(); ++r) {
    Other& other = others_[r];
    if (is_due(other, now, busy))
      tell(static_cast<std::int32_t>(r), busy && (other.told_busy || other.came - other.gone() >= Outstanding::kLeast),
           Why::changed);
    any_ = any_ || other.came > other.told_gone || other.told_busy;
    // By what has been told so far, which may be all that keeps that rank waiting.
    much = much || other.told_busy || other.told_came - other.told_gone >= Outstanding::kLeast / 2;
  }
  next_ = now + (much ? kTells : kTellsLittle);
}

}  // namespace tessera::runtime
