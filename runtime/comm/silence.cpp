#include "runtime/comm/silence.hpp"

#include <algorithm>

namespace tessera::runtime {
namespace {

// Periods that each rank waits for the one before it to say that rank 0 is silent: what that says comes before them.
// From the tenth on all wait alike.
constexpr std::int64_t kPrecedence = 2;
constexpr std::int32_t kLastPrecedence = 10;

}  // namespace

Silence::Silence(Rank self, std::int32_t ranks, const Settings& settings, Time now)
    : self_(balancer::index(self)),
      settings_(settings),
      last_(now),
      next_(now + settings.period),
      peers_(static_cast<std::size_t>(ranks)) {}

Silence::Time Silence::patience() const {
  return leads() ? 0 : kPrecedence * settings_.period * (std::min(self_, kLastPrecedence) - 1);
}

Silence::Actions Silence::tick(Time now) {
  own_ += std::min(now - last_, 2 * settings_.period);
  last_ = now;
  next_ = now + settings_.period;
  Actions actions;
  Action say{Action::What::say, {}, BeatKind::ask, 0}, end{Action::What::end, {}, BeatKind::ask, 0};
  const std::int32_t first = leads() ? 1 : 0;
  const std::int32_t last = leads() ? static_cast<std::int32_t>(peers_.size()) - 1 : 0;
  for (std::int32_t r = first; r <= last; ++r) {
    Peer& peer = peers_[static_cast<std::size_t>(r)];
    const Time silent = own_ - peer.heard;
    if (settings_.end_after > 0 && silent >= settings_.end_after + patience()) {
      end.ranks.push_back(Rank{r});
      end.silent = std::max(end.silent, silent);
    }
    if (peer.said || peer.told || silent < settings_.say_after + patience()) continue;
    peer.said = true;
    say.ranks.push_back(Rank{r});
    say.silent = std::max(say.silent, silent);
  }
  if (!end.ranks.empty()) return {end};
  std::vector<Rank> others;
  for (std::int32_t r = 1; r < static_cast<std::int32_t>(peers_.size()); ++r) {
    if (r != self_) others.push_back(Rank{r});
  }
  if (!say.ranks.empty()) actions.push_back(say);
  if (others.empty()) return actions;
  if (leads()) actions.push_back({Action::What::send, others, BeatKind::ask, 0});
  if (!leads() && !say.ranks.empty()) actions.push_back({Action::What::send, others, BeatKind::said, 0});
  return actions;
}

Silence::Actions Silence::heard(Rank from, BeatKind kind) {
  if (kind == BeatKind::said) {
    peers_[0].told = true;
    return {};
  }
  Peer& peer = peers_[static_cast<std::size_t>(balancer::index(from))];
  const Time silent = own_ - peer.heard;
  peer.heard = own_;
  peer.told = false;
  Actions actions;
  if (peer.said) actions.push_back({Action::What::again, {from}, BeatKind::ask, silent});
  peer.said = false;
  if (kind == BeatKind::ask) actions.push_back({Action::What::send, {from}, BeatKind::answer, 0});
  return actions;
}

}  // namespace tessera::runtime
