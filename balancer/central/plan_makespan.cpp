// Beyond the source: minimise the largest finishing time.
//
// 1. fill: the fluid level T is where all would finish if fragments were water. The latest worker
//    gives to the earliest, heaviest first, while the giver stays above T and the receiver below.
// 2. refine: fragments are no water. While one move of some fragments from the latest worker to the
//    earliest makes the later of the two finish sooner, make the best such move.
// 3. Where the result is more than 2 % above the lower bound, dealing in blocks is tried
//    (plan_deal.cpp; it moves more), where it is not provably within LPT's bound of the optimum,
//    LPT from scratch (plan_lpt.cpp; it moves most), and the source's plan always; the earliest
//    finish wins.
#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

#include "balancer/central/plan_lpt.hpp"
#include "balancer/central/plan_queue.hpp"

namespace tessera::balancer {
namespace {

class Planner {
 public:
  Planner(const std::vector<Load>& loads, const std::vector<double>& finish, Queues& queues,
          const PlanCosts& costs)
      : loads_(loads), costs_(costs), queues_(queues), finish_(finish) {}

  Plan plan(double level) {
    fill(level);
    refine(level);
    // One move per pair of workers, one count per group.
    std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
      return std::tie(a.from, a.to, a.group) < std::tie(b.from, b.to, b.group);
    });
    Plan result;
    for (const Step& s : steps_) {
      if (result.empty() || result.back().from != s.from || result.back().to != s.to) {
        result.push_back({s.from, s.to, {}});
      }
      std::vector<GroupCount>& fragments = result.back().fragments;
      if (fragments.empty() || fragments.back().group != s.group) fragments.push_back({s.group, 0});
      fragments.back().count += s.count;
    }
    return result;
  }

 private:
  struct Step {
    std::size_t from, to;
    Group group;
    std::int64_t count;
  };
  using Place = std::pair<double, std::size_t>;  // finish, worker

  double gain_needed(double finish) const {
    return std::max(static_cast<double>(costs_.min_gain), finish * 1e-9);
  }
  // When `to` could start a fragment with such inputs from `from`, at the end of its own queue.
  double start(std::size_t from, std::size_t to, std::int64_t bytes) const {
    if (!costs_.transfer) return finish_[to];
    return std::max(finish_[to], static_cast<double>(costs_.transfer(from, to, bytes)));
  }
  void move(std::size_t from, std::size_t to, Queues::Item& item, std::int64_t n) {
    const double work = static_cast<double>(n) * item.weight;
    finish_[to] = start(from, to, item.bytes()) + work / loads_[to].capacity;
    finish_[from] -= work / loads_[from].capacity;
    item.left -= n;
    steps_.push_back({from, to, item.group(), n});
  }

  // Of groups that weigh about the same, as far as one can measure, the one with most fragments left goes first: what
  // they make may be needed together. Null: the heaviest has.
  static Queues::Item* lead_of(std::span<Queues::Item> queue) {
    constexpr double kAlike = 1.25;
    Queues::Item* lead = nullptr;
    for (std::size_t k = 1; k < queue.size() && queue[k].weight * kAlike >= queue[0].weight; ++k) {
      if (queue[k].left > (lead == nullptr ? queue[0].left : lead->left)) lead = &queue[k];
    }
    return lead;
  }

  void fill(double level) {
    std::vector<Place> late, early;
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      if (finish_[i] > level || !loads_[i].receives) {
        if (finish_[i] > 0) late.emplace_back(finish_[i], i);
      } else {
        early.emplace_back(finish_[i], i);
      }
    }
    std::priority_queue<Place> givers({}, std::move(late));
    std::priority_queue<Place, std::vector<Place>, std::greater<>> receivers({}, std::move(early));
    while (!givers.empty() && !receivers.empty()) {
      const std::size_t from = givers.top().second;
      const std::size_t to = receivers.top().second;
      const double floor = loads_[from].receives ? level : 0;  // who leaves gives everything
      double excess = 0, room = 0;
      const auto queue = queues_.of(from);
      Queues::Item* lead = lead_of(queue);
      for (std::size_t k = 0; k <= queue.size(); ++k) {
        if (k == 0 && lead == nullptr) continue;
        Queues::Item& item = k == 0 ? *lead : queue[k - 1];
        excess = (finish_[from] - floor) * loads_[from].capacity;
        room = (level - finish_[to]) * loads_[to].capacity;
        // A millionth of slack: five of 8 are to fit into 40 whatever the rounding.
        const double slack = 1e-6 * item.weight;
        if (std::min(excess, room) + slack < queue.back().weight) break;  // the lightest
        if (item.left <= 0 || std::min(excess, room) + slack < item.weight) continue;
        const double begin = start(from, to, item.bytes());
        room = (level - begin) * loads_[to].capacity;
        const auto n = std::min(
            item.left, static_cast<std::int64_t>((std::min(excess, room) + slack) / item.weight));
        if (n <= 0) continue;
        const double work = static_cast<double>(n) * item.weight;
        const double after = std::max(finish_[from] - work / loads_[from].capacity,
                                      begin + work / loads_[to].capacity);
        if (loads_[from].receives && finish_[from] - after <= gain_needed(finish_[from])) continue;
        move(from, to, item, n);
      }
      excess = (finish_[from] - floor) * loads_[from].capacity;
      room = (level - finish_[to]) * loads_[to].capacity;
      // Nothing more fits between these two; the one that is nearer to the level is done.
      if (excess <= room) {
        givers.pop();
      } else {
        receivers.pop();
      }
    }
  }

  void refine(double level) {
    // Heaps with stale entries: one whose finish is not the worker's any more is dropped when met.
    std::vector<Place> late, early;
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      if (loads_[i].receives) early.emplace_back(finish_[i], i);
      if (gives(i, level)) late.emplace_back(finish_[i], i);
    }
    std::priority_queue<Place> givers({}, std::move(late));
    std::priority_queue<Place, std::vector<Place>, std::greater<>> receivers({}, std::move(early));
    const auto drop_stale = [this](auto& heap) {
      while (!heap.empty() && heap.top().first != finish_[heap.top().second]) heap.pop();
      return !heap.empty();
    };
    std::vector<bool> done(loads_.size());  // as good as it gets
    std::size_t steps = 4 * loads_.size() + 256;
    while (drop_stale(receivers) && drop_stale(givers) && steps-- > 0) {
      const std::size_t from = givers.top().second;
      const std::size_t to = receivers.top().second;
      if (done[from]) {
        givers.pop();
        continue;
      }
      if (from == to || (loads_[from].receives && finish_[from] <= finish_[to])) {
        done[from] = true;
        continue;
      }
      const auto [item, count] = best_move(from, to);
      if (item == nullptr) {
        done[from] = true;  // others may still gain
        continue;
      }
      move(from, to, *item, count);
      if (loads_[from].receives) receivers.emplace(finish_[from], from);
      receivers.emplace(finish_[to], to);
      if (gives(from, level)) givers.emplace(finish_[from], from);
      if (gives(to, level)) givers.emplace(finish_[to], to);
    }
  }
  // Nobody can finish before the level: a thousandth above it is not worth another message.
  bool gives(std::size_t worker, double level) const {
    return finish_[worker] > (loads_[worker].receives ? level * 1.001 : 0);
  }

  // best_move finds how many of which group to move so that the later of the two finishes soonest;
  // null when no move gains enough.
  std::pair<Queues::Item*, std::int64_t> best_move(std::size_t from, std::size_t to) {
    Queues::Item* best = nullptr;
    std::int64_t best_count = 0;
    double best_after = finish_[from] - gain_needed(finish_[from]);
    for (Queues::Item& item : queues_.of(from)) {
      if (item.left <= 0) continue;
      const double here = item.weight / loads_[from].capacity;
      const double there = item.weight / loads_[to].capacity;
      const double begin = start(from, to, item.bytes());
      const auto even = static_cast<std::int64_t>((finish_[from] - begin) / (here + there));
      for (const std::int64_t n : {even, even + 1}) {
        if (n <= 0 || n > item.left) continue;
        const double after = std::max(finish_[from] - static_cast<double>(n) * here,
                                      begin + static_cast<double>(n) * there);
        if (after < best_after) {
          best = &item;
          best_count = n;
          best_after = after;
        }
      }
      if (item.left <= even && item.left > 0) {
        const auto n = static_cast<double>(item.left);
        const double after = std::max(finish_[from] - n * here, begin + n * there);
        if (after < best_after) {
          best = &item;
          best_count = item.left;
          best_after = after;
        }
      }
    }
    // Who leaves gives everything, whatever it does to the others.
    for (Queues::Item& item : queues_.of(from)) {
      if (best != nullptr || loads_[from].receives) break;
      if (item.left > 0) return {&item, 1};
    }
    return {best, best_count};
  }

  const std::vector<Load>& loads_;
  const PlanCosts& costs_;
  Queues& queues_;
  std::vector<double> finish_;
  std::vector<Step> steps_;
};

}  // namespace

Plan plan_makespan(const std::vector<Load>& loads, const PlanCosts& costs) {
  std::vector<double> finish;
  const LowerBound bound = lower_bound(loads, finish);
  if (bound.receivers == 0) return {};

  Queues queues(loads);
  Plan best = Planner(loads, finish, queues, costs).plan(bound.level);
  // The other planners may leave work where somebody leaves, and look the better for it.
  const auto leaves = [](const Load& l) { return !l.receives && !l.groups.empty(); };
  if (std::any_of(loads.begin(), loads.end(), leaves)) return best;
  double best_finish = makespan(loads, finish, best, costs);
  const auto consider = [&](Plan other, double part) {
    const double other_finish = makespan(loads, finish, other, costs);
    const double gain = std::max(part * best_finish, static_cast<double>(costs.min_gain));
    if (other_finish < best_finish - gain) {
      best = std::move(other);
      best_finish = other_finish;
    }
  };
  const double m = static_cast<double>(bound.receivers);
  if (best_finish > 1.02 * bound.finish) {
    queues.refill();
    consider(plan_deal(loads, finish, bound.level, queues), 0.01);
  }
  if (best_finish > (4.0 / 3 - 1 / (3 * m)) * bound.finish) consider(plan_lpt(loads), 1e-9);
  if (best_finish > bound.finish) {
    queues.refill();
    consider(plan_mean(loads, finish, queues), 1e-9);
  }
  return best;
}

}  // namespace tessera::balancer
