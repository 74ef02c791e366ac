#include "balancer/mirror/receiver.hpp"

#include <algorithm>
#include <utility>

namespace tessera::balancer {
namespace {

constexpr int kMostBackoffDoublings = 4;

}  // namespace

void Receiver::refused(Rank from, const MirrorRefusal& refusal) {
  auto* s = std::get_if<Searching>(&mode_);
  if (s == nullptr || refusal.number != number_ || !s->waiting || s->order.back() != from) return;
  table_.refused(from, s->idle);
  s->order.pop_back();
  s->waiting = false;
}

void Receiver::work_came(Rank from) {
  failures_ = 0;
  not_before_ = 0;
  const auto* s = std::get_if<Searching>(&mode_);
  if (s != nullptr && s->waiting && s->order.back() == from) mode_ = Resting{};
}

void Receiver::left(Rank rank) {
  auto* s = std::get_if<Searching>(&mode_);
  if (s == nullptr) return;
  if (s->waiting && s->order.back() == rank) s->waiting = false;
  std::erase(s->order, rank);
}

void Receiver::consider(Time now, const Need& need, Actions& out) {
  if (auto* s = std::get_if<Searching>(&mode_); s != nullptr && !s->waiting) {
    if (need.hungry) {
      mode_ = search(std::move(*s), now, need, out);
    } else {
      mode_ = Resting{};
    }
  }
  const bool asleep = std::holds_alternative<Asleep>(mode_);
  if (asleep && !need.hungry) {
    mode_ = Resting{};
  } else if (need.hungry && (std::holds_alternative<Resting>(mode_) || (asleep && news_))) {
    if (now < not_before_) {
      if (!timer_set_) out.emplace_back(SetTimer{kTimer, not_before_});
      timer_set_ = true;
      return;
    }
    if (timer_set_) out.emplace_back(CancelTimer{kTimer});
    timer_set_ = false;
    news_ = false;
    Searching s{table_.search_order(self_, now)};
    std::reverse(s.order.begin(), s.order.end());
    mode_ = search(std::move(s), now, need, out);
  }
}

Receiver::Mode Receiver::search(Searching s, Time now, const Need& need, Actions& out) {
  while (!s.order.empty() && !asks_empty_ && !table_.worth_asking(s.order.back(), now, need.worth, need.idle)) {
    s.order.pop_back();
  }
  if (!s.order.empty()) {
    if (!s.asked) ++number_;
    s.asked = s.waiting = true;
    s.idle = need.idle;
    out.emplace_back(Send{s.order.back(), MirrorRequest{number_, need.speed, need.tasks, need.idle, need.done}});
    return s;
  }
  if (s.asked) {  // in vain
    not_before_ = now + (backoff_ << std::min(failures_, kMostBackoffDoublings));
    ++failures_;
  }
  return Asleep{};
}

}  // namespace tessera::balancer
