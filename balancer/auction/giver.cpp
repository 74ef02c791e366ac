#include "balancer/auction/giver.hpp"

#include <algorithm>

namespace tessera::balancer {

void Giver::asked(Time now, Rank from, const AuctionQuestion& question, Actions& out) {
  left(from);  // awake again, and no longer waiting for an older request
  const std::int64_t available = stock_.available(from);
  const bool gives = rules_.plain || can_give(from);
  if (!gives && available >= rules_.divisor) {
    out.push_back(Decide{"transfer costs more than it saves", self_, from, {}, stock_.load(), 0});
  }
  if (gives && available > 0) asked_[from] = now;
  out.push_back(Send{from, AuctionAnswer{question.number, gives ? available : 0}});
}

void Giver::requested(Time now, Rank from, const AuctionRequest& request) {
  asked_.erase(from);
  if (waiting_.empty()) deadline_ = now + collect();
  waiting_.push_back({from, request.number});
}

void Giver::unloaded(Rank from) {
  asked_.erase(from);
  if (std::find(sleepers_.begin(), sleepers_.end(), from) == sleepers_.end()) {
    sleepers_.push_back(from);
  }
}

void Giver::shipped(const Shipped& e, Actions& out) {
  const bool nothing = stock_.heard(e);
  const auto it = given_.find(e.ticket);
  if (it == given_.end()) return;
  if (nothing) out.push_back(Send{e.to, AuctionRefusal{it->second.number}});
  given_.erase(it);
}

void Giver::left(Rank rank) {
  asked_.erase(rank);
  std::erase(sleepers_, rank);
  std::erase_if(waiting_, [&](const Request& r) { return r.from == rank; });
}

bool Giver::others_about_to_ask(Time now) {
  std::erase_if(asked_, [&](const auto& a) { return a.second < now - collect(); });
  return !asked_.empty();
}

void Giver::serve(Time now, Actions& out) {
  if (waiting_.empty()) return;
  if (now < deadline_ && others_about_to_ask(now)) {
    if (!collect_timer_) out.push_back(SetTimer{kCollectTimer, deadline_});
    collect_timer_ = true;
    return;
  }
  if (collect_timer_) out.push_back(CancelTimer{kCollectTimer});
  collect_timer_ = false;
  std::vector<Request> requests;
  requests.swap(waiting_);
  // What stays here is one share of r+1 (with the divisor 2), and never nothing.
  const auto r = static_cast<std::int64_t>(requests.size());
  std::vector<std::int64_t> shares;
  for (std::int64_t i = 0; i < r; ++i) {
    const std::int64_t load = stock_.available(requests[static_cast<std::size_t>(i)].from);
    const std::int64_t given = static_cast<std::int64_t>(static_cast<long double>(load) * static_cast<long double>(r) /
                                                         static_cast<long double>(rules_.divisor + r - 1));
    shares.push_back(given / r + (i < given % r ? 1 : 0));
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Rank to = requests[i].from;
    std::vector<GroupCount> parts = stock_.pick(to, shares[i]);
    if (parts.empty()) {
      out.push_back(Send{to, AuctionRefusal{requests[i].number}});
      continue;
    }
    out.push_back(Decide{"given", self_, to, parts, stock_.load(), 0});
    given_[stock_.send(to, std::move(parts), out)] = requests[i];
  }
}

void Giver::wake(Time now, Actions& out) {
  if (wake_timer_ || sleepers_.empty() || stock_.surplus() < rules_.divisor) return;
  std::int64_t woken = 0;
  std::erase_if(sleepers_, [&](Rank r) {
    if (!can_give(r)) return false;
    if (!rules_.wake_all && woken == stock_.available(r) / rules_.divisor) {
      wake_timer_ = true;  // enough for now; later we see who came
      return false;
    }
    ++woken;
    out.push_back(Send{r, AuctionWake{}});
    return true;
  });
  if (wake_timer_) out.push_back(SetTimer{kWakeTimer, now + wake_gap()});
}

void Giver::refuse_all(Actions& out) {
  for (const Request& r : waiting_) out.push_back(Send{r.from, AuctionRefusal{r.number}});
  waiting_.clear();
}

}  // namespace tessera::balancer
