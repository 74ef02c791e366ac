#include "balancer/auction/seeker.hpp"

#include <algorithm>
#include <utility>

namespace tessera::balancer {
namespace {

constexpr int kMostDoublings = 4;

}  // namespace

void Seeker::set_neighbours(std::vector<Rank> neighbours) {
  neighbours_ = std::move(neighbours);
  std::erase_if(told_, [&](Rank r) { return !std::binary_search(neighbours_.begin(), neighbours_.end(), r); });
}

void Seeker::answered(Rank from, const AuctionAnswer& answer) {
  auto* asking = std::get_if<Asking>(&mode_);
  if (asking == nullptr || answer.number != number_ || asking->awaited.erase(from) == 0) return;
  if (answer.load > 0) asking->answers.push_back({from, answer.load});
}

void Seeker::refused(Rank from, const AuctionRefusal& refusal) {
  auto* r = std::get_if<Requesting>(&mode_);
  if (r == nullptr || refusal.number != number_ || !r->waiting) return;
  if (r->candidates.back().rank != from) return;
  r->candidates.pop_back();
  r->waiting = false;
}

void Seeker::work_came(Rank from) {
  failures_ = 0;
  not_before_ = 0;
  const auto* r = std::get_if<Requesting>(&mode_);
  if (r != nullptr && r->waiting && r->candidates.back().rank == from) mode_ = Resting{};
}

// What it still owed is taken as zero, or as a refusal.
void Seeker::left(Rank rank) {
  if (auto* asking = std::get_if<Asking>(&mode_)) {
    asking->awaited.erase(rank);
    std::erase_if(asking->answers, [&](const Answer& a) { return a.rank == rank; });
  } else if (auto* r = std::get_if<Requesting>(&mode_)) {
    if (r->waiting && r->candidates.back().rank == rank) r->waiting = false;
    std::erase_if(r->candidates, [&](const Answer& a) { return a.rank == rank; });
  }
}

void Seeker::consider(Time now, bool hungry, Time latency, Actions& out) {
  auction_ = 4 * latency;
  if (const auto* asking = std::get_if<Asking>(&mode_); asking != nullptr && asking->awaited.empty()) {
    mode_ = close(*asking);
  }
  if (auto* r = std::get_if<Requesting>(&mode_); r != nullptr && !r->waiting) {
    if (hungry) {
      mode_ = request(std::move(*r), now, out);
    } else {
      mode_ = Resting{};  // work came from elsewhere
    }
  }
  if (std::holds_alternative<Asleep>(mode_) && !hungry) mode_ = Resting{};
  const bool could_ask = std::holds_alternative<Resting>(mode_) || std::holds_alternative<Asleep>(mode_);
  if (!could_ask || !hungry) return;
  if (everyone_knows()) {
    mode_ = Asleep{};
  } else if (now >= not_before_) {
    mode_ = open(out);
  } else if (!timer_set_) {
    timer_set_ = true;
    out.emplace_back(SetTimer{kTimer, not_before_});
  }
}

Seeker::Mode Seeker::open(Actions& out) {
  if (timer_set_) out.emplace_back(CancelTimer{kTimer});
  timer_set_ = false;
  told_.clear();  // a question ends what its receiver remembers
  ++number_;
  for (const Rank r : neighbours_) out.emplace_back(Send{r, AuctionQuestion{number_}});
  return Asking{{neighbours_.begin(), neighbours_.end()}, {}};
}

// The largest load first; of equal ones the lowest rank.
Seeker::Mode Seeker::close(const Asking& asking) const {
  Requesting r{asking.answers};
  std::sort(r.candidates.begin(), r.candidates.end(), [](const Answer& a, const Answer& b) {
    return a.load != b.load ? a.load < b.load : index(a.rank) > index(b.rank);
  });
  return r;
}

Seeker::Mode Seeker::request(Requesting r, Time now, Actions& out) {
  if (r.candidates.empty() || r.tried == rules_.attempts) return fail(now, out);
  ++r.tried;
  r.waiting = true;
  out.emplace_back(Send{r.candidates.back().rank, AuctionRequest{number_}});
  return r;
}

Seeker::Mode Seeker::fail(Time now, Actions& out) {
  for (const Rank r : neighbours_) out.emplace_back(Send{r, AuctionUnloaded{}});
  told_ = {neighbours_.begin(), neighbours_.end()};
  const Time backoff = rules_.backoff >= 0 ? rules_.backoff : auction_;
  not_before_ = now + (backoff << std::min(failures_, kMostDoublings));
  ++failures_;
  return Asleep{};
}

}  // namespace tessera::balancer
