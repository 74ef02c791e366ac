// Weights of groups, learned from what was completed: mean and variance in O(1) memory per group.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "balancer/policy.hpp"

namespace tessera::balancer {

// Completions that a policy's mean weight of a group remembers, where no parameter says it.
inline constexpr double kWeightMemory = 1000;

// Moments is a running mean and variance (Welford's update, in batches). With `memory` > 0 old
// samples fade: the count never exceeds it, so the mean follows a program whose weights change.
// memory 0 is the arithmetic mean over everything.
struct Moments {
  double count = 0;
  double mean = 0;  // ns
  double m2 = 0;    // sum of squared deviations, ns^2

  double variance() const { return count > 1 ? m2 / count : 0; }

  // Adds a batch of n samples given by their sum and their sum of squares.
  void add(double n, double sum, double sum_squares, double memory) {
    if (n <= 0) return;
    const double batch_mean = sum / n;
    const double batch_m2 = std::max(0.0, sum_squares - sum * batch_mean);
    const double delta = batch_mean - mean;
    const double total = count + n;
    m2 += batch_m2 + delta * delta * count * n / total;
    mean += delta * n / total;
    count = total;
    if (memory > 0 && count > memory) {
      m2 *= memory / count;
      count = memory;
    }
  }
};

// Weights answers "how long does a fragment of this group take?" in this order: the mean of what
// completed (a loaded profile counts as completed before), else the mean of everything completed,
// else a neutral constant. A range group weighs the sum of the groups of its body per iteration.
class Weights {
 public:
  static constexpr Time kNeutral = 1'000'000;  // 1 ms: worth a message, not worth megabytes

  Weights() = default;
  // `light`: what weighs less costs more to move than to run.
  Weights(const std::vector<GroupInfo>& groups, double memory, Time light = 0) : memory_(memory), light_(light) {
    groups_.resize(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const GroupInfo& info = groups[g];
      if (info.range) groups_[g].body = info.body;
      if (info.range) groups_[g].below = info.below;
      groups_[g].bulk = info.bulk;
      if (info.profile_count > 0) {
        // A prior, not a verdict: this run's own measurements outweigh it soon.
        const double n = std::min<double>(static_cast<double>(info.profile_count), 8);
        Moments& m = groups_[g].moments;
        m.count = n;
        m.mean = static_cast<double>(info.profile_weight);
        m.m2 = info.profile_variance * n;
      }
    }
  }

  void completed(const GroupDone& done) {
    Entry& e = entry(done.group);
    const auto n = static_cast<double>(done.count);
    e.moments.add(n, static_cast<double>(done.weight), done.weight_squared, memory_);
    if (e.body.empty()) {
      all_.add(n, static_cast<double>(done.weight), done.weight_squared, memory_);
    }
  }

  // known: something completed, or a profile said; for a range, all groups of its body. One that has none weighs what
  // may come of an iteration. Nobody knows how often that does, nor what it reads: it is known only that it is light.
  bool known(Group g) const {
    if (index(g) >= groups_.size()) return false;
    const Entry& e = groups_[index(g)];
    const auto measured = [this](Group b) { return moments(b).count > 0; };
    if (!e.body.empty()) return std::all_of(e.body.begin(), e.body.end(), measured);
    return e.moments.count > 0 || (std::any_of(e.below.begin(), e.below.end(), measured) && weight(g) < light_);
  }

  Time weight(Group g) const {
    if (index(g) >= groups_.size()) return fallback();
    const Entry& e = groups_[index(g)];
    double sum = 0;
    for (const Group b : e.body) {
      sum += static_cast<double>(index(b) < groups_.size() ? of(groups_[index(b)]) : fallback());
    }
    // Of what comes perhaps, or often, as if it came once.
    for (const Group b : e.below) sum += moments(b).mean;
    return e.body.empty() && sum <= 0 ? of(e) : std::max<Time>(1, static_cast<Time>(sum));
  }

  // cautious is the weight that a decision to move may count on: so much less than the mean as that may be wrong by, of
  // so many that vary as these do (two standard errors), and after one or two completions, which may have been slow for
  // reasons of their own (the first use of fresh memory above all). At least half the mean in the long run.
  Time cautious(Group g) const {
    Time sum = 0;
    for (const Group b : body(g)) sum += cautious_of(moments(b), weight(b));
    if (index(g) < groups_.size()) {
      for (const Group b : groups_[index(g)].below) sum += cautious_of(moments(b), static_cast<Time>(moments(b).mean));
    }
    return body(g).empty() && sum == 0 ? cautious_of(moments(g), weight(g)) : sum;
  }

  // ship_cost is what a decision to move a fragment counts of `of_one`, Setup::ship_cost: nothing while its weight is a
  // guess, one goes then to find out, nor in bulk.
  Time ship_cost(Group g, Time of_one) const { return known(g) && !bulk(g) ? of_one : 0; }

  bool bulk(Group g) const { return index(g) < groups_.size() && groups_[index(g)].bulk; }
  // So many travel each by itself: what is made in bulk is one.
  std::int64_t travelling(const std::vector<GroupCount>& fragments) const {
    std::int64_t n = 0;
    for (const GroupCount& f : fragments) n += bulk(f.group) ? 1 : f.count;
    return n;
  }

  bool any_known() const { return all_.count > 0; }
  const std::vector<Group>& body(Group g) const {
    static const std::vector<Group> none;
    return index(g) < groups_.size() ? groups_[index(g)].body : none;
  }
  Moments moments(Group g) const { return index(g) < groups_.size() ? groups_[index(g)].moments : Moments{}; }
  // The mean over everything completed, else the neutral constant.
  Time fallback() const { return all_.count > 0 ? std::max<Time>(1, static_cast<Time>(all_.mean)) : kNeutral; }

 private:
  struct Entry {
    Moments moments;
    std::vector<Group> body, below;
    bool bulk = false;
  };
  Time of(const Entry& e) const {
    return e.moments.count > 0 ? std::max<Time>(1, static_cast<Time>(e.moments.mean)) : fallback();
  }
  static Time cautious_of(const Moments& m, Time weight) {
    const auto mean = static_cast<double>(weight);
    const double low =
        std::max(mean - 2 * std::sqrt(m.variance() / std::max<double>(1, static_cast<double>(m.count))), mean / 2);
    return static_cast<Time>(low * m.count / (m.count + 1));
  }
  Entry& entry(Group g) {
    if (index(g) >= groups_.size()) groups_.resize(index(g) + 1);
    return groups_[index(g)];
  }

  double memory_ = 0;
  Time light_ = 0;
  Moments all_;
  std::vector<Entry> groups_;
};

}  // namespace tessera::balancer
