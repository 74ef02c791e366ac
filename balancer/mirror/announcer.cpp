#include "balancer/mirror/announcer.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::balancer {

void Announcer::timer_fired(std::uint32_t timer) {
  if (timer == kPeriodTimer) {
    period_set_ = false;
    period_over_ = true;
  } else if (timer == kSoonTimer) {
    soon_set_ = false;
  }
}

// off tells whether the others' table misleads them: a quarter, or work that is worth a shipment.
bool Announcer::off(Time believed, const MirrorState& own, Time worth) const {
  const Time difference = std::abs(own.units - believed);
  return difference > std::max(worth, std::max(own.units, believed) / 4) ||
         std::abs(own.tasks - told_tasks_) > told_tasks_ / 10;
}

void Announcer::consider(Time now, const MirrorState& own, Time worth, const Rules& rules, std::int32_t ranks,
                         Actions& out) {
  const Time believed = table_.remaining(self_, now);
  const bool wrong = off(believed, own, worth);
  // Somebody may sleep although there is work for it here.
  const bool unknown = own.units >= worth && (believed < worth || unheard_);
  const bool grown = refused_at_ >= 0 && own.units > refused_at_ + std::max(worth, refused_at_ / 4);
  const bool soon = grown || unknown || (changed_ && (rules.always || wrong));
  if ((period_over_ && (wrong || rules.always)) || (soon && (last_ < 0 || now >= last_ + rules.gap))) {
    announce(now, own, ranks, out);
  } else if (soon && !soon_set_) {
    soon_set_ = true;
    out.emplace_back(SetTimer{kSoonTimer, last_ + rules.gap});
  }
  period_over_ = false;
  if (!soon) changed_ = false;
  const bool working = own.units > 0 || table_.remaining(self_, now) > 0;
  if (working && !period_set_) {
    period_set_ = true;
    out.emplace_back(SetTimer{kPeriodTimer, now + rules.period});
  }
}

void Announcer::announce(Time now, const MirrorState& own, std::int32_t ranks, Actions& out) {
  for (std::int32_t r = 0; r < ranks; ++r) {
    if (Rank{r} != self_ && table_.present(Rank{r})) out.emplace_back(Send{Rank{r}, own});
  }
  table_.announced(self_, own, now);
  last_ = now;
  changed_ = unheard_ = false;
  refused_at_ = -1;
  told_tasks_ = own.tasks;
}

}  // namespace tessera::balancer
