// What a worker holds of shares, and when a share is done.
#pragma once

#include <algorithm>
#include <vector>

#include "balancer/event.hpp"
#include "balancer/policy.hpp"

namespace tessera::balancer {

// ShareTracker follows the shares that a rank was given (or kept), oldest first. Units count as run
// in the order in which they came. A share of a range is counted by the first group of its body.
class ShareTracker {
 public:
  struct Share {
    Rank from;
    std::uint64_t ticket;
    Group group;
    std::int64_t units;
    std::int64_t left;
  };
  using Shares = std::vector<Share>;

  explicit ShareTracker(const std::vector<GroupInfo>& groups) : groups_(groups) {}

  void add(Rank from, std::uint64_t ticket, Group group, std::int64_t units) {
    if (units > 0) shares_.push_back({from, ticket, group, units, units});
  }
  // Takes out and returns the shares that these fragments complete.
  Shares finished(const std::vector<GroupDone>& fragments) {
    for (const GroupDone& d : fragments) {
      std::int64_t count = d.count;
      for (Share& s : shares_) {
        if (counted_by(s.group) == d.group) count -= run(s, count);
      }
    }
    return take([](const Share& s) { return s.left == 0; });
  }
  // Nothing runs here, and `ready` tells how many of a group are ready. The host does not count
  // every fragment that finishes (those of a few microseconds are sampled); this ends their shares.
  template <class Ready>
  Shares idle(Ready ready) {
    return take([&](const Share& s) { return ready(s.group) == 0 && ready(counted_by(s.group)) == 0; });
  }
  // `n` units that `master` gave were passed on to others, the newest, as the oldest run first.
  Shares passed_on(Rank master, Group group, std::int64_t n) {
    for (auto s = shares_.rbegin(); s != shares_.rend(); ++s) {
      if (s->from == master && s->group == group) n -= run(*s, n);
    }
    return take([](const Share& s) { return s.left == 0; });
  }
  // Units of the group that `master` gave and that are not done.
  std::int64_t held(Rank master, Group group) const {
    std::int64_t n = 0;
    for (const Share& s : shares_) n += s.from == master && s.group == group ? s.left : 0;
    return n;
  }
  bool empty() const { return shares_.empty(); }

 private:
  static std::int64_t run(Share& s, std::int64_t count) {
    const std::int64_t n = std::min(count, s.left);
    s.left -= n;
    return n;
  }
  template <class Done>
  Shares take(Done is_done) {
    Shares done;
    std::erase_if(shares_, [&](const Share& s) {
      if (is_done(s)) done.push_back(s);
      return is_done(s);
    });
    return done;
  }
  Group counted_by(Group g) const {
    if (index(g) >= groups_.size()) return g;
    const GroupInfo& info = groups_[index(g)];
    return info.range && !info.body.empty() ? info.body.front() : g;
  }

  const std::vector<GroupInfo>& groups_;
  Shares shares_;
};

}  // namespace tessera::balancer
