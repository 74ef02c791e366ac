// Where the fragments of a group go that become ready on a rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "balancer/types.hpp"

namespace tessera::balancer {

// Flow counts by periods: one begins when fragments become ready where there were none, as in each step of an
// iteration. What went to a rank in one period is due to it in the next, of as many as become ready then.
class Flow {
 public:
  struct Due {
    Rank to;
    std::int64_t count;
  };

  void finished(std::int64_t n) { finished_ += n; }
  void arrived(std::int64_t n) { arrived_ += n; }
  void left(Rank to, std::int64_t n) {
    left_ += n;
    went_[to] += n;
  }
  // promised counts what is about to leave; `n` below 0 takes that back.
  void promised(Rank to, std::int64_t n) { went_[to] += n; }

  // told: so many are ready now.
  void told(std::int64_t ready) {
    if (dry_ && ready > 0 && ever_ > before_this_) {
      of_ = ever_ - std::exchange(before_this_, ever_);
      before_ = std::exchange(went_, {});
    }
    dry_ = ready == 0;
    ever_ = std::max(ever_, ready + finished_ + left_ - arrived_);
  }

  // due is told once for what has become ready since the last call. This rank keeps `keeps` at least, and nobody gets
  // more than `share(rank)` of all.
  template <class Share>
  std::vector<Due> due(std::int64_t keeps, Share share) {
    std::vector<Due> all;
    if (before_.empty() || std::exchange(asked_, ever_) == ever_) return all;
    const std::int64_t now = ever_ - before_this_;
    std::int64_t of = keeps;
    for (const auto& [to, n] : before_) of += n;
    of = std::max(of, of_);
    for (const auto& [to, n] : before_) {
      const std::int64_t count = std::min(n * now / of, share(to, now)) - went_[to];
      if (count > 0) all.push_back({to, count});
    }
    return all;
  }

 private:
  std::int64_t finished_ = 0, left_ = 0, arrived_ = 0;
  std::int64_t ever_ = 0;         // became ready here
  std::int64_t before_this_ = 0;  // of these, before this period
  std::int64_t of_ = 0;           // of these, in the period before
  std::int64_t asked_ = 0;
  bool dry_ = true;
  std::map<Rank, std::int64_t> went_, before_;  // in this period, and in the one before
};

}  // namespace tessera::balancer
