// Dealing in blocks: see plan_queue.hpp.
#include <algorithm>
#include <queue>

#include "balancer/central/plan_queue.hpp"

namespace tessera::balancer {
namespace {

// A worker of the block, and what it has been dealt.
struct Bin {
  std::size_t worker;
  double capacity;
  double room;  // below the level, in ns of its own time; negative: above
  std::vector<GroupCount> dealt;
};

void give(Bin& bin, const Queues::Item& item, std::int64_t n) {
  bin.room -= static_cast<double>(n) * item.weight / bin.capacity;
  if (bin.dealt.empty() || bin.dealt.back().group != item.group()) {
    bin.dealt.push_back({item.group(), 0});
  }
  bin.dealt.back().count += n;
}

// deal gives out one item: most of a large count in proportion to the room of each, the rest one by
// one to the bin with most room after it.
void deal(std::vector<Bin>& bins, const Queues::Item& item) {
  std::int64_t left = item.left;
  if (left > static_cast<std::int64_t>(bins.size())) {
    double room = 0;
    for (const Bin& b : bins) room += std::max(0.0, b.room) * b.capacity;
    const double share =
        std::min(1.0, static_cast<double>(left) * item.weight / std::max(room, 1.0));
    for (Bin& b : bins) {
      const auto fits =
          static_cast<std::int64_t>(share * std::max(0.0, b.room) * b.capacity / item.weight);
      const std::int64_t n = std::min(left, fits);
      if (n <= 0) continue;
      give(b, item, n);
      left -= n;
    }
  }
  if (left <= 0) return;
  using Place = std::pair<double, std::ptrdiff_t>;  // room after one more; ties to the first bin
  const auto place = [&](std::size_t i) {
    return Place{bins[i].room - item.weight / bins[i].capacity, -static_cast<std::ptrdiff_t>(i)};
  };
  if (left == 1) {
    Place best = place(0);
    for (std::size_t i = 1; i < bins.size(); ++i) best = std::max(best, place(i));
    return give(bins[static_cast<std::size_t>(-best.second)], item, 1);
  }
  std::vector<Place> places;
  for (std::size_t i = 0; i < bins.size(); ++i) places.push_back(place(i));
  std::priority_queue<Place> next({}, std::move(places));
  for (; left > 0; --left) {
    const auto i = static_cast<std::size_t>(-next.top().second);
    next.pop();
    give(bins[i], item, 1);
    next.push(place(i));
  }
}

}  // namespace

Plan plan_deal(const std::vector<Load>& loads, const std::vector<double>& finish, double level,
               Queues& queues) {
  using Place = std::pair<double, std::size_t>;
  std::vector<Place> givers, receivers;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const bool gives = finish[i] > (loads[i].receives ? level : 0);
    if (gives) givers.emplace_back(finish[i], i);
    if (!gives && loads[i].receives) receivers.emplace_back(finish[i], i);
  }
  std::stable_sort(givers.begin(), givers.end(),
                   [](const Place& a, const Place& b) { return a.first > b.first; });
  std::stable_sort(receivers.begin(), receivers.end(),
                   [](const Place& a, const Place& b) { return a.first < b.first; });

  Plan plan;
  std::size_t next = 0;
  double carried = 0;  // room of receivers[next] that blocks before have used, ns
  std::vector<Bin> bins;
  for (const auto& [finishes, from] : givers) {
    if (next == receivers.size()) break;
    const Load& giver = loads[from];
    double surplus = (finishes - (giver.receives ? level : 0)) * giver.capacity;
    double movable = 0;
    for (const Queues::Item& item : queues.of(from)) {
      movable += static_cast<double>(item.left) * item.weight;
    }
    surplus = std::min(surplus, movable);
    bins.clear();
    if (giver.receives) {
      bins.push_back({from, giver.capacity, level - finishes + movable / giver.capacity, {}});
    }
    const std::size_t own = bins.size();
    double shared = 0;  // room of the last receiver that is left for the next block
    std::size_t at = next;
    for (double left = surplus; left > 0 && at < receivers.size(); ++at) {
      const std::size_t to = receivers[at].second;
      const double room = level - receivers[at].first - (at == next ? carried : 0);
      const double takes = std::min(room, left / loads[to].capacity);
      bins.push_back({to, loads[to].capacity, takes, {}});
      shared = room - takes;
      left -= takes * loads[to].capacity;
    }
    if (bins.size() == own) break;
    for (const Queues::Item& item : queues.of(from)) deal(bins, item);
    for (std::size_t i = own; i < bins.size(); ++i) {
      if (!bins[i].dealt.empty()) plan.push_back({from, bins[i].worker, std::move(bins[i].dealt)});
    }
    // The last one is shared with the next block, unless it is full but for a thousandth.
    const Bin& last = bins.back();
    --at;
    const double room = shared + last.room;
    if (room > level * 1e-3) {
      carried = level - receivers[at].first - room;
      next = at;
    } else {
      carried = 0;
      next = at + 1;
    }
  }
  return plan;
}

}  // namespace tessera::balancer
