// Whom a thief asks for work.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "balancer/random.hpp"
#include "balancer/types.hpp"

namespace tessera::balancer {

// Victims: the others as a thief sees them. Who refused remembers the thief and wakes it, so it is not asked again
// meanwhile; and no more remember it at once than `attempts`. First comes who has woken it, then who has given most,
// then one at random, of the same host if there is one.
//
// Of the others only those are kept with which there was something: a rank takes as much room among thousands as among
// ten.
class Victims {
 public:
  // How a thief is remembered: a victim that refused while something ran here would have refused less readily had
  // nothing run, so an idle thief may ask it once more.
  enum class Known : std::uint8_t { no, as_busy, as_idle };

  // `mates`: ranks of this host, itself too, where hosts are known.
  Victims(Rank self, std::int32_t ranks, std::vector<Rank> mates, std::int64_t attempts, Random random)
      : self_(self), ranks_(ranks), mates_(std::move(mates)), attempts_(attempts), random_(random) {}

  bool present(Rank r) const { return !away_.contains(r); }
  void leaves(Rank r) {
    away_.insert(r);
    remembered_at(r, Known::no);
  }
  void joins(Rank r) { away_.erase(r); }
  void wakes(Rank r) {
    remembered_at(r, Known::no);
    woken_by_ = r;
  }
  void gave(Rank r, std::int64_t fragments) { given_[r] += fragments; }
  void remembered_at(Rank r, Known how) { how == Known::no ? void(known_at_.erase(r)) : void(known_at_[r] = how); }
  std::int64_t remembered() const { return std::ssize(known_at_); }
  std::int32_t on_this_host() const { return std::max(1, static_cast<std::int32_t>(mates_.size())); }

  // The next one to ask, by an idle thief or one that runs something. Nothing: it is remembered by enough.
  std::optional<Rank> choose(bool idle) {
    const std::optional<Rank> woken_by = std::exchange(woken_by_, std::nullopt);
    if (woken_by && may_ask(*woken_by, idle)) return woken_by;
    const auto most = std::max_element(given_.begin(), given_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != given_.end() && may_ask(most->first, idle)) return most->first;
    // A random start, then the next that may be asked, those of the same host first: every rank is reached in turn.
    const auto start = static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(ranks_)));
    if (const std::optional<Rank> near = next_of(mates_, start, idle, [](Rank r) { return r; })) return near;
    // Who is remembered by enough asks only where it is: with thousands of ranks looking at all is most of the work.
    if (remembered() >= attempts_) return next_of(known_at_, start, idle, [](const auto& k) { return k.first; });
    for (std::int32_t i = 0; i < ranks_; ++i) {
      const Rank v{(start + i) % ranks_};
      if (may_ask(v, idle)) return v;
    }
    return std::nullopt;
  }

 private:
  bool may_ask(Rank v, bool idle) const {
    if (v == self_ || !present(v)) return false;
    const auto at = known_at_.find(v);
    const Known k = at == known_at_.end() ? Known::no : at->second;
    if (k == Known::as_busy) return idle;
    return k == Known::no && remembered() < attempts_;
  }
  // The first of them from `start` on, in a circle, that may be asked.
  template <class Ranks, class Of>
  std::optional<Rank> next_of(const Ranks& ranks, std::int32_t start, bool idle, Of rank_of) const {
    std::optional<Rank> next;
    std::int32_t least = ranks_;
    for (const auto& r : ranks) {
      const std::int32_t away = (index(rank_of(r)) - start + ranks_) % ranks_;
      if (away < least && may_ask(rank_of(r), idle)) next = rank_of(r), least = away;
    }
    return next;
  }

  const Rank self_;
  const std::int32_t ranks_;
  const std::vector<Rank> mates_;
  const std::int64_t attempts_;
  Random random_;
  std::map<Rank, Known> known_at_;  // none is `no`
  std::set<Rank> away_;
  std::map<Rank, std::int64_t> given_;  // by each rank: fragments
  std::optional<Rank> woken_by_;
};

}  // namespace tessera::balancer
